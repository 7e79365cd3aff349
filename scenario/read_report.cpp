#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/json/json.h"
#include "scenario/readers.h"

namespace amsp {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// "2.50USD" or "2.50 USD": digits, a fraction if any, three capital letters.
bool read_price(std::string_view text, ReportSpec& report) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view number = text.substr(0, end);
  std::string_view currency = text.substr(end);
  if (currency.starts_with(' ')) currency.remove_prefix(1);
  if (number.empty() || !is_digit(number.front()) || !is_digit(number.back())) return false;
  if (currency.size() != 3 ||
      !std::ranges::all_of(currency, [](char c) { return c >= 'A' && c <= 'Z'; }))
    return false;
  double price = 0;
  const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), price);
  if (error != std::errc{} || stop != number.data() + number.size()) return false;
  report.price_per_gpu_hour = price;
  report.currency = currency;
  return true;
}

}  // namespace

ReportSpec read_report(ObjectReader object) {
  constexpr double kMostTokens = 1e18;
  ReportSpec report;
  if (object.has("token_budget"))
    report.token_budget = object.number("token_budget", 1, kMostTokens);
  if (object.has("price_per_gpu_hour")) {
    const Json& price = object.value("price_per_gpu_hour");
    if (!price.is_string() || !read_price(price.get_ref<const std::string&>(), report))
      object.fail("price_per_gpu_hour",
                  "must be a price with a currency such as \"2.50USD\", found " + describe(price));
  }
  if (report.price_per_gpu_hour && !report.token_budget)
    object.fail("price_per_gpu_hour", "needs a 'token_budget' to price");
  object.finish();
  return report;
}

}  // namespace amsp
