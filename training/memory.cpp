#include "training/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/quantity.h"
#include "training/gradient_buckets.h"
#include "training/ownership.h"

namespace amsp {

namespace {

/// NCCL keeps 4 MiB (NCCL_BUFFSIZE) plus its LL and LL128 buffers, about 5 MiB in all, for each
/// of a ring's two peers on each channel (NCCL 2.28 source, buffSizes).
constexpr std::int64_t kChannelBytes = 2LL * (5 << 20);
/// Driver context, cuBLAS and NCCL kernels and workspaces: assumed.
constexpr std::int64_t kContextBytes = 3LL << 28;  // 0.75 GiB
/// What a caching allocator holds beyond what it handed out: assumed.
constexpr double kReserveFraction = 0.05;

class Estimator {
 public:
  Estimator(const ModelSpec& model, const TrainingSpec& training, const ShardingPlan& plan,
            const EnginePolicy& engine, const ClusterSpec& cluster)
      : model_(model),
        training_(training),
        plan_(plan),
        engine_(engine),
        cluster_(cluster),
        tensors_(model_tensors(model)),
        owners_(assign_owners(tensors_, plan, engine.os_sharding)) {}

  MemoryEstimate estimate() {
    add_states();
    add_activations();
    add_gathered();
    add_gradient_buffers();
    add_runtime();
    result_.capacity = cluster_.gpu.memory;
    result_.shard_imbalance = owners_.imbalance;
    for (const MemoryPart& part : result_.parts) result_.allocated += part.bytes;
    const Bytes reserve{
        std::llround(kReserveFraction * static_cast<double>(result_.allocated.value))};
    result_.parts.push_back({"allocator reserve", reserve,
                             fmt::format("{:g} % of the above (assumed)", 100 * kReserveFraction)});
    result_.reserved = result_.allocated + reserve;
    return std::move(result_);
  }

 private:
  void add(const std::string& name, double bytes, const std::string& formula) {
    if (bytes > 0) result_.parts.push_back({name, Bytes{std::llround(bytes)}, formula});
  }

  /// Sum over tensors of ceil(elements / ways).
  double sliced(int ways) const {
    double sum = 0;
    for (const Tensor& tensor : tensors_)
      sum += std::ceil(static_cast<double>(tensor.elements) / ways);
    return sum;
  }

  void add_states() {
    const double phi = sliced(1);
    const int s_p = plan_.p.size();
    add("parameters", training_.parameter_bytes * sliced(s_p),
        fmt::format("{} B x Phi / s_p = {} x {:.4g} / {}", training_.parameter_bytes,
                    training_.parameter_bytes, phi, s_p));
    if (plan_.p2)
      add("secondary parameters", training_.parameter_bytes * sliced(plan_.p2->size()),
          fmt::format("{} B x Phi / s_p2 = {} x {:.4g} / {}", training_.parameter_bytes,
                      training_.parameter_bytes, phi, plan_.p2->size()));
    const double largest = static_cast<double>(owners_.largest);
    const std::string shard =
        fmt::format("largest shard of {} (mean x {:.3f})", plan_.os.size(), owners_.imbalance);
    if (plan_.g == plan_.p) {
      add("gradients", training_.gradient_bytes * sliced(s_p),
          fmt::format("{} B x Phi / s_g = {} x {:.4g} / {}", training_.gradient_bytes,
                      training_.gradient_bytes, phi, s_p));
    } else {
      add("gradients", training_.gradient_bytes * largest,
          fmt::format("{} B x {:.3g}, {}", training_.gradient_bytes, largest, shard));
    }
    add("optimizer states", training_.optimizer.state_bytes * largest,
        fmt::format("{:g} B x {:.3g}, {}", training_.optimizer.state_bytes, largest, shard));
    if (training_.parameter_bytes == 2)
      add("fp32 gradients (transient)", 4 * largest,
          fmt::format("4 B x {:.3g}, {}", largest, shard));
  }

  /// Tensors of width a d (and as many of a_kv d) that a layer keeps: q and the attention's output
  /// (k and v); before their norm as well, if they have one. Rotation keeps nothing.
  int heads_kept() const { return model_.qk_norm ? 3 : 2; }
  /// Of width f: gate, up and their product; without a gate the GELU's input and output.
  int ffn_kept() const { return model_.gated ? 3 : 2; }

  /// Tensors kept for the backward of one layer, the activation fused: inputs and outputs of the
  /// two norms (of either kind), heads_kept(), the attention's wide log-sum-exp, ffn_kept().
  double layer_activations() const {
    const double h = model_.hidden;
    const double q = static_cast<double>(model_.heads) * model_.head_dim;
    const double kv = static_cast<double>(model_.kv_heads) * model_.head_dim;
    const double f = model_.ffn;
    return training_.tokens() * (training_.parameter_bytes * (4 * h + heads_kept() * q +
                                                              heads_kept() * kv + ffn_kept() * f) +
                                 training_.wide_bytes() * model_.heads);
  }

  void add_activations() {
    const double tokens = training_.tokens();
    const int e = training_.parameter_bytes, w = training_.wide_bytes();
    const double ends = 2 * tokens * e * model_.hidden;  // final norm's input and output
    if (training_.recompute == Recompute::kFull && training_.recompute_share < 1) {
      const int again = training_.recomputed_through(model_.layers);
      const double input = e * tokens * model_.hidden;
      add("activations",
          (model_.layers - again) * layer_activations() + again * input + layer_activations() +
              ends,
          fmt::format("{} layers' {}, {} inputs of {}, one layer run again, ends",
                      model_.layers - again, format_bytes(Bytes{std::llround(layer_activations())}),
                      again, format_bytes(Bytes{std::llround(input)})));
    } else if (training_.recompute == Recompute::kFull) {
      add("activations", model_.layers * e * tokens * model_.hidden + layer_activations() + ends,
          fmt::format("L x {} S b h = {} x {}, one layer's {}, ends", e, model_.layers,
                      format_bytes(Bytes{std::int64_t{e} * training_.tokens() * model_.hidden}),
                      format_bytes(Bytes{std::llround(layer_activations())})));
    } else {
      add("activations", model_.layers * layer_activations() + ends,
          fmt::format("L x S b ({}h + {}ad + {} a_kv d + {}f + {}a) = {} x {}, ends", 4 * e,
                      heads_kept() * e, heads_kept() * e, ffn_kept() * e, w, model_.layers,
                      format_bytes(Bytes{std::llround(layer_activations())})));
    }
    add("logits", (e + w) * tokens * model_.vocab,
        fmt::format("S b V x ({} B + {} B for {} softmax) = {} x {} x {}", e, w,
                    w == 4 ? "fp32" : "fp64", training_.tokens(), model_.vocab, e + w));
  }

  double block_bytes(int block, int bytes) const {
    double sum = 0;
    for (const Tensor& tensor : tensors_)
      if (tensor.block == block) sum += static_cast<double>(tensor.elements) * bytes;
    return sum;
  }

  double largest_module(int bytes) const {
    std::int64_t largest = 0;
    for (const Tensor& tensor : tensors_) largest = std::max(largest, tensor.elements);
    return static_cast<double>(largest) * bytes;
  }

  void add_gathered() {
    if (plan_.p.size() == 1) return;
    if (!engine_.overlap_gather && engine_.gather_unit == GatherUnit::kModule &&
        training_.recompute == Recompute::kNone) {
      add("gathered parameters", largest_module(training_.parameter_bytes),
          "the largest module, gathered when used");
      return;
    }
    const int window = 1 + (engine_.overlap_gather ? engine_.prefetch_layers : 0);
    double largest = 0;
    for (int first = 0; first < block_count(model_); ++first) {
      double sum = 0;
      for (int block = first; block < std::min(first + window, block_count(model_)); ++block)
        sum += block_bytes(block, training_.parameter_bytes);
      largest = std::max(largest, sum);
    }
    add("gathered parameters", largest,
        fmt::format("largest {} consecutive blocks: in use and prefetched", window));
  }

  void add_gradient_buffers() {
    if (plan_.p.size() > 1) {
      const bool pipelined = engine_.overlap_gather && engine_.decoupled_reduce_scatter;
      const int pending = pipelined ? engine_.max_pending_reduce + 1 : 1;
      const bool blocks = engine_.reduce_unit == GatherUnit::kBlock;
      std::vector<double> units;
      if (blocks) {
        for (int block = 0; block < block_count(model_); ++block)
          units.push_back(block_bytes(block, training_.gradient_bytes));
      } else {
        for (const Tensor& tensor : tensors_)
          units.push_back(static_cast<double>(tensor.elements) * training_.gradient_bytes);
      }
      double largest = 0;
      for (std::size_t first = 0; first < units.size(); ++first) {
        double sum = 0;
        for (std::size_t i = first; i < std::min(units.size(), first + pending); ++i)
          sum += units[i];
        largest = std::max(largest, sum);
      }
      add("pending gradients", largest,
          fmt::format("largest {} consecutive unreduced gradients{}", pending,
                      blocks ? " of blocks" : ""));
    }
    if (plan_.dp.size() > plan_.p.size()) add_buckets();
  }

  /// Buckets are copies of gradients. Where only the owner keeps reduced gradients and they are
  /// reduced after the backward, all of the local shard's gradients wait in buckets.
  void add_buckets() {
    std::vector<TensorId> order(tensors_.size());
    std::iota(order.rbegin(), order.rend(), 0);
    std::int64_t all = 0;
    std::int64_t largest = 0;
    const int bytes = training_.gradient_bytes, ways = plan_.p.size();
    for (const Bucket& bucket :
         engine_.reduce_unit == GatherUnit::kBlock
             ? block_buckets(tensors_, order, bytes, ways)
             : gradient_buckets(tensors_, order, bytes, ways, engine_.bucket)) {
      all += bucket.bytes.value;
      largest = std::max(largest, bucket.bytes.value);
    }
    if (plan_.g != plan_.p && !engine_.overlap_all_reduce) {
      add("buckets", static_cast<double>(all), "all gradients, reduced after the backward");
      return;
    }
    const int count = engine_.overlap_all_reduce ? 2 : 1;
    add("buckets", static_cast<double>(std::min(all, count * largest)),
        fmt::format("{} x the largest bucket, {}", count, format_bytes(Bytes{largest})));
  }

  void add_runtime() {
    const int communicators = communicator_count(training_, plan_, engine_);
    const int channels = std::max(cluster_.node.comm_sms_intra, cluster_.node.comm_sms_inter);
    add("communicator buffers",
        static_cast<double>(communicators) * channels * static_cast<double>(kChannelBytes),
        fmt::format("{} communicators x {} channels x 2 peers x 5 MiB", communicators, channels));
    add("context", static_cast<double>(kContextBytes),
        "driver, libraries and workspaces (assumed)");
  }

  const ModelSpec& model_;
  const TrainingSpec& training_;
  const ShardingPlan& plan_;
  const EnginePolicy& engine_;
  const ClusterSpec& cluster_;
  std::vector<Tensor> tensors_;
  Ownership owners_;
  MemoryEstimate result_;
};

}  // namespace

int communicator_count(const TrainingSpec& training, const ShardingPlan& plan,
                       const EnginePolicy& engine) {
  enum Use { kGather, kScatter, kReduce, kUpdate };
  std::set<std::pair<SubMesh, int>> used;
  const auto use = [&](const SubMesh& mesh, Use what) {
    if (mesh.size() > 1)
      used.insert({mesh, engine.communicators == Communicators::kShared ? 0 : int{what}});
  };
  use(sub_mesh(plan.p), kGather);
  use(sub_mesh(plan.p), kScatter);
  if (plan.p2) use(sub_mesh(*plan.p2), kGather);
  if (engine.grad_reduction == GradReduction::kAllReduce) {
    use(quotient(plan.dp, plan.p), kReduce);
  } else {
    use(quotient(plan.os, plan.p), kReduce);
    use(quotient(plan.dp, plan.os), kReduce);
  }
  if (training.micro_batches > 1 && engine.replica_sync == ReplicaSync::kLast)
    use(quotient(plan.g, plan.p), kReduce);
  use(quotient(plan.os, plan.p), kUpdate);
  if (training.clip_gradients) use(sub_mesh(plan.os), kReduce);
  return static_cast<int>(used.size());
}

Bytes MemoryEstimate::part(const std::string& name) const {
  for (const MemoryPart& part : parts)
    if (part.name == name) return part.bytes;
  return 0_B;
}

MemoryEstimate estimate_memory(const ModelSpec& model, const TrainingSpec& training,
                               const ShardingPlan& plan, const EnginePolicy& engine,
                               const ClusterSpec& cluster) {
  return Estimator(model, training, plan, engine, cluster).estimate();
}

}  // namespace amsp
