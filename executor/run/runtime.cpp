#include "executor/run/runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/error.h"
#include "executor/program/slots.h"

namespace amsp {
namespace {

TaskSpan span(Event& start, Event& end) {
  return {{start.time_ns()}, {end.time_ns()}};
}

}  // namespace

Runtime::Runtime(const RankProgram& program)
    : program_(program),
      device_(program.context().device),
      begin_(index(program.graph().window_begin)),
      end_(index(program.graph().window_end)) {
  const TaskGraph& graph = program.graph();
  AMSP_CHECK(end_ + 1 == static_cast<std::size_t>(graph.size()), "the window's end ends the graph");
  for (std::size_t i = 0; i <= end_; ++i) {
    const auto id = static_cast<TaskId>(i);
    const std::string key = graph.key(id);
    names_.push_back(key.substr(key.find('/')));
    // The last dependency of a stream implies those before it.
    std::map<StreamId, std::size_t> last;
    for (const TaskId dep : graph.deps(id))
      if (graph[dep].stream != graph[id].stream) {
        std::size_t& known = last.try_emplace(graph[dep].stream, index(dep)).first->second;
        known = std::max(known, index(dep));
      }
    waits_.emplace_back();
    for (const auto& [stream, dep] : last) waits_.back().push_back(dep);
  }
  for (std::size_t i = 0; i <= begin_; ++i)
    AMSP_CHECK(names_[i] == names_[at_end(i)], "{} ends the step, {} the one before",
               names_[at_end(i)], names_[i]);
  for (const StreamSpec& stream : graph.streams())
    streams_.push_back(device_.make_stream(stream.name));
  reader_ = device_.make_stream("results");
  const auto tokens = static_cast<std::size_t>(SlotTokens::slot_bytes(program.context().training) /
                                               size_of(DType::kI32));
  for (Slot& slot : slots_) {
    slot.labels.resize(end_ + 1);
    slot.tokens.resize(tokens);
    for (std::size_t i = 0; i <= end_; ++i) {
      slot.starts.push_back(device_.make_event());
      slot.ends.push_back(device_.make_event());
    }
  }
}

/// Issues `task`; its events and label are those of task `as`.
void Runtime::issue(std::size_t task, std::size_t as, std::int64_t step) {
  const Task& what = program_.graph()[static_cast<TaskId>(task)];
  Stream& stream = *streams_[static_cast<std::size_t>(what.stream)];
  Slot& now = slot(step);
  now.labels[as] = fmt::format("s{}{}", step, names_[task]);
  stream.label(now.labels[as]);
  for (const std::size_t dep : waits_[task]) {
    // In the first tail every dependency is of the tail itself.
    const bool of_tail = dep < begin_;
    const bool in_tail = task < begin_;
    stream.wait(of_tail && !in_tail ? *slot(step + 1).ends[at_end(dep)]
                                    : *now.ends[in_tail ? at_end(dep) : dep]);
  }
  stream.record(*now.starts[as]);
  program_.launch(static_cast<TaskId>(task), stream, {step, static_cast<int>(step % 2)});
  stream.record(*now.ends[as]);
}

void Runtime::upload_tokens(std::int64_t step, const FillTokens& fill) {
  Slot& now = slot(step);
  fill(step, now.tokens);
  const StepContext context{step, static_cast<int>(step % 2)};
  const SlotTokens first(program_.context().training, program_.tokens(), 0);
  now.upload = fmt::format("s{}/tokens", step);
  streams_[kComputeStream]->label(now.upload);
  device_.upload(*streams_[kComputeStream], program_.at()(first.inputs(context)), now.tokens.data(),
                 now.tokens.size() * sizeof(std::int32_t));
}

StepResult Runtime::collect(std::int64_t step) {
  Slot& then = slot(step);
  StepResult result{step, {}, std::vector<TaskSpan>(end_ + 1)};
  for (std::size_t i = begin_; i < end_; ++i) then.ends[i]->synchronize();
  for (std::size_t i = begin_; i < end_; ++i)
    result.spans[i] = span(*then.starts[i], *then.ends[i]);
  for (std::size_t i = 0; i < begin_; ++i) {
    result.spans[i] = tail_[i];
    tail_[i] = result.spans[at_end(i)];
  }
  const TrainingSpec& training = program_.context().training;
  const SlotLoss first(training, program_.losses(), 0);
  const StepContext context{step, static_cast<int>(step % 2)};
  std::vector<std::byte> raw(static_cast<std::size_t>(SlotLoss::slot_bytes(training)));
  device_.download(*reader_, raw.data(), program_.at()(first.at(context)), raw.size());
  reader_->synchronize();
  for (int i = 0; i < training.micro_batches; ++i)
    result.losses.push_back(training.wide_bytes() == 8
                                ? reinterpret_cast<const double*>(raw.data())[i]
                                : reinterpret_cast<const float*>(raw.data())[i]);
  return result;
}

void Runtime::collect_first_tail() {
  Slot& then = slot(0);
  for (std::size_t i = 0; i < begin_; ++i) {
    then.ends[at_end(i)]->synchronize();
    tail_.push_back(span(*then.starts[at_end(i)], *then.ends[at_end(i)]));
  }
}

void Runtime::run(std::int64_t steps, const FillTokens& fill, const OnStep& on_step) {
  for (std::size_t i = 0; i < begin_; ++i) issue(i, at_end(i), 0);
  std::unique_ptr<StepResult> waiting;  // for the mark that ends it
  const auto finish = [&](std::int64_t step, TaskSpan mark) {
    if (!waiting) return;
    AMSP_CHECK(waiting->step == step, "step {} ends, not {}", waiting->step, step);
    waiting->spans[end_] = mark;
    on_step(*waiting);
    waiting.reset();
  };
  const auto take = [&](std::int64_t step) {
    StepResult result = collect(step);
    finish(step - 1, result.spans[begin_]);
    waiting = std::make_unique<StepResult>(std::move(result));
  };
  for (std::int64_t step = 1; step <= steps; ++step) {
    if (step == 2) collect_first_tail();  // before its events are used again
    if (step > 2) take(step - 2);
    upload_tokens(step, fill);
    for (std::size_t i = begin_; i < end_; ++i) issue(i, i, step);
  }
  issue(end_, end_, steps);
  if (steps == 1) collect_first_tail();
  for (std::int64_t step = std::max<std::int64_t>(1, steps - 1); step <= steps; ++step) take(step);
  Slot& last = slot(steps);
  last.ends[end_]->synchronize();
  finish(steps, span(*last.starts[end_], *last.ends[end_]));
}

}  // namespace amsp
