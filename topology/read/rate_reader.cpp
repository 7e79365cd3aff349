#include "topology/read/rate_reader.h"

#include <fmt/core.h>

#include "core/json/json.h"
#include "core/quantity.h"

namespace amsp {
namespace {

bool plausible(BytesPerSec rate, const PlausibleRates& rates) {
  return rate.value > 0 && rate >= rates.low && rate < rates.high;
}

}  // namespace

std::string did_you_mean_rate(const std::string& text, const PlausibleRates& rates) {
  const std::size_t number_end = text.find_last_of("0123456789");
  if (number_end == std::string::npos) return "";
  const std::string number = text.substr(0, number_end + 1);
  // first what differs least: the same unit with G; or, where G is there, bit for byte
  const bool bytes = text.find('B') != std::string::npos;
  const bool giga = text.find('G') != std::string::npos;
  for (const bool want_bytes : {bytes != giga, bytes == giga}) {
    const std::string candidate = number + (want_bytes ? "GBps" : "Gbps");
    const auto rate = parse_bandwidth(candidate);
    if (rate && plausible(*rate, rates) && *rate != parse_bandwidth(text))
      return fmt::format("; did you mean \"{}\"?", candidate);
  }
  return "";
}

BytesPerSec read_rate(ObjectReader& reader, const std::string& key, const PlausibleRates& rates) {
  const BytesPerSec rate = reader.bandwidth(key);
  if (plausible(rate, rates)) return rate;
  if (rate.value == 0) reader.fail(key, "must be above 0");
  const Json& text = reader.value(key);
  const std::string bound =
      rate < rates.low
          ? fmt::format("too little for {} (below {})", rates.what, format_bandwidth(rates.low))
          : fmt::format("too much for {} ({} or more)", rates.what, format_bandwidth(rates.high));
  reader.fail(key, fmt::format("{} is {}{}", describe(text), bound,
                               did_you_mean_rate(text.get<std::string>(), rates)));
}

Rates read_rates(ObjectReader& reader, const PlausibleRates& rates) {
  const BytesPerSec bandwidth = read_rate(reader, "bandwidth", rates);
  if (!reader.has("capacity")) return {bandwidth, bandwidth};
  const BytesPerSec capacity = read_rate(reader, "capacity", rates);
  if (capacity > bandwidth)
    reader.fail("capacity", fmt::format("{} is more than the bandwidth of {}",
                                        describe(reader.value("capacity")),
                                        describe(reader.value("bandwidth"))));
  return {bandwidth, capacity};
}

}  // namespace amsp
