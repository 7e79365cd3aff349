#pragma once

#include <map>
#include <utility>
#include <vector>

#include "executor/program/program_context.h"

namespace amsp {

/// Where a kernel puts the gradient of a tensor.
struct GradTarget {
  Ref ref;
  bool accumulate;
};

/// A rank's gradients. What is kept over the step follows the plan's g: the slices of all tensors
/// (g = p), or the owned parts (g = os). Lowers reduce-scatters and reductions of buckets. When a
/// bucket is reduced is the graph's to say:
///   only after the last micro-batch, with g = p: gradients accumulate on the rank, and are
///     reduced where they lie;
///   otherwise each micro-batch's gradients go to buckets of their own, which are reduced and
///     then added to what is kept; the rest is dropped. Where the last micro-batch is reduced over
///     more ranks than those before, an owner first adds what it kept to the bucket, so that every
///     term counts once.
class GradientStore {
 public:
  explicit GradientStore(ProgramContext& context);

  /// For the task being prepared, which computes the gradient of `id`. Sets elements of padding to
  /// zero with `zero_padding`, to be launched with the kernel (may be null).
  GradTarget target(const Task& task, TensorId id, TaskLaunch& zero_padding);
  TaskLaunch prepare_scatter(const Task& task);
  TaskLaunch prepare_reduction(const Task& task);

  /// The reduced gradient of this rank's owned part, after the step's last reduction.
  Ref owned(TensorId id) const;

 private:
  struct Bucket {
    std::vector<TensorId> tensors;
    int reductions = 0;  // collectives that reduce it, one after the other
    int prepared = 0;
    bool scattered = false;  // one of them leaves each owner its part only
    BufferId buffer = -1;
    std::vector<std::int64_t> offsets;  // by position in tensors, bytes
  };

  void read_reductions();
  bool accumulates_first() const { return !owned_only_ && !per_batch_; }
  Bucket& bucket_of(int micro_batch, TensorId id);
  /// Where the slice of a micro-batch's gradient gathers, and whether something is there already.
  GradTarget slice_target(int micro_batch, TensorId id);
  Ref in_bucket(const Bucket& bucket, TensorId id) const;
  Ref slice_or_bucket(const Bucket& bucket, TensorId id) const;

  ProgramContext& context_;
  bool owned_only_;
  bool per_batch_ = false;      // reduced in other micro-batches than the last
  bool wider_at_last_ = false;  // and then over fewer ranks
  int first_reduced_ = -1;
  BufferId kept_;
  std::vector<std::int64_t> offsets_;              // by tensor, bytes
  std::map<std::pair<int, int>, Bucket> buckets_;  // by micro-batch and number
  std::map<std::pair<int, TensorId>, int> bucket_numbers_;
  std::map<TensorId, BufferId> pending_;  // unreduced, whole
  std::map<TensorId, int> contributed_;   // micro-batch of the last contribution
};

}  // namespace amsp
