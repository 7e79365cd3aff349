#include "lowering/compute_profile.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace amsp {

std::optional<ComputeTime> ComputeProfile::Gemm::time(std::int64_t m, std::int64_t k,
                                                      std::int64_t n) const {
  AMSP_CHECK(m > 0 && k > 0 && n > 0, "GEMM of {} x {} x {}", m, k, n);
  if (const auto row = seconds.find({m, k, n}); row != seconds.end())
    return ComputeTime{{row->second}, Source::kMeasured};
  if (rate.empty()) return std::nullopt;
  const double work =
      2.0 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
  return ComputeTime{{std::max(work / rate.at(std::log(work)), floor)}, Source::kDerived};
}

std::optional<ComputeTime> ComputeProfile::gemm(std::int64_t m, std::int64_t k,
                                                std::int64_t n) const {
  return gemm_.time(m, k, n);
}

std::optional<ComputeTime> ComputeProfile::weight_gemm(std::int64_t m, std::int64_t k,
                                                       std::int64_t n) const {
  return weight_gemm_.time(m, k, n);
}

std::optional<ComputeTime> ComputeProfile::memory(MemoryKernel kernel, bool backward,
                                                  double bytes) const {
  const auto found = memory_.find({kernel, backward});
  if (found == memory_.end() || bytes <= 0) return std::nullopt;
  const Memory& table = found->second;
  if (const auto row = table.seconds.find(std::llround(bytes)); row != table.seconds.end())
    return ComputeTime{{row->second}, Source::kMeasured};
  return ComputeTime{{bytes / table.rate.at(std::log(bytes))}, Source::kDerived};
}

std::optional<ComputeTime> ComputeProfile::attention(std::int64_t seq, std::int64_t batch,
                                                     std::int64_t heads, std::int64_t head_dim,
                                                     bool forward) const {
  AMSP_CHECK(seq > 0 && batch > 0 && heads > 0 && head_dim > 0,
             "attention of {} sequences of {} with {} heads of {}", batch, seq, heads, head_dim);
  const Attention& table = forward ? forward_ : backward_;
  if (const auto row = table.seconds.find({seq, batch, heads, head_dim});
      row != table.seconds.end())
    return ComputeTime{{row->second}, Source::kMeasured};
  if (table.by_head_dim.empty()) return std::nullopt;

  const auto& [nearest_dim, curves] = *std::min_element(
      table.by_head_dim.begin(), table.by_head_dim.end(), [&](const auto& a, const auto& b) {
        return std::abs(a.first - head_dim) < std::abs(b.first - head_dim);
      });
  const auto above = curves.lower_bound(seq);
  if (above == curves.end() || (above == curves.begin() && above->first != seq))
    return std::nullopt;
  const double x = std::log(static_cast<double>(batch * heads));
  double rate = above->second.at(x);
  if (above->first != seq) {
    const auto below = std::prev(above);
    const double part =
        std::log(static_cast<double>(seq) / static_cast<double>(below->first)) /
        std::log(static_cast<double>(above->first) / static_cast<double>(below->first));
    rate = std::pow(below->second.at(x), 1 - part) * std::pow(rate, part);
  }
  const double work = static_cast<double>(seq) * static_cast<double>(seq) *
                      static_cast<double>(batch * heads * head_dim);
  return ComputeTime{{work / rate}, Source::kDerived};
}

}  // namespace amsp
