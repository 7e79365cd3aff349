#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/units.h"
#include "executor/program/rank_program.h"

namespace amsp {

/// When a task ran on this rank, by its clock.
struct TaskSpan {
  Nanoseconds start;
  Nanoseconds end;
};

/// What one step left behind on this rank.
struct StepResult {
  std::int64_t step = 0;
  std::vector<double> losses;  // by micro-batch
  /// By task of the graph: the tail of the step before, this step, and the mark that ends it, so
  /// that a step looks like the window of the graph.
  std::vector<TaskSpan> spans;
};

/// Runs a rank's program: issues the tasks in graph order, each on its stream, with an event for
/// each dependency that crosses streams. The graph's window is one step; its end joins its
/// beginning, so the same tasks are issued for step after step. At most two steps are in flight.
class Runtime {
 public:
  /// Opens one stream a stream of the graph. The program must outlive the runtime. Requires a
  /// graph of one full step.
  explicit Runtime(const RankProgram& program);

  /// Inputs and targets of this rank's micro-batches of a step, in the order of SlotTokens.
  using FillTokens = std::function<void(std::int64_t step, std::span<std::int32_t> tokens)>;
  using OnStep = std::function<void(const StepResult&)>;
  /// Runs steps 1..`steps`; `on_step` gets each when it is over, in order. Called once. Throws what
  /// a task failed with.
  void run(std::int64_t steps, const FillTokens& fill, const OnStep& on_step);

 private:
  struct Slot {                                        // a step in flight
    std::vector<std::unique_ptr<Event>> starts, ends;  // by task
    std::vector<std::string> labels;
    std::string upload;                // the label of the tokens' way to the device
    std::vector<std::int32_t> tokens;  // on the host
  };

  Slot& slot(std::int64_t step) { return slots_[static_cast<std::size_t>(step % 2)]; }
  /// The same task at the end of the window.
  std::size_t at_end(std::size_t tail_task) const { return end_ - begin_ + tail_task; }
  void issue(std::size_t task, std::size_t as, std::int64_t step);
  void upload_tokens(std::int64_t step, const FillTokens& fill);
  StepResult collect(std::int64_t step);
  void collect_first_tail();

  const RankProgram& program_;
  Device& device_;
  std::size_t begin_, end_;                      // the marks
  std::vector<std::vector<std::size_t>> waits_;  // by task: dependencies on other streams
  std::vector<std::string> names_;               // keys without the step
  std::vector<std::unique_ptr<Stream>> streams_;
  std::unique_ptr<Stream> reader_;
  std::array<Slot, 2> slots_;
  std::vector<TaskSpan> tail_;  // of the step before the one collected
};

}  // namespace amsp
