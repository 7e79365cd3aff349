#include "lowering/compute_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/quantity.h"

namespace amsp {

namespace {

/// Weight gradients (NT layout) against forward and data gradients: 69 % / 74 % of peak on A100
/// (reference: SimuMax's measured GEMM efficiencies, "wgrad x 0.93").
constexpr double kWgradRate = 0.93;
/// FlashAttention-2's backward reaches about 0.8 of the forward's rate (A800 table: 153 / 190).
constexpr double kAttentionBackwardRate = 0.8;
/// Shortest kernel including its launch gap on the device: assumed.
constexpr Seconds kLaunchTime{5e-6};

}  // namespace

double ComputeModel::bytes(const ComputeWork& work, int owner) const {
  if (work.bytes_by_owner.empty()) return work.bytes;
  return work.bytes_by_owner[static_cast<std::size_t>(owner)];
}

ComputeTime ComputeModel::gemm(const GemmWork& work, Flop flop) const {
  ComputeTime result{flop / (gpu_.gemm_efficiency * gpu_.peak_bf16), Source::kModelled};
  if (profile_ != nullptr) {
    if (work.wgrad)
      if (const auto measured = profile_->weight_gemm(work.m, work.k, work.n)) return *measured;
    if (const auto measured = profile_->gemm(work.m, work.k, work.n)) result = *measured;
  }
  if (work.wgrad) result = {result.time / kWgradRate, std::max(result.source, Source::kDerived)};
  return result;
}

ComputeTime ComputeModel::attention(const AttentionWork& work, Flop flop) const {
  if (profile_ != nullptr)
    if (const auto measured = profile_->attention(work.sequence, work.batch, work.heads,
                                                  work.head_dim, !work.backward))
      return *measured;
  const double rate = gpu_.attention_efficiency * (work.backward ? kAttentionBackwardRate : 1);
  return {flop / (rate * gpu_.peak_bf16), Source::kModelled};
}

ComputeTime ComputeModel::time(const ComputeWork& work, int owner) const {
  const double moved = bytes(work, owner);
  if (moved == 0 && work.flop.value == 0) return {Seconds{0}, Source::kDerived};
  const Seconds memory{moved / hbm_rate().value};
  ComputeTime result{memory, Source::kDerived};
  if (const MemoryWork* kernel = work.memory()) {
    if (profile_ != nullptr)
      if (const auto measured = profile_->memory(kernel->kernel, kernel->backward, moved))
        result = *measured;
  } else {
    const GemmWork* product = work.gemm();
    result =
        product != nullptr ? gemm(*product, work.flop) : attention(*work.attention(), work.flop);
    if (pace_ != 1) result = {result.time / pace_, std::max(result.source, Source::kDerived)};
    if (result.source == Source::kModelled) result.time = std::max(result.time, memory);
  }
  result.time = std::max(result.time, kLaunchTime);
  return result;
}

double ComputeModel::hbm_share(const ComputeWork& work, Seconds time, int owner) const {
  if (time.value <= 0) return 0;
  return std::min(1.0, bytes(work, owner) / (hbm_rate().value * time.value));
}

std::string describe(const ComputeWork& work) {
  if (const GemmWork* gemm = work.gemm())
    return fmt::format("gemm {}x{}x{}{}", gemm->m, gemm->k, gemm->n,
                       gemm->wgrad ? " (weight gradient)" : "");
  if (const AttentionWork* core = work.attention())
    return fmt::format("attention S {} b {} heads {} d {} {}", core->sequence, core->batch,
                       core->heads, core->head_dim, core->backward ? "backward" : "forward");
  return "memory " + format_bytes(Bytes{static_cast<std::int64_t>(work.bytes)});
}

}  // namespace amsp
