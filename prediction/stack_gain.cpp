#include "prediction/stack_gain.h"

#include "schedule/module_work.h"

namespace amsp {
namespace {

Seconds model_time(const ModelSpec& model, const TrainingSpec& training,
                   const ComputeModel& compute) {
  const auto blocks = module_ops(model, training, model_tensors(model));
  Seconds sum{};
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    const bool layer = block > 0 && block + 1 < blocks.size();
    const int forwards = layer && training.recomputes(static_cast<int>(block)) ? 2 : 1;
    for (const ModuleOp& op : blocks[block]) {
      sum += forwards * compute.time(op.forward).time;
      for (const auto& [kind, work] : op.backward) sum += compute.time(work).time;
    }
  }
  return training.micro_batches * sum;
}

}  // namespace

std::optional<Seconds> gain_of_compiling(const Scenario& scenario, const ComputeModel& compute) {
  if (scenario.training.stack.norm != NormKernels::kEager) return std::nullopt;
  TrainingSpec compiled = scenario.training;
  compiled.stack = stack_preset("compiled");
  compiled.stack.attention = scenario.training.stack.attention;
  return model_time(scenario.model, scenario.training, compute) -
         model_time(scenario.model, compiled, compute);
}

}  // namespace amsp
