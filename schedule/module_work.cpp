#include "schedule/module_work.h"

#include <algorithm>
#include <tuple>

#include "schedule/kernel_traffic.h"

namespace amsp {

namespace {

MemoryKernel kernel_of(Module module, NormKind norm) {
  switch (module) {
    case Module::kAttentionNorm:
    case Module::kFfnNorm:
    case Module::kFinalNorm:
      return norm == NormKind::kLayer ? MemoryKernel::kLayerNorm : MemoryKernel::kRmsNorm;
    case Module::kQkNorm:
      return MemoryKernel::kRmsNorm;
    case Module::kRotary:
      return MemoryKernel::kRotary;
    case Module::kAttentionResidual:
    case Module::kFfnResidual:
      return MemoryKernel::kResidual;
    case Module::kSwiglu:
      return MemoryKernel::kSwiglu;
    case Module::kGelu:
      return MemoryKernel::kGelu;
    case Module::kEmbedding:
      return MemoryKernel::kEmbedding;
    case Module::kLoss:
      return MemoryKernel::kLoss;
    default:
      return MemoryKernel::kNone;
  }
}

ComputeWork memory_work(MemoryKernel kernel, bool backward, Traffic traffic) {
  ComputeWork work;
  work.kernel = MemoryWork{kernel, backward};
  work.bytes = traffic.bytes;
  work.launches = traffic.launches;
  return work;
}

ComputeWork gemm_work(double element_bytes, std::int64_t m, std::int64_t k, std::int64_t n,
                      bool wgrad) {
  ComputeWork work;
  work.kernel = GemmWork{m, k, n, wgrad};
  const auto [dm, dk, dn] =
      std::tuple{static_cast<double>(m), static_cast<double>(k), static_cast<double>(n)};
  work.bytes = element_bytes * (dm * dk + dk * dn + dm * dn);
  work.flop = Flop{2 * dm * dk * dn};
  return work;
}

class BlockMaker {
 public:
  BlockMaker(const ModelSpec& model, const TrainingSpec& training,
             const std::vector<Tensor>& tensors)
      : model_(model),
        training_(training),
        traffic_(model, training),
        tokens_(training.tokens()),
        bytes_(training.parameter_bytes),
        blocks_(block_count(model)) {
    for (TensorId id = 0; id < static_cast<TensorId>(tensors.size()); ++id) {
      const Tensor& tensor = tensors[static_cast<std::size_t>(id)];
      ids_.resize(std::max(ids_.size(), static_cast<std::size_t>(tensor.block) + 1));
      ids_[static_cast<std::size_t>(tensor.block)].push_back({tensor.module, id});
    }
  }

  std::vector<std::vector<ModuleOp>> make() {
    memory(0, Module::kEmbedding, traffic_.embedding());
    blocks_[0].back().backward_needs_parameters = false;
    for (int block = 1; block <= model_.layers; ++block) add_layer(block);
    const int head = model_.layers + 1;
    norm(head, Module::kFinalNorm);
    linear(head, Module::kHead, model_.hidden, model_.vocab);
    if (model_.tied_embeddings) {
      blocks_.back().back().tensors = {ids_of(0, Module::kEmbedding).front()};
      blocks_.back().back().backward_needs_parameters = true;
    }
    memory(head, Module::kLoss, traffic_.loss());
    return std::move(blocks_);
  }

 private:
  void add_layer(int block) {
    const std::int64_t h = model_.hidden;
    const std::int64_t q = std::int64_t{model_.heads} * model_.head_dim;
    const std::int64_t kv = std::int64_t{model_.kv_heads} * model_.head_dim;
    const std::int64_t f = model_.ffn;
    norm(block, Module::kAttentionNorm);
    if (model_.fused_qkv) {
      linear(block, Module::kQkv, h, q + 2 * kv);
    } else {
      linear(block, Module::kQ, h, q);
      linear(block, Module::kK, h, kv);
      linear(block, Module::kV, h, kv);
    }
    if (model_.qk_norm) memory(block, Module::kQkNorm, traffic_.qk_norm());
    if (model_.positions == Positions::kRotary) memory(block, Module::kRotary, traffic_.rotary());
    attention(block);
    linear(block, Module::kO, q, h);
    residual(block, Module::kAttentionResidual);
    norm(block, Module::kFfnNorm);
    if (model_.gated && model_.fused_gate_up) {
      linear(block, Module::kGateUp, h, 2 * f);
    } else {
      if (model_.gated) linear(block, Module::kGate, h, f);
      linear(block, Module::kUp, h, f);
    }
    memory(block, model_.gated ? Module::kSwiglu : Module::kGelu, traffic_.activation());
    linear(block, Module::kDown, f, h);
    residual(block, Module::kFfnResidual);
  }

  std::vector<TensorId> ids_of(int block, Module module) const {
    std::vector<TensorId> result;
    for (const auto& [owner, id] : ids_[static_cast<std::size_t>(block)])
      if (owner == module) result.push_back(id);
    return result;
  }

  void push(int block, Module module, ComputeWork forward,
            std::vector<std::pair<Op, ComputeWork>> backward) {
    ModuleOp added{module, ids_of(block, module), std::move(forward), std::move(backward), false};
    added.backward_needs_parameters = !added.tensors.empty();
    blocks_[static_cast<std::size_t>(block)].push_back(std::move(added));
  }

  void memory(int block, Module module, const PassTraffic& traffic) {
    const MemoryKernel kernel = kernel_of(module, model_.norm);
    push(block, module, memory_work(kernel, false, traffic.forward),
         {{Op::kBackward, memory_work(kernel, true, traffic.backward)}});
  }
  void norm(int block, Module module) { memory(block, module, traffic_.norm(module)); }
  void residual(int block, Module module) { memory(block, module, traffic_.residual(module)); }

  ComputeWork gemm(std::int64_t m, std::int64_t k, std::int64_t n, bool wgrad = false) const {
    return gemm_work(bytes_, m, k, n, wgrad);
  }

  /// Y[T, out] = X[T, in] W[in, out]: dW = X^T dY, dX = dY W^T.
  void linear(int block, Module module, std::int64_t in, std::int64_t out) {
    ComputeWork wgrad = gemm(in, tokens_, out, true);
    const bool biased = ids_of(block, module).size() > 1;
    if (biased) wgrad.copies = traffic_.bias_gradient(out);
    push(block, module, gemm(tokens_, in, out),
         {{Op::kWgrad, wgrad}, {Op::kDgrad, gemm(tokens_, out, in)}});
  }

  /// Forward 2 products of S x S x d for each head, halved by the causal mask; backward 2.5 times
  /// that (FlashAttention recomputes the scores).
  void attention(int block) {
    AttentionWork shape{training_.sequence_length, training_.micro_batch, model_.heads,
                        model_.kv_heads,           model_.head_dim,       false,
                        training_.stack.attention};
    ComputeWork work;
    work.kernel = shape;
    const double s = training_.sequence_length;
    const double width = static_cast<double>(model_.heads) * model_.head_dim;
    const double kv_width = static_cast<double>(model_.kv_heads) * model_.head_dim;
    work.flop = Flop{2 * s * s * width * training_.micro_batch};
    work.bytes = bytes_ * static_cast<double>(tokens_) * (2 * width + 2 * kv_width);
    ComputeWork backward = work;
    shape.backward = true;
    backward.kernel = shape;
    backward.flop = 2.5 * work.flop;
    backward.bytes = 2 * work.bytes;
    const PassTraffic beside = traffic_.beside_attention();
    work.copies = beside.forward;
    backward.copies = beside.backward;
    push(block, Module::kAttention, work, {{Op::kBackward, backward}});
  }

  const ModelSpec& model_;
  const TrainingSpec& training_;
  KernelTraffic traffic_;
  std::int64_t tokens_;
  double bytes_;                                               // of an element
  std::vector<std::vector<std::pair<Module, TensorId>>> ids_;  // by block
  std::vector<std::vector<ModuleOp>> blocks_;
};

}  // namespace

std::vector<std::vector<ModuleOp>> module_ops(const ModelSpec& model, const TrainingSpec& training,
                                              const std::vector<Tensor>& tensors) {
  return BlockMaker(model, training, tensors).make();
}

}  // namespace amsp
