#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "topology/collective/collective.h"
#include "topology/nccl/channels.h"
#include "topology/nccl/loads.h"
#include "topology/nccl/tuner.h"

namespace amsp {

/// Collectives as NCCL 2.28.9 runs them, without measurements of this cluster. Source kModelled.
///
/// NCCL picks algorithm and protocol by the least time of its own estimate (nccl::estimate) among
/// those that the cluster and its settings allow; the first of equals. What that choice then takes
/// is another matter: `time` starts from the links of the cluster, keeps NCCL's latencies and
/// limits where measurements agree with them, and corrects the rest by the constants of
/// nccl_constants.h, each with its source:
///   time = latency + bytes / rate + ramp
///   rate    the least of: the slowest link's capacity / its load per byte, times the share that
///   the
///           algorithm reaches; NCCL's limits per channel and protocol; what SHARP reduces
///   ramp    of messages too small for full chunks
/// No answer is faster than its links allow. docs/collectives.md compares it with measurements.
class NcclCollectives : public CollectiveModel {
 public:
  /// Keeps references. Requires graph.spec().gpu.architecture.
  NcclCollectives(const ClusterGraph& graph, const Placement& placement);

  /// Throw InfeasibleError if nothing that the settings allow can run the call, with each reason.
  CollectiveTime time(const CollectiveCall& call) const override;
  std::vector<LinkLoad> loads(const CollectiveCall& call, int group) const override;
  int load_pattern(const CollectiveCall& call) const override;

  /// One way to run a call.
  struct Candidate {
    nccl::Choice choice;
    std::optional<std::string> obstacle;  // why not; then there are no times
    bool allowed = true;                  // by forced algorithms and protocols
    Seconds nccl_time;                    // NCCL's estimate, by which it chooses
    Seconds time;                         // of this model
  };
  /// All algorithms with all protocols that they have, in the order of the enumerations.
  std::vector<Candidate> candidates(const CollectiveCall& call) const;
  nccl::Choice choose(const CollectiveCall& call) const;
  /// What the time of a choice is made of.
  struct Parts {
    Seconds latency;  // of all messages of the call
    Seconds moving;   // bytes / rate
    Seconds filling;  // the ramp
    Seconds total() const { return latency + moving + filling; }
  };
  Parts parts(const CollectiveCall& call, const nccl::Choice& choice) const;
  std::vector<LinkLoad> loads(const CollectiveCall& call, NcclAlgorithm algorithm,
                              int group) const {
    return loads_.of(algorithm, call, group);
  }

  nccl::Layout layout(const SubMesh& mesh) const;
  const nccl::Graphs& graphs(const SubMesh& mesh) const;
  int channels(const SubMesh& mesh) const;

 private:
  /// Seconds per byte of message on the slowest link of a kind.
  struct Limits {
    double nvlink = 0, nic = 0, other = 0;
  };
  const Limits& limits(NcclAlgorithm algorithm, const CollectiveCall& call) const;
  double rate(const CollectiveCall& call, const nccl::Choice& choice) const;
  Seconds alone_latency(const CollectiveCall& call, const nccl::Choice& choice) const;
  Seconds next_message(const CollectiveCall& call, NcclProtocol protocol) const;
  bool allows(CollectiveKind kind, const nccl::Choice& choice) const;

  const ClusterGraph* graph_;
  nccl::Loads loads_;
  mutable std::map<SubMesh, nccl::Graphs> graphs_;
  mutable std::map<std::tuple<NcclAlgorithm, CollectiveKind, SubMesh>, Limits> limits_;
  mutable std::map<std::tuple<CollectiveKind, SubMesh, Bytes, int>, nccl::Choice> choices_;
};

}  // namespace amsp
