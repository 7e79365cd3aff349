#include "kernels/kernel_table.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace amsp {
namespace {

double product(const RateGrid::Point& sizes) {
  return sizes[0] * sizes[1] * sizes[2];
}

/// Derived from something that is assumed is assumed.
Source weaker(Source a, Source b) {
  return std::max(a, b);
}

}  // namespace

const char* to_string(GemmType type) {
  return type == GemmType::kBf16 ? "bf16" : "fp8";
}

const char* to_string(AttentionKernel kernel) {
  switch (kernel) {
    case AttentionKernel::kFlash2:
      return "flash2";
    case AttentionKernel::kFlash3:
      return "flash3";
    case AttentionKernel::kFlash4:
      return "flash4";
    case AttentionKernel::kCudnn:
      return "cudnn";
    case AttentionKernel::kTriton:
      return "triton";
  }
  throw InternalError("an AttentionKernel outside its enumeration");
}

std::optional<KernelTime> KernelTable::gemm(GemmType type, std::int64_t m, std::int64_t k,
                                            std::int64_t n, Clock clock) const {
  AMSP_CHECK(m > 0 && k > 0 && n > 0, "a GEMM of {} x {} x {}", m, k, n);
  const auto found = gemms_.find(type);
  if (found == gemms_.end()) return std::nullopt;
  const Gemm& table = found->second;
  const RateGrid& rates = table.rates;

  const double work = 2 * product({double(m), double(k), double(n)});
  RateGrid::Point sizes{double(m), double(n), double(k)};
  bool turned = false;
  if (type == GemmType::kBf16 && sizes[0] < rates.least(0) && sizes[1] > sizes[0]) {
    std::swap(sizes[0], sizes[1]);
    turned = true;
  }
  const auto time_at = [&](const RateGrid::Point& at) { return 2 * product(at) / rates.rate(at); };
  const RateGrid::Point inside = rates.inside(sizes);
  const double border = time_at(inside);

  double scale = 1;
  bool below = false;
  const double fixed = std::min(table.fixed, border / 2);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > rates.most(i)) {
      scale *= sizes[i] / rates.most(i);
    } else if (sizes[i] < rates.least(i)) {
      RateGrid::Point doubled = inside;
      doubled[i] = 2 * rates.least(i);
      below = true;
      scale *= std::pow(sizes[i] / rates.least(i), growth(border, time_at(doubled), fixed, 1));
    }
  }
  double seconds = below ? fixed + scale * (border - fixed) : scale * border;

  const bool outside = inside != sizes;
  const bool measured = !outside && !turned && rates.has(sizes);
  KernelTime time{.source = measured && !alike_ ? Source::kMeasured : Source::kDerived,
                  .spread = outside    ? table.spread.outside
                            : measured ? table.spread.grid
                                       : table.spread.between,
                  .outside = outside};
  if (clock == Clock::kSustained && table.sustained && work / table.sustained->value > seconds) {
    seconds = work / table.sustained->value;
    time.source = Source::kDerived;
  }
  time.time = {seconds};
  return time;
}

std::optional<FlopPerSec> KernelTable::sustained_rate(GemmType type) const {
  const auto found = gemms_.find(type);
  return found == gemms_.end() ? std::nullopt : found->second.sustained;
}

double KernelTable::Ratios::at(double seq) const {
  const double x = std::log(seq);
  if (x <= points.front().first) return points.front().second;
  if (x >= points.back().first) return points.back().second;
  const auto next =
      std::upper_bound(points.begin(), points.end(), x,
                       [](double value, const auto& point) { return value < point.first; });
  const auto& [x0, y0] = *(next - 1);
  return y0 + (next->second - y0) * (x - x0) / (next->first - x0);
}

KernelTime KernelTable::attention_time(const Attention& table, const AttentionShape& shape) const {
  const RateGrid::Point sizes{double(shape.head_dim), double(shape.seq),
                              double(shape.batch * shape.heads)};
  const auto time_at = [&](double seq, const RateGrid::Point& at) {
    return 2 * seq * seq * sizes[0] * sizes[2] / table.rates.rate(at);
  };
  const RateGrid::Point inside = table.rates.inside(sizes);
  const bool measured = table.rates.has(sizes);
  KernelTime time{.source = measured && !alike_ ? Source::kMeasured : Source::kDerived,
                  .outside = inside != sizes};
  if (!time.outside) time.spread = measured ? table.spread.grid : table.spread.between;
  const double least = table.rates.least(1);
  if (sizes[1] >= least) {
    time.time = {time_at(sizes[1], inside)};
    return time;
  }
  RateGrid::Point doubled = inside;
  doubled[1] = 2 * least;
  const double border = time_at(least, inside);
  const double fixed = std::min(fixed_.value, border / 2);
  const double power = growth(border, time_at(2 * least, doubled), fixed, 2);
  time.time = {fixed + (border - fixed) * std::pow(sizes[1] / least, power)};
  return time;
}

std::optional<KernelTime> KernelTable::attention(AttentionKernel kernel, bool backward,
                                                 const AttentionShape& shape) const {
  AMSP_CHECK(shape.seq > 0 && shape.batch > 0 && shape.heads > 0 && shape.head_dim > 0,
             "attention of {} x {} tokens, {} heads of {}", shape.batch, shape.seq, shape.heads,
             shape.head_dim);
  const auto scaled = scaled_.find(kernel);
  KernelTime time;
  if (scaled != scaled_.end()) {
    const std::optional<KernelTime> base = attention(scaled->second.of, false, shape);
    if (!base) return std::nullopt;
    time = *base;
    time.time = base->time / scaled->second.ratios.at(double(shape.seq));
    time.source = weaker(base->source, scaled->second.ratios.source);
    time.spread = std::nullopt;
  } else {
    const auto found = attention_.find(kernel);
    if (found == attention_.end()) return std::nullopt;
    time = attention_time(found->second, shape);
  }
  if (!backward) return time;
  const auto ratios = backward_.find(kernel);
  if (ratios == backward_.end()) return std::nullopt;
  time.time = time.time * (2.5 / ratios->second.at(double(shape.seq)));
  time.source = weaker(time.source, ratios->second.source);
  time.spread = std::nullopt;
  return time;
}

std::vector<AttentionKernel> KernelTable::attention_kernels(bool backward) const {
  std::vector<AttentionKernel> kernels;
  for (const auto& [kernel, table] : attention_)
    if (!backward || backward_.contains(kernel)) kernels.push_back(kernel);
  for (const auto& [kernel, scaled] : scaled_)
    if (!backward || backward_.contains(kernel)) kernels.push_back(kernel);
  std::sort(kernels.begin(), kernels.end());
  return kernels;
}

KernelTime KernelTable::memory(double bytes, BytesPerSec copy_rate) const {
  AMSP_CHECK(bytes >= 0 && copy_rate.value > 0, "{} bytes at {} bytes/s", bytes, copy_rate.value);
  return {.time = fixed_ + Seconds{bytes / copy_rate.value},
          .source = Source::kDerived,
          .spread = std::nullopt};
}

}  // namespace amsp
