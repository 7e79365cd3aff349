#pragma once

#include <map>
#include <utility>
#include <vector>

#include "executor/program/program_context.h"

namespace amsp {

/// A rank's parameters: its slices, the secondary ones, and the gathered copies in use. Lowers
/// all-gathers of parameters and the updates after the optimizer.
class ParameterStore {
 public:
  explicit ParameterStore(ProgramContext& context);

  /// The whole tensor, for a module of `block`: gathered, or the parameters themselves where they
  /// are not sharded.
  Ref whole(int block, TensorId id);
  /// This rank's slice.
  Ref slice(TensorId id) const { return {slices_, offsets_[static_cast<std::size_t>(id)]}; }

  TaskLaunch prepare_gather(const Task& task);
  TaskLaunch prepare_update(const Task& task);

 private:
  ProgramContext& context_;
  BufferId slices_, secondary_ = -1;
  std::vector<std::int64_t> offsets_, secondary_offsets_;  // by tensor, bytes
  std::map<std::pair<int, TensorId>, BufferId> gathered_;  // by block and tensor
};

}  // namespace amsp
