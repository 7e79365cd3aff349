#include "schedule/step_works.h"

#include "schedule/gradient_reductions.h"
#include "schedule/kernel_traffic.h"

namespace amsp {
namespace {

class Maker {
 public:
  Maker(const ModelSpec& model, const TrainingSpec& training, const ShardingPlan& plan,
        const EnginePolicy& engine, const std::vector<Tensor>& tensors, TaskGraph& graph)
      : traffic_(model, training),
        training_(training),
        plan_(plan),
        engine_(engine),
        tensors_(tensors),
        graph_(graph) {}

  /// `known`: the same module's works where gradients are used otherwise; those that come out alike
  /// are shared.
  StepWorks::OpWorks module(const ModuleOp& op, bool recomputed, bool accumulates, bool reduces,
                            const StepWorks::OpWorks* known) {
    const bool has_parameters = !op.tensors.empty();
    const Traffic gathered = has_parameters ? gather_copies(op) : Traffic{};
    StepWorks::OpWorks result;
    result.forward = known != nullptr ? known->forward : add(op.forward, gathered);
    for (const auto& [kind, work] : op.backward) {
      const bool completes = has_parameters && result.backward.empty();
      Traffic copies;
      if (completes) copies = gradient_copies(op, accumulates, reduces);
      // The forward that is run again has gathered.
      if (completes && op.backward_needs_parameters && !recomputed) copies = copies + gathered;
      if (known != nullptr && copies == added_to(known->backward[result.backward.size()].second))
        result.backward.push_back(known->backward[result.backward.size()]);
      else
        result.backward.emplace_back(kind, add(work, copies));
    }
    return result;
  }

  std::int32_t norm(const Ownership& owners) {
    return add_by_owner(MemoryKernel::kGradNorm, owners, traffic_.norm_bytes(), 1, {});
  }

  std::int32_t step(const Ownership& owners) {
    // An all-gather of updated parameters leaves its buffer as every gather does.
    Traffic copies;
    if (plan_.p.size() == 1 && graph_.owner_mesh.size() > 1)
      copies = traffic_.parameter_copies(parameters(nullptr), engine_.gather_copies);
    return add_by_owner(MemoryKernel::kOptimizer, owners, traffic_.step_bytes(),
                        traffic_.step_launches(static_cast<double>(owners.elements.front())),
                        copies);
  }

 private:
  /// Of a module, or of the model.
  double parameters(const ModuleOp* op) const {
    std::int64_t sum = 0;
    if (op == nullptr)
      for (const Tensor& tensor : tensors_) sum += tensor.elements;
    else
      for (const TensorId id : op->tensors) sum += tensors_[static_cast<std::size_t>(id)].elements;
    return static_cast<double>(sum);
  }

  Traffic gather_copies(const ModuleOp& op) const {
    if (plan_.p.size() == 1) return {};
    return traffic_.parameter_copies(parameters(&op), engine_.gather_copies);
  }

  Traffic gradient_copies(const ModuleOp& op, bool accumulates, bool reduces) const {
    const double all = parameters(&op);
    const double kept = all / plan_.p.size();
    Traffic copies = traffic_.accumulation(kept, accumulates);
    if (plan_.p.size() > 1)
      copies = copies + traffic_.gradient_copies(all, engine_.reduce_copies);
    else if (reduces)
      copies = copies + traffic_.gradient_copies(kept, engine_.reduce_copies);
    return copies;
  }

  std::int32_t add(ComputeWork work, Traffic copies) {
    work.copies = work.copies + copies;
    const std::int32_t id = graph_.add_work(std::move(work));
    added_.resize(static_cast<std::size_t>(id) + 1);
    added_.back() = copies;
    return id;
  }
  const Traffic& added_to(std::int32_t work) const {
    return added_[static_cast<std::size_t>(work)];
  }

  std::int32_t add_by_owner(MemoryKernel kernel, const Ownership& owners, double bytes,
                            int launches, Traffic copies) {
    ComputeWork work;
    work.kernel = MemoryWork{kernel};
    work.launches = launches;
    for (const std::int64_t elements : owners.elements)
      work.bytes_by_owner.push_back(static_cast<double>(elements) * bytes);
    for (const double moved : work.bytes_by_owner)
      work.bytes += moved / static_cast<double>(owners.elements.size());
    return add(std::move(work), copies);
  }

  KernelTraffic traffic_;
  const TrainingSpec& training_;
  const ShardingPlan& plan_;
  const EnginePolicy& engine_;
  const std::vector<Tensor>& tensors_;
  TaskGraph& graph_;
  std::vector<Traffic> added_;  // by work: what add() added
};

}  // namespace

StepWorks::StepWorks(const ModelSpec& model, const TrainingSpec& training, const ShardingPlan& plan,
                     const EnginePolicy& engine, const std::vector<Tensor>& tensors,
                     const std::vector<std::vector<ModuleOp>>& blocks, const Ownership& owners,
                     TaskGraph& graph) {
  Maker maker(model, training, plan, engine, tensors, graph);
  const Works* known = nullptr;
  for (int mb = 0; mb < training.micro_batches; ++mb) {
    const bool last = mb == training.micro_batches - 1;
    const bool accumulates = mb > 0;
    const bool reduces = !gradient_reductions(plan, engine, last).empty();
    Works& works = works_[{accumulates, reduces}];
    of_micro_batch_.push_back(&works);
    if (!works.empty()) continue;
    std::size_t first_recomputed = 0, first_kept = 0;
    for (std::size_t block = 0; block < blocks.size(); ++block) {
      const bool layer = block > 0 && block + 1 < blocks.size();
      const bool recomputed = layer && training.recomputes(static_cast<int>(block));
      std::size_t& like = recomputed ? first_recomputed : first_kept;  // layers differ by that only
      if (layer && like != 0) {
        works.push_back(works[like]);
        continue;
      }
      if (layer) like = block;
      std::vector<OpWorks>& added = works.emplace_back();
      for (std::size_t op = 0; op < blocks[block].size(); ++op)
        added.push_back(maker.module(blocks[block][op], recomputed, accumulates, reduces,
                                     known == nullptr ? nullptr : &(*known)[block][op]));
    }
    if (known == nullptr) known = &works;
  }
  norm_ = maker.norm(owners);
  step_ = maker.step(owners);
}

const StepWorks::OpWorks& StepWorks::at(int micro_batch, int block, int op) const {
  return (*of_micro_batch_[static_cast<std::size_t>(micro_batch)])[static_cast<std::size_t>(block)]
                                                                  [static_cast<std::size_t>(op)];
}

}  // namespace amsp
