// Over 400 lines: one step of the program, top to bottom in the order in which it runs; the parts
// share the state of one pass over it.
#include "schedule/schedule_builder.h"

#include <algorithm>
#include <utility>

#include "schedule/gradient_reductions.h"
#include "schedule/graph_writer.h"
#include "schedule/module_work.h"
#include "schedule/prefetcher.h"
#include "schedule/step_works.h"
#include "training/gradient_buckets.h"
#include "training/ownership.h"

namespace amsp {

namespace {

constexpr TaskId kNoTask{-1};
constexpr int kBucketMessages = 1 << 20;  // message ids of buckets; below: block and module
constexpr int kUpdateMessages = 2 << 20;
constexpr int kNormMessage = 3 << 20;

class ScheduleBuilder {
 public:
  ScheduleBuilder(const ModelSpec& model, const TrainingSpec& training, const ShardingPlan& plan,
                  const EnginePolicy& engine)
      : training_(training),
        plan_(plan),
        engine_(engine),
        tensors_(model_tensors(model)),
        blocks_(module_ops(model, training, tensors_)),
        owners_(assign_owners(tensors_, plan, engine.os_sharding)),
        writer_(plan, engine.communicators, model.layers),
        works_(model, training, plan, engine, tensors_, blocks_, owners_, writer_.graph()),
        gathered_(blocks_.size()),
        updated_(blocks_.size(), kNoTask) {
    order_gradients();
  }

  TaskGraph build(int full_steps) {
    TaskGraph& graph = writer_.graph();
    finish_step(0);
    for (int step = 1; step <= full_steps; ++step) {
      graph.window_begin = begin_step(step);
      for (int mb = 0; mb < training_.micro_batches; ++mb) {
        forward(step, mb);
        backward(step, mb);
      }
      finish_step(step);
    }
    graph.window_end = begin_step(full_steps + 1);
    return std::move(graph);
  }

 private:
  // --- once, before the program ---

  /// A tensor's gradient is complete at its last use in the backward (a tied head's comes again
  /// with the embedding).
  void order_gradients() {
    for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block)
      for (auto op = block->rbegin(); op != block->rend(); ++op)
        for (const TensorId id : op->tensors) {
          std::erase(gradient_order_, id);
          gradient_order_.push_back(id);
        }
    gradient_ready_.assign(tensors_.size(), kNoTask);
  }

  // --- parameters ---

  bool sharded() const { return plan_.p.size() > 1; }
  bool overlap_gather() const { return engine_.overlap_gather; }
  const ModuleOp& op_at(int block, int op) const {
    return blocks_[static_cast<std::size_t>(block)][static_cast<std::size_t>(op)];
  }
  int last_block() const { return static_cast<int>(blocks_.size()) - 1; }

  std::int64_t elements_of(const std::vector<TensorId>& ids) const {
    std::int64_t sum = 0;
    for (const TensorId id : ids) sum += tensors_[static_cast<std::size_t>(id)].elements;
    return sum;
  }

  /// The gathers of a block in forward order.
  std::vector<Gather> gathers_of(int block) const {
    std::vector<Gather> gathers;
    if (!sharded()) return gathers;
    for (int op = 0; op < static_cast<int>(blocks_[static_cast<std::size_t>(block)].size()); ++op) {
      if (op_at(block, op).tensors.empty()) continue;
      if (gathers.empty() || engine_.gather_unit == GatherUnit::kModule)
        gathers.push_back({block, {}});
      gathers.back().ops.push_back(op);
    }
    return gathers;
  }

  /// Issues an all-gather at this point of the program: it may start once the compute issued so
  /// far has finished and this step's parameters have arrived.
  void issue(const Gather& gather, int step, int mb, Phase phase) {
    const ModuleOp& first = op_at(gather.block, gather.ops.front());
    std::vector<TensorId> ids;
    for (const int op : gather.ops) {
      const auto& more = op_at(gather.block, op).tensors;
      ids.insert(ids.end(), more.begin(), more.end());
    }
    const bool secondary = plan_.p2 && phase != Phase::kForward;
    const SubMesh mesh = sub_mesh(secondary ? *plan_.p2 : plan_.p);
    std::vector<TaskId> deps = {writer_.last_compute()};
    if (mb == 0) deps.push_back(updated_[static_cast<std::size_t>(gather.block)]);
    if (!overlap_gather()) deps.insert(deps.end(), writer_.gates().begin(), writer_.gates().end());
    const Module module = gather.ops.size() == 1 ? first.module : Module::kNone;
    const TaskId task = writer_.collective(
        {step, mb, phase, gather.block, module, -1, Op::kAllGather}, Role::kGather, mesh,
        CollectiveKind::kAllGather, gather.block * 64 + static_cast<int>(first.module),
        [&] {
          return CollectiveWork{{{}, {}, Bytes{training_.parameter_bytes * elements_of(ids)}, {}},
                                training_.parameter_bytes,
                                ids};
        },
        deps);
    auto& gathered = gathered_[static_cast<std::size_t>(gather.block)];
    gathered.resize(blocks_[static_cast<std::size_t>(gather.block)].size(), kNoTask);
    for (const int op : gather.ops) gathered[static_cast<std::size_t>(op)] = task;
  }

  Prefetcher prefetcher(int step, int mb) {
    return Prefetcher(
        [this, step, mb](const Gather& gather, Phase phase) { issue(gather, step, mb, phase); });
  }

  TaskId gathered(int block, int op) const {
    const auto& tasks = gathered_[static_cast<std::size_t>(block)];
    return static_cast<std::size_t>(op) < tasks.size() ? tasks[static_cast<std::size_t>(op)]
                                                       : kNoTask;
  }

  // --- forward ---

  void compute_forward(int step, int mb, Phase phase, int block, int op) {
    std::vector<TaskId> deps = {gathered(block, op)};
    if (op == 0 && mb == 0) deps.push_back(updated_[static_cast<std::size_t>(block)]);
    writer_.compute({step, mb, phase, block, op_at(block, op).module, -1, Op::kForward},
                    works_.at(mb, block, op).forward, std::move(deps));
  }

  void forward(int step, int mb) {
    for (auto& tasks : gathered_) tasks.clear();
    Prefetcher ahead = prefetcher(step, mb);
    int group = 0;
    for (int block = 0; block <= last_block(); ++block)
      for (Gather& gather : gathers_of(block))
        ahead.expect(std::move(gather), Phase::kForward, overlap_gather() ? block : group++);
    for (int block = 0; block <= last_block(); ++block) {
      if (overlap_gather()) ahead.issue_through(block + engine_.prefetch_layers);
      const int ops = static_cast<int>(blocks_[static_cast<std::size_t>(block)].size());
      for (int op = 0; op < ops; ++op) {
        if (!overlap_gather()) ahead.issue_for(block, op);
        compute_forward(step, mb, Phase::kForward, block, op);
      }
    }
  }

  // --- backward ---

  bool recomputed(int block) const {
    return block > 0 && block < last_block() && training_.recomputes(block);
  }

  void backward(int step, int mb) {
    for (auto& tasks : gathered_) tasks.clear();
    GradientSync sync = gradient_sync(step, mb);
    Prefetcher ahead = prefetcher(step, mb);
    expect_backward_gathers(ahead);
    int module_group = 0;
    if (overlap_gather() && !by_block()) ahead.issue_through(engine_.prefetch_layers - 1);
    for (int block = last_block(); block >= 0; --block) {
      if (overlap_gather() && by_block())
        ahead.issue_through(last_block() - block + engine_.prefetch_layers);
      const int ops = static_cast<int>(blocks_[static_cast<std::size_t>(block)].size());
      if (recomputed(block))
        for (int op = 0; op < ops; ++op) {
          if (!overlap_gather()) ahead.issue_for(block, op);
          compute_forward(step, mb, Phase::kRecompute, block, op);
        }
      for (int op = ops - 1; op >= 0; --op) {
        const bool needs = op_at(block, op).backward_needs_parameters;
        if (sharded() && needs && !by_block() && overlap_gather())
          ahead.issue_through(module_group++ + engine_.prefetch_layers);
        if (!overlap_gather()) ahead.issue_for(block, op);
        compute_backward(step, mb, block, op);
        if (!reduces_blocks()) sync.gradients_ready(block, op_at(block, op).tensors);
      }
      if (!reduces_blocks()) continue;
      scatter_block(step, mb, block);
      for (int op = ops - 1; op >= 0; --op) sync.gradients_ready(block, op_at(block, op).tensors);
    }
    sync.finish();
  }

  /// Whole blocks are gathered ahead where a block's forward is run again first.
  bool by_block() const {
    return training_.recompute == Recompute::kFull || engine_.gather_unit == GatherUnit::kBlock;
  }

  /// Gathers in backward order. Groups: blocks counted from the last, or modules.
  void expect_backward_gathers(Prefetcher& ahead) const {
    int group = 0;
    for (int block = last_block(); block > 0; --block) {
      std::vector<Gather> gathers = gathers_of(block);
      if (!recomputed(block)) std::reverse(gathers.begin(), gathers.end());
      for (Gather& gather : gathers)
        ahead.expect(std::move(gather), recomputed(block) ? Phase::kRecompute : Phase::kBackward,
                     overlap_gather() && by_block() ? last_block() - block : group++);
    }
  }

  void compute_backward(int step, int mb, int block, int op) {
    const ModuleOp& module = op_at(block, op);
    const auto& works = works_.at(mb, block, op).backward;
    bool produced = module.tensors.empty();
    for (const auto& [kind, work] : works) {
      std::vector<TaskId> deps = {gathered(block, op)};
      if (!produced && pending_.size() >= static_cast<std::size_t>(engine_.max_pending_reduce))
        deps.push_back(
            pending_[pending_.size() - static_cast<std::size_t>(engine_.max_pending_reduce)]);
      const TaskId task = writer_.compute(
          {step, mb, Phase::kBackward, block, module.module, -1, kind}, work, std::move(deps));
      if (!produced && !reduces_blocks())
        scatter(step, mb, block, module.module, module.tensors, task);
      produced = true;
    }
  }

  bool reduces_blocks() const { return engine_.reduce_unit == GatherUnit::kBlock; }

  /// All gradients of a block are computed.
  void scatter_block(int step, int mb, int block) {
    std::vector<TensorId> tensors;
    const auto& modules = blocks_[static_cast<std::size_t>(block)];
    for (auto module = modules.rbegin(); module != modules.rend(); ++module)
      tensors.insert(tensors.end(), module->tensors.begin(), module->tensors.end());
    scatter(step, mb, block, Module::kNone, tensors, writer_.last_compute());
  }

  /// These gradients were just computed: reduce them over the ranks that share the parameters.
  void scatter(int step, int mb, int block, Module module, const std::vector<TensorId>& tensors,
               TaskId producer) {
    TaskId ready = producer;
    if (sharded()) {
      ready = writer_.collective(
          {step, mb, Phase::kBackward, block, module, -1, Op::kReduceScatter}, Role::kScatter,
          sub_mesh(plan_.p), CollectiveKind::kReduceScatter, block * 64 + static_cast<int>(module),
          [&] {
            return CollectiveWork{
                {{}, {}, Bytes{training_.gradient_bytes * elements_of(tensors)}, {}},
                training_.gradient_bytes,
                tensors};
          },
          std::vector<TaskId>{producer});
      pending_.push_back(ready);
      unjoined_.push_back(ready);
      if (!overlap_gather() || !engine_.decoupled_reduce_scatter) writer_.gate_compute(ready);
    }
    for (const TensorId id : tensors) gradient_ready_[static_cast<std::size_t>(id)] = ready;
  }

  // --- gradients over replicas ---

  /// Reduces the buckets of one micro-batch as they fill, or after its backward.
  class GradientSync {
   public:
    GradientSync(ScheduleBuilder& builder, int step, int mb,
                 std::vector<GradientReduction> reductions)
        : builder_(builder), step_(step), mb_(mb), reductions_(std::move(reductions)) {
      if (reductions_.empty()) return;
      const int bytes = builder.training_.gradient_bytes;
      const int ways = builder.plan_.p.size();
      buckets_ = builder.reduces_blocks()
                     ? block_buckets(builder.tensors_, builder.gradient_order_, bytes, ways)
                     : gradient_buckets(builder.tensors_, builder.gradient_order_, bytes, ways,
                                        builder.engine_.bucket);
    }

    /// A tied head's gradient isn't ready before the embedding's backward.
    void gradients_ready(int block, const std::vector<TensorId>& ids) {
      if (!builder_.engine_.overlap_all_reduce) return;
      for (const TensorId id : ids) {
        if (builder_.tensors_[static_cast<std::size_t>(id)].block != block) continue;
        if (next_ >= buckets_.size() || buckets_[next_].tensors.back() != id) continue;
        reduce(std::exchange(next_, next_ + 1), {});
      }
    }

    /// After the backward: what is left.
    void finish() {
      std::vector<TaskId> after = builder_.writer_.gates();
      after.push_back(builder_.writer_.last_compute());
      while (next_ < buckets_.size()) reduce(std::exchange(next_, next_ + 1), after);
    }

   private:
    void reduce(std::size_t number, std::vector<TaskId> deps) {
      const Bucket& bucket = buckets_[number];
      for (const TensorId id : bucket.tensors)
        deps.push_back(builder_.gradient_ready_[static_cast<std::size_t>(id)]);
      // What an owner kept of earlier micro-batches goes into the last one's message.
      builder_.reduced_.resize(std::max(builder_.reduced_.size(), number + 1), kNoTask);
      TaskId& reduced = builder_.reduced_[number];
      deps.push_back(reduced);
      Bytes bytes = bucket.bytes;
      for (const GradientReduction& reduction : reductions_) {
        const bool scatter = reduction.kind == CollectiveKind::kReduceScatter;
        const TaskId task = builder_.writer_.collective(
            {step_, mb_, Phase::kGradSync, -1, Module::kNone, static_cast<int>(number),
             scatter ? Op::kReduceScatter : Op::kAllReduce},
            Role::kReduce, reduction.mesh, reduction.kind,
            kBucketMessages + static_cast<int>(number),
            [&] {
              return CollectiveWork{
                  {{}, {}, bytes, {}}, builder_.training_.gradient_bytes, bucket.tensors};
            },
            deps);
        deps = {task};
        reduced = task;
        builder_.unjoined_.push_back(task);
        if (!builder_.engine_.overlap_all_reduce) builder_.writer_.gate_compute(task);
        if (scatter)
          bytes = Bytes{(bytes.value + reduction.mesh.size() - 1) / reduction.mesh.size()};
      }
    }

    ScheduleBuilder& builder_;
    int step_, mb_;
    std::vector<GradientReduction> reductions_;
    std::vector<Bucket> buckets_;
    std::size_t next_ = 0;
  };

  GradientSync gradient_sync(int step, int mb) {
    return {*this, step, mb,
            gradient_reductions(plan_, engine_, mb == training_.micro_batches - 1)};
  }

  // --- end of the step ---

  TaskId begin_step(int step) {
    std::vector<TaskId> deps = {updated_[0]};
    if (!engine_.overlap_broadcast) deps = updated_;
    return writer_.marker({step, -1, Phase::kMark, -1, Module::kNone, -1, Op::kStepBegin},
                          std::move(deps));
  }

  /// Joins all gradient work, then gradient norm, optimizer, parameter update.
  void finish_step(int step) {
    for (const TaskId task : unjoined_) writer_.gate_compute(task);
    unjoined_.clear();
    pending_.clear();
    reduced_.clear();
    if (training_.clip_gradients) {
      const TaskId norm = writer_.compute(
          {step, -1, Phase::kOptimizer, -1, Module::kNone, -1, Op::kNorm}, works_.norm(), {});
      if (plan_.os.size() > 1)
        writer_.gate_compute(writer_.collective(
            {step, -1, Phase::kOptimizer, -1, Module::kNone, -1, Op::kAllReduce}, Role::kReduce,
            sub_mesh(plan_.os), CollectiveKind::kAllReduce, kNormMessage,
            [] {
              return CollectiveWork{{{}, {}, 4_B, {}}, 4, {}};
            },
            std::vector<TaskId>{norm}));
    }
    const TaskId optimizer = writer_.compute(
        {step, -1, Phase::kOptimizer, -1, Module::kNone, -1, Op::kStep}, works_.step(), {});
    if (writer_.graph().owner_mesh.size() > 1) update_parameters(step, optimizer);
  }

  /// One group of broadcasts (or one all-gather) a block, in the order in which the forward needs
  /// them.
  void update_parameters(int step, TaskId optimizer) {
    const SubMesh mesh = writer_.graph().owner_mesh;
    const bool broadcast = engine_.param_update == ParamUpdate::kBroadcast;
    for (int block = 0; block <= last_block(); ++block)
      updated_[static_cast<std::size_t>(block)] = writer_.collective(
          {step, -1, Phase::kUpdate, block, Module::kNone, -1,
           broadcast ? Op::kBroadcast : Op::kAllGather},
          Role::kUpdate, mesh, broadcast ? CollectiveKind::kBroadcast : CollectiveKind::kAllGather,
          kUpdateMessages + block, [&] { return update_work(block, broadcast); },
          std::vector<TaskId>{optimizer});
  }

  CollectiveWork update_work(int block, bool broadcast) const {
    CollectiveWork work{{}, training_.parameter_bytes, {}};
    for (std::size_t owner = 0; owner < owners_.parts.size(); ++owner) {
      std::int64_t elements = 0;
      for (const OwnedPart& part : owners_.parts[owner])
        if (tensors_[static_cast<std::size_t>(part.tensor)].block == block)
          elements += part.elements;
      const Bytes bytes{training_.parameter_bytes * elements};
      if (broadcast) work.call.bytes_by_root.push_back(bytes);
      work.call.bytes += bytes;
    }
    for (TensorId id = 0; id < static_cast<TensorId>(tensors_.size()); ++id)
      if (tensors_[static_cast<std::size_t>(id)].block == block) work.tensors.push_back(id);
    return work;
  }

  const TrainingSpec& training_;
  const ShardingPlan& plan_;
  const EnginePolicy& engine_;
  std::vector<Tensor> tensors_;
  std::vector<std::vector<ModuleOp>> blocks_;
  Ownership owners_;
  GraphWriter writer_;
  StepWorks works_;
  std::vector<TensorId> gradient_order_;       // in which the backward completes gradients
  std::vector<TaskId> gradient_ready_;         // by tensor: of the micro-batch under way
  std::vector<std::vector<TaskId>> gathered_;  // by block and module: all-gather to wait for
  std::vector<TaskId> updated_;                // by block: parameter update of the last step
  std::vector<TaskId> pending_;                // reduce-scatters of this step, in order
  std::vector<TaskId> reduced_;                // by bucket: its last reduction of this step
  std::vector<TaskId> unjoined_;               // gradient work that the step's end waits for
};

}  // namespace

TaskGraph build_schedule(const ModelSpec& model, const TrainingSpec& training,
                         const ShardingPlan& plan, const EnginePolicy& engine, int full_steps) {
  return ScheduleBuilder(model, training, plan, engine).build(full_steps);
}

}  // namespace amsp
