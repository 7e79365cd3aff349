#pragma once

#include <cstdint>
#include <vector>

#include "topology/spec/mesh.h"
#include "training/engine_policy.h"
#include "training/model.h"
#include "training/plan.h"

namespace amsp {

/// A run of elements inside a slice.
struct SliceRange {
  std::int64_t offset = 0;
  std::int64_t count = 0;

  bool operator==(const SliceRange&) const = default;
};

/// Where one rank's parts of every tensor lie. A tensor of n elements is cut into s_p slices of
/// ceil(n / s_p), the last ones padded with zeros; a slice is cut among its s_os/s_p owners
/// (training/ownership.h). Positions follow topology/spec/mesh.h.
class ShardLayout {
 public:
  ShardLayout(const std::vector<Tensor>& tensors, const ShardingPlan& plan, OsSharding sharding,
              Rank rank);

  int ways() const { return ways_; }          // s_p
  int position() const { return position_; }  // in the parameter group
  int owners() const { return static_cast<int>(owned_.front().size()); }
  int owner() const { return owner_; }  // this rank, as an owner of its slices
  /// Elements of one slice, padding included.
  std::int64_t slice(TensorId id) const { return slices_[static_cast<std::size_t>(id)]; }
  /// What an owner updates of a slice; count 0: nothing.
  const SliceRange& owned(TensorId id, int owner) const {
    return owned_[static_cast<std::size_t>(id)][static_cast<std::size_t>(owner)];
  }

  /// Of the secondary parameters (p2): 0 ways without.
  int secondary_ways() const { return secondary_ways_; }
  int secondary_position() const { return secondary_position_; }
  std::int64_t secondary_slice(TensorId id) const;

 private:
  std::vector<std::int64_t> elements_;
  int ways_, position_, owner_;
  int secondary_ways_ = 0, secondary_position_ = 0;
  std::vector<std::int64_t> slices_;
  std::vector<std::vector<SliceRange>> owned_;  // by tensor and owner
};

}  // namespace amsp
