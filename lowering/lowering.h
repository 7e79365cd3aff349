#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lowering/compute_model.h"
#include "schedule/task_graph.h"
#include "topology/collective/collective.h"
#include "topology/graph/cluster_graph.h"

namespace amsp {

/// A shared resource: a link of the cluster graph, or a GPU's SMs or HBM.
enum class ResourceKind { kLink, kSms, kHbm };

/// A task at its nominal pace uses this fraction of the resource's capacity, in (0, 1].
struct ResourceUse {
  int resource;
  double fraction;
};

class LoadGraph;

/// From tasks to time and load: what the closed form sums and the simulator shares out.
///
/// Every running task has a nominal time T (alone on idle resources) and uses, at its nominal
/// pace, a fraction u <= 1 of each resource:
///   link  bytes / (available * T)                                  for each link of a collective
///   SMs   1 for compute; for a collective its measured CollectiveTime::compute_share, else the
///         SMs that its channels hold (NodeSpec::comm_sms_*)
///   HBM   bytes / (HBM rate * T); a collective moves kHbmPerWireByte times the bytes it sends
class Lowering {
 public:
  /// Keeps references to all arguments but `slowness`: by rank, how much longer than the compute
  /// model says its kernels take; empty if none is slow. A slow GPU is slow in all it has: its
  /// kernels take the same share of its memory bandwidth as on others.
  Lowering(const TaskGraph& graph, const ClusterGraph& cluster, const CollectiveModel& collectives,
           const ComputeModel& compute, std::vector<double> slowness = {});

  ~Lowering();

  const TaskGraph& graph() const { return graph_; }

  /// Time alone. `owner`: position of the rank in its os/p group. Markers take no time.
  ComputeTime compute_time(const Task& task, int owner) const;
  /// The same on this very rank, with its slowness.
  Seconds compute_time_on(const Task& task, Rank rank) const {
    return slowness(rank) * compute_time(task, owner(rank)).time;
  }
  double slowness(Rank rank) const {
    return slowness_.empty() ? 1 : slowness_[static_cast<std::size_t>(rank)];
  }
  const CollectiveTime& collective_time(const Task& task) const;
  /// Time alone of the slowest rank or group, with slow GPUs and links.
  Seconds slowest(const Task& task) const;

  /// Resources 0 .. link_count()-1 are the links; then SMs and HBM, rank by rank.
  int link_count() const { return cluster_.link_count(); }
  BytesPerSec capacity(LinkId link) const { return cluster_.link(link).available; }
  int resource_count() const;
  ResourceKind kind(int resource) const;

  /// Position of a rank in its os/p group.
  int owner(Rank rank) const;
  /// process_groups() of a collective's mesh.
  const std::vector<std::vector<Rank>>& groups(const SubMesh& mesh) const;
  /// Ordered by resource.
  std::vector<ResourceUse> compute_uses(const Task& task, Rank rank) const;
  std::vector<ResourceUse> collective_uses(const Task& task, int group) const;
  /// What collective_uses is made of: the fraction of a link (above 1 where a link is too slow for
  /// the nominal time), and of the SMs and the HBM of every member. Fractions of a collective that
  /// takes no time are 0.
  double link_fraction(const Task& task, const LinkLoad& load) const;
  double sm_fraction(const Task& task) const;
  double hbm_fraction(const Task& task) const;
  /// CollectiveModel::load_pattern.
  int load_pattern(const CollectiveCall& call) const { return collectives_.load_pattern(call); }
  /// Bytes on each link by one group of a collective.
  std::vector<LinkLoad> loads(const Task& task, int group) const;

  /// loads() of every collective and group at once. Built when first asked for, then kept: calls
  /// from several threads need a lock.
  const LoadGraph& load_graph() const;

  /// Compute works without a measurement, and collectives derived, modelled or extrapolated:
  /// one line each, in graph order, without duplicates.
  std::vector<std::string> unmeasured() const;

 private:
  /// How much longer than its nominal time a collective takes alone, for slow links.
  double stretch(const Task& task) const;

  const TaskGraph& graph_;
  const ClusterGraph& cluster_;
  const CollectiveModel& collectives_;
  const ComputeModel& compute_;
  std::vector<CollectiveTime> collective_times_;         // by collective work
  std::vector<std::vector<ComputeTime>> compute_times_;  // by compute work and owner
  std::vector<int> owners_;                              // by rank
  std::vector<double> slowness_;                         // by rank, or empty
  std::vector<double> most_slowness_;                    // by owner, if slowness_ isn't empty
  bool is_degraded_ = false;                             // a link has less than its capacity
  std::map<SubMesh, std::vector<std::vector<Rank>>> groups_;
  mutable std::unique_ptr<LoadGraph> load_graph_;
  mutable std::vector<double> worst_;  // by load pattern: seconds on the slowest link
};

}  // namespace amsp
