#include "executor/program/optimizer_launcher.h"

#include <memory>

#include "executor/program/message_plan.h"

namespace amsp {

OptimizerLauncher::OptimizerLauncher(ProgramContext& context, ParameterStore& parameters,
                                     GradientStore& gradients)
    : context_(context) {
  const ShardLayout& shards = context.shards;
  std::int64_t end = 0;
  for (TensorId id = 0; id < static_cast<TensorId>(context.tensors.size()); ++id) {
    const SliceRange& mine = shards.owned(id, shards.owner());
    if (mine.count == 0) continue;
    Part part{id, shards.slice(id) * shards.position() + mine.offset, mine.count,         {}, {},
              {}, parameters.slice(id) + context.bytes(mine.offset),  gradients.owned(id)};
    for (Ref* state : {&part.master, &part.m, &part.v}) {
      state->offset = end;
      end += align_tensor(context.wide_bytes(mine.count));
    }
    parts_.push_back(part);
  }
  states_ = context.table.persistent(MemoryUse::kOptimizer, end);
  for (Part& part : parts_)
    for (Ref* state : {&part.master, &part.m, &part.v}) state->buffer = states_;
  norm_ = context.table.persistent(MemoryUse::kInputs, context.wide_bytes(1));
}

TaskLaunch OptimizerLauncher::prepare_norm() {
  // Devices read the list when the work runs.
  auto list = std::make_shared<std::vector<GradPart>>();
  return [&device = context_.device, at = context_.addresses, grad_type = context_.grad_type,
          type = wide(context_.type), parts = parts_, sum = Ref{norm_, 0},
          list](Stream& stream, const StepContext&) {
    if (list->empty())
      for (const Part& part : parts) list->push_back({(*at)(part.gradient), part.count});
    device.run(stream, SumOfSquares{grad_type, type, *list, (*at)(sum)});
  };
}

TaskLaunch OptimizerLauncher::prepare_norm_reduction(const Task& task) {
  MessagePlan message(CollectiveKind::kAllReduce, wide(context_.type),
                      context_.graph.collective(task).call.mesh.size());
  message.add(0, {norm_, 0}, 1);
  Communicator* communicator = context_.communicators[static_cast<std::size_t>(task.stream)].get();
  return [at = context_.addresses, message, communicator](Stream& stream, const StepContext&) {
    communicator->enqueue(stream, message.at(*at));
  };
}

TaskLaunch OptimizerLauncher::prepare_step(const Task& task) {
  const TrainingSpec& training = context_.training;
  const Hyperparameters& hyper = context_.hyper;
  if (task.key.step == 0)
    return [&device = context_.device, at = context_.addresses, type = context_.type,
            parts = parts_](Stream& stream, const StepContext&) {
      for (const Part& part : parts)
        device.run(stream, Convert{part.count, wide(type), (*at)(part.master), type,
                                   (*at)(part.parameter), false});
    };
  auto list = std::make_shared<std::vector<AdamWPart>>();
  AdamW work{context_.type,
             context_.grad_type,
             {},
             hyper.learning_rate,
             hyper.beta1,
             hyper.beta2,
             hyper.epsilon,
             hyper.weight_decay,
             0,
             1.0 / (static_cast<double>(training.micro_batches) * context_.plan.dp.size()),
             training.clip_gradients ? hyper.max_norm : 0,
             nullptr};
  std::vector<bool> decays;
  for (const Part& part : parts_) {
    const Tensor& tensor = context_.tensor(part.tensor);
    decays.push_back(!tensor.name.ends_with("norm.weight") && !tensor.name.ends_with(".bias"));
  }
  return [&device = context_.device, at = context_.addresses, parts = parts_, decays, list, work,
          norm = Ref{norm_, 0}](Stream& stream, const StepContext& step) {
    if (list->empty())
      for (std::size_t i = 0; i < parts.size(); ++i)
        list->push_back({(*at)(parts[i].master), (*at)(parts[i].m), (*at)(parts[i].v),
                         (*at)(parts[i].gradient), (*at)(parts[i].parameter), parts[i].count,
                         decays[i]});
    AdamW one = work;
    one.parts = *list;
    one.step = step.step;
    if (one.max_norm > 0) one.sum_of_squares = (*at)(norm);
    device.run(stream, one);
  };
}

}  // namespace amsp
