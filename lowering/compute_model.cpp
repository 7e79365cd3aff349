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
/// Without a table: the shortest kernel, and the gap between two in a stream's queue (A100's).
constexpr Seconds kShortestKernel{5e-6};
constexpr Seconds kQueueGap{2e-6};

AttentionKernel kernel_of(AttentionImplementation implementation) {
  switch (implementation) {
    case AttentionImplementation::kTriton:
      return AttentionKernel::kTriton;
    case AttentionImplementation::kFlash3:
      return AttentionKernel::kFlash3;
    case AttentionImplementation::kCudnn:
      return AttentionKernel::kCudnn;
    case AttentionImplementation::kFlash2:
    case AttentionImplementation::kMath:
      break;
  }
  return AttentionKernel::kFlash2;
}

}  // namespace

double ComputeModel::bytes(const ComputeWork& work, int owner) const {
  if (work.bytes_by_owner.empty()) return work.bytes;
  return work.bytes_by_owner[static_cast<std::size_t>(owner)];
}

Seconds ComputeModel::queue_gap() const {
  return table_ != nullptr ? table_->queue_gap() : kQueueGap;
}

Seconds ComputeModel::shortest() const {
  return table_ != nullptr ? table_->fixed_time() : kShortestKernel;
}

std::optional<ComputeTime> ComputeModel::profiled(const ComputeWork& work, double moved) const {
  if (profile_ == nullptr) return std::nullopt;
  if (const MemoryWork* kernel = work.memory())
    return profile_->memory(kernel->kernel, kernel->backward, moved);
  if (const AttentionWork* core = work.attention())
    return profile_->attention(core->sequence, core->batch, core->heads, core->head_dim,
                               !core->backward);
  const GemmWork& product = *work.gemm();
  if (product.wgrad)
    if (auto measured = profile_->weight_gemm(product.m, product.k, product.n)) return measured;
  auto measured = profile_->gemm(product.m, product.k, product.n);
  if (measured && product.wgrad)
    measured = {measured->time / kWgradRate, std::max(measured->source, Source::kDerived)};
  return measured;
}

ComputeTime ComputeModel::gemm(const GemmWork& work, Flop flop, Seconds memory) const {
  ComputeTime result{std::max(flop / (gpu_.gemm_efficiency * gpu_.peak_bf16), memory),
                     Source::kModelled};
  const bool own_limit = gpu_.sustained.value > 0;
  if (table_ != nullptr)
    if (const auto row = table_->gemm(GemmType::kBf16, work.m, work.k, work.n,
                                      own_limit ? Clock::kBurst : Clock::kSustained))
      result = {std::max(row->time, memory), row->source};
  if (own_limit) result.time = std::max(result.time, flop / gpu_.sustained);
  if (work.wgrad) result = {result.time / kWgradRate, std::max(result.source, Source::kDerived)};
  return result;
}

ComputeTime ComputeModel::unfused_attention(const AttentionWork& work, Flop flop) const {
  // The mask saves nothing, and the backward's scores are kept: 2 products forward, 4 backward.
  const Flop whole = (work.backward ? 8.0 / 5 : 2.0) * flop;
  const double scores = 1.0 * work.sequence * work.sequence * work.batch * work.heads;
  const double moved = (work.backward ? 8 : 4) * scores;  // bf16 scores written and read
  return {
      std::max(whole / (gpu_.gemm_efficiency * gpu_.peak_bf16), Seconds{moved / hbm_rate().value}),
      Source::kModelled};
}

ComputeTime ComputeModel::attention(const AttentionWork& work, Flop flop, Seconds memory) const {
  if (work.implementation == AttentionImplementation::kMath) return unfused_attention(work, flop);
  if (table_ != nullptr)
    if (const auto row = table_->attention(kernel_of(work.implementation), work.backward,
                                           {work.sequence, work.batch, work.heads, work.head_dim}))
      return {row->time, row->source};
  const double rate = gpu_.attention_efficiency * (work.backward ? kAttentionBackwardRate : 1);
  return {std::max(flop / (rate * gpu_.peak_bf16), memory), Source::kModelled};
}

ComputeTime ComputeModel::time(const ComputeWork& work, int owner) const {
  const double moved = bytes(work, owner);
  if (moved == 0 && work.flop.value == 0) return {Seconds{0}, Source::kDerived};
  const Seconds memory{moved / hbm_rate().value};
  ComputeTime result{memory, Source::kDerived};
  const auto measured = profiled(work, moved);
  if (measured)
    result = *measured;
  else if (const GemmWork* product = work.gemm())
    result = gemm(*product, work.flop, memory);
  else if (const AttentionWork* core = work.attention())
    result = attention(*core, work.flop, memory);
  if (work.memory() == nullptr && pace_ != 1)
    result = {result.time / pace_, std::max(result.source, Source::kDerived)};
  if (!measured)
    result.time = std::max(result.time, work.launches * shortest()) + work.launches * queue_gap();
  result.time += Seconds{work.copies.bytes / hbm_rate().value} + work.copies.launches * queue_gap();
  return result;
}

double ComputeModel::hbm_share(const ComputeWork& work, Seconds time, int owner) const {
  if (time.value <= 0) return 0;
  const double moved = bytes(work, owner) + work.copies.bytes;
  return std::min(1.0, moved / (hbm_rate().value * time.value));
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
