#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/units.h"
#include "topology/graph/cluster_graph.h"
#include "topology/spec/placement.h"

namespace amsp {

/// How a cluster differs today from its description. `where` is for messages.
struct Conditions {
  /// GPUs on which every kernel takes 1 / speed as long.
  struct SlowGpus {
    std::string at;  // as parse_vertices reads: "node3/gpu5", "node[0-3]/gpu[0-7]"
    double speed = 1;
    std::string where;
  };
  /// `at` is a vertex, for all its links; "a - b", for both directions between two; or "a -> b".
  /// Vertices as parse_vertices reads them; of several, all pairs.
  struct Links {
    std::string at;
    double share = 1;        // of the capacity that is left; 0: failed, no route crosses it
    BytesPerSec background;  // taken by traffic of others, which doesn't yield
    std::string where;
  };
  /// Compute times of a group of ranks are multiplied by a factor, drawn anew for every step:
  /// lognormal of mean 1, exp(sigma z - sigma^2 / 2) with a standard normal z.
  struct Jitter {
    double sigma = 0;
    std::uint64_t seed = 0;
    int ranks = 1;  // consecutive ranks with one factor
    int samples = 100;
  };

  std::vector<SlowGpus> slow_gpus;
  std::vector<Links> links;
  std::optional<Jitter> jitter;
};

/// One line for each entry, for people.
std::vector<std::string> describe(const Conditions& conditions);

/// Lowers what links can carry, and takes failed ones out of the graph. Throws ConfigError, by
/// `where`, for links that don't exist, for entries that together leave less than 0.001 of a
/// capacity, for background traffic that leaves nothing, and for failures that cut GPUs off.
void apply(const Conditions& conditions, ClusterGraph& graph);

/// By rank: how much longer than usual its kernels take, at least 1. Empty if no GPU is slow. A GPU
/// named twice is as slow as both together. Throws ConfigError for GPUs that don't exist; where
/// no rank runs on a GPU, nothing changes.
std::vector<double> slowness(const Conditions& conditions, const ClusterGraph& graph,
                             const Placement& placement);

}  // namespace amsp
