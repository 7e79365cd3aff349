#pragma once

#include "executor/program/program_context.h"

namespace amsp {

/// Where the tokens of a micro-batch lie. Two slots, used by steps in turn, so that one step's
/// tokens can be uploaded while the one before runs. In a slot, by micro-batch: inputs, targets.
class SlotTokens {
 public:
  SlotTokens(const TrainingSpec& training, BufferId buffer, int micro_batch)
      : buffer_(buffer),
        bytes_(std::int64_t{training.tokens()} * size_of(DType::kI32)),
        micro_batch_(micro_batch),
        micro_batches_(training.micro_batches) {}

  Ref inputs(const StepContext& step) const {
    return {buffer_, bytes_ * 2 * (std::int64_t{step.slot} * micro_batches_ + micro_batch_)};
  }
  Ref targets(const StepContext& step) const { return inputs(step) + bytes_; }
  /// Bytes of one slot.
  static std::int64_t slot_bytes(const TrainingSpec& training) {
    return std::int64_t{training.tokens()} * size_of(DType::kI32) * 2 * training.micro_batches;
  }

 private:
  BufferId buffer_;
  std::int64_t bytes_;
  int micro_batch_, micro_batches_;
};

/// Where the loss of a micro-batch lies: one number of wide_bytes, by slot and micro-batch.
class SlotLoss {
 public:
  SlotLoss(const TrainingSpec& training, BufferId buffer, int micro_batch)
      : buffer_(buffer),
        bytes_(training.wide_bytes()),
        micro_batch_(micro_batch),
        micro_batches_(training.micro_batches) {}

  Ref at(const StepContext& step) const {
    return {buffer_, bytes_ * (std::int64_t{step.slot} * micro_batches_ + micro_batch_)};
  }
  static std::int64_t slot_bytes(const TrainingSpec& training) {
    return std::int64_t{training.wide_bytes()} * training.micro_batches;
  }

 private:
  BufferId buffer_;
  std::int64_t bytes_;
  int micro_batch_, micro_batches_;
};

}  // namespace amsp
