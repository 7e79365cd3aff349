#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/units.h"
#include "topology/graph/cluster_graph.h"
#include "topology/spec/mesh.h"
#include "topology/spec/placement.h"

namespace amsp {

enum class CollectiveKind { kAllGather, kReduceScatter, kAllReduce, kBroadcast };
/// "all_gather", ...
const char* to_string(CollectiveKind kind);

/// One collective as a rank's program names it: all sibling groups of `mesh` do it at once.
/// `bytes` is the whole, unsharded message of one group. A broadcast call may carry several
/// messages, one a root position of the group (a group call, which completes as a whole): then
/// `bytes_by_root` has one entry per member, zeros where a member sends nothing, and `bytes` is
/// their sum. For the other kinds it is empty.
struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::kAllGather;
  SubMesh mesh;
  Bytes bytes;
  std::vector<Bytes> bytes_by_root;
};

/// The part of the whole message that crosses each hop of a ring of `size` members, all steps
/// together: 2(n-1)/n for all-reduce, (n-1)/n for all-gather and reduce-scatter, 1 for broadcast
/// (every hop but the last, into the root). It is also NCCL's ratio of bus bandwidth to
/// algorithm bandwidth. `whole` times that, rounded once less.
double hop_share(CollectiveKind kind, int size, double whole = 1);

/// Bytes that each rank of a ring sends (and receives): (n-1)/n of the message for an all-gather or
/// reduce-scatter, twice that for an all-reduce, the message for a broadcast.
double wire_bytes_per_rank(const CollectiveCall& call);

/// The time of a collective that shares its links with nobody, and where it comes from.
struct CollectiveTime {
  Seconds time;
  Source source = Source::kMeasured;
  bool extrapolated = false;  // outside the sizes or group sizes measured
  /// Of a member's compute, what it takes while it runs: in [0, 1]; empty where nobody measured it.
  std::optional<double> compute_share = {};
};

/// What one group puts on one link during the whole call.
struct LinkLoad {
  LinkId link;
  double bytes;
};

/// The seam for sources of collective times and link loads: measured profiles, the ring model,
/// NCCL's own model. Implementations are immutable after construction and hold
/// references to the graph and placement, which must outlive them.
class CollectiveModel {
 public:
  virtual ~CollectiveModel() = default;
  /// Time of `call` for one group alone. Throws ConfigError where the source has no answer
  /// (strict profile, operation missing), naming operation, mesh and what is covered.
  virtual CollectiveTime time(const CollectiveCall& call) const = 0;
  /// Loads of group `group` of process_groups(call.mesh, dp), ordered by link id.
  virtual std::vector<LinkLoad> loads(const CollectiveCall& call, int group) const = 0;
  /// Calls of one mesh with the same roots and the same pattern load links in proportion to
  /// wire_bytes_per_rank.
  virtual int load_pattern(const CollectiveCall& call) const = 0;
};

}  // namespace amsp
