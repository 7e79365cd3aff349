#pragma once

#include <map>
#include <memory>
#include <utility>

#include "topology/collective/collective.h"
#include "topology/collective/collective_ring.h"
#include "topology/graph/cluster_graph.h"
#include "topology/nccl/loads.h"
#include "topology/profile/collective_profile.h"
#include "topology/spec/placement.h"

namespace amsp {

/// Both models load the links as rings do, the profiled one those of another algorithm where the
/// profile names it. A group call of broadcasts moves its messages one
/// after the other: its time is that of one message of their total size, plus
/// next_message_latency for each after the first. Nobody sends where `bytes` is 0: no time.
///
/// No answer is faster than its links allow: for every group of the mesh and every link,
///   load / capacity <= time
/// with the load that `hop_share` of all bytes puts on every hop.

/// Without measurements: NCCL's ring latency plus the slowest link's load / capacity, the worst
/// group counting. Source kModelled.
/// Against a800-4xhdr, messages from 1 GB on, it takes 0.95 of the measured
/// time in the median, 0.62 to 1.06 at worst (512 GPUs do not reach the best rate below 2 GiB).
class RingCollectives : public CollectiveModel {
 public:
  RingCollectives(const ClusterGraph& graph, const Placement& placement);
  CollectiveTime time(const CollectiveCall& call) const override;
  std::vector<LinkLoad> loads(const CollectiveCall& call, int group) const override;
  int load_pattern(const CollectiveCall& /*call*/) const override { return 0; }

 private:
  RingNetwork network_;
};

/// From a profile of this hardware.
///   measured   meshes inside a node, strided or not where it has an NVSwitch; whole nodes,
///              whatever their stride (CollectiveProfile::lookup says how it interpolates)
///   derived    other meshes over b nodes: equal bytes through each NIC at equal node count take
///              equal time. With K NICs used per node, n members and share = hop_share(kind, n),
///              the time is that of the whole-node mesh Rxb with all its NICs on a message of
///                v' = v * share(n) / K * NICs / share(R*b)
///              Where Rxb ran another algorithm, share is 1 for both, and the mesh runs it with
///              chains inside (trees, or SHARP)
/// The rule against the rows of a800-4xhdr with 1 and 2 NICs (64 to 512 GPUs, from 64 MiB on)
/// errs, median / maximum, by 5 / 25 % for all-gather, 2 / 20 % for all-reduce and 16 / 93 % for
/// broadcast (64 MiB on 512 GPUs with 1 NIC); from 1 GiB on by 4 / 12, 2 / 6 and 10 / 34 %. It
/// tends to be too slow.
///
/// Throws ConfigError if the profile has no answer, if `profile_strict` and the answer is not
/// measured or extrapolated beyond the largest size, and if it is too fast for a link (by more than
/// 1e-9).
class ProfiledCollectives : public CollectiveModel {
 public:
  ProfiledCollectives(CollectiveProfile profile, const ClusterGraph& graph,
                      const Placement& placement);
  CollectiveTime time(const CollectiveCall& call) const override;
  std::vector<LinkLoad> loads(const CollectiveCall& call, int group) const override;
  int load_pattern(const CollectiveCall& call) const override {
    return static_cast<int>(algorithm(call));
  }

  const CollectiveProfile& profile() const { return profile_; }
  /// Whether the profile has an answer, measured or derived.
  bool covers(const CollectiveCall& call) const;

 private:
  std::optional<CollectiveTime> message_time(const CollectiveCall& call) const;
  void check_strict(const CollectiveCall& call, const CollectiveTime& time) const;
  void check_capacity(const CollectiveCall& call, Seconds time) const;
  /// What ran the measurement that answers.
  NcclAlgorithm algorithm(const CollectiveCall& call) const;
  /// The link that takes longest for a byte of message, the worst of all groups, each alone.
  RingNetwork::Bottleneck bottleneck(const CollectiveCall& call) const;
  const RingNetwork& network() const { return loads_.rings(); }

  CollectiveProfile profile_;
  nccl::Loads loads_;
  mutable std::map<std::pair<SubMesh, NcclAlgorithm>, RingNetwork::Bottleneck> bottlenecks_;
};

/// The same times as another model's, but group calls of broadcasts load links as if every member
/// sent an equal part: (n-1)/n of all bytes on every hop of a ring, where by root it is all bytes
/// less what the hop's end itself sends. What the call takes alone doesn't change, and members
/// become alike, so that far more of a network folds. For screening: on 1,024 A800 GPUs the steps
/// of LLaMA-30B's plans change by up to 0.06 %.
class EvenBroadcasts : public CollectiveModel {
 public:
  explicit EvenBroadcasts(std::unique_ptr<CollectiveModel> model) : model_(std::move(model)) {}
  CollectiveTime time(const CollectiveCall& call) const override { return model_->time(call); }
  std::vector<LinkLoad> loads(const CollectiveCall& call, int group) const override;
  int load_pattern(const CollectiveCall& call) const override { return model_->load_pattern(call); }

 private:
  std::unique_ptr<CollectiveModel> model_;
  mutable std::map<std::pair<SubMesh, int>, std::vector<LinkLoad>> unit_loads_;  // a byte a root
};

/// Throws ConfigError if the profile was measured on other hardware than `cluster` describes (GPU,
/// GPUs and NICs per node, NVLink, bandwidths); says what differs and how to go on without it.
void check_hardware(const CollectiveProfile& profile, const ClusterSpec& cluster);

/// Whether NCCL's model times a cluster without profile; else rings do.
bool uses_nccl_model(const ClusterSpec& cluster);
/// "NCCL runs them", "NCCL with SHARP runs them", "rings"
std::string collectives_model(const ClusterSpec& cluster);

/// The model that the cluster asks for: its `profile` from data/profiles; if it names none, NCCL's
/// own choices (NcclCollectives) where the GPU's architecture is known, else rings. Throws
/// ConfigError for an unknown profile and as check_hardware does. `graph` and `placement` must
/// outlive the model.
std::unique_ptr<CollectiveModel> make_collectives(const ClusterGraph& graph,
                                                  const Placement& placement);

}  // namespace amsp
