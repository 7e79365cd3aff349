#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/quantity.h"
#include "topology/collective/ring_latency.h"
#include "topology/models/collective_models.h"

namespace amsp {
namespace {

std::string describe(const CollectiveCall& call) {
  return fmt::format("{} of {} on mesh {}", to_string(call.kind), format_bytes(call.bytes),
                     to_string(call.mesh));
}

}  // namespace

ProfiledCollectives::ProfiledCollectives(CollectiveProfile profile, const ClusterGraph& graph,
                                         const Placement& placement)
    : profile_(std::move(profile)), loads_(graph, placement) {}

CollectiveTime ProfiledCollectives::time(const CollectiveCall& call) const {
  if (call.mesh.size() == 1 || call.bytes.value == 0) return {};
  const std::optional<CollectiveTime> message = message_time(call);
  if (!message) {
    throw ConfigError(fmt::format("profile '{}' has no measurement for {}; for {} it covers {}",
                                  profile_.name(), describe(call), to_string(call.kind),
                                  profile_.coverage(call.kind)));
  }
  CollectiveTime result = *message;
  result.time += later_messages(call) *
                 next_message_latency(call.mesh.shape, network().graph().spec().node.nvlink);
  if (network().graph().spec().profile_strict) check_strict(call, result);
  check_capacity(call, result.time);
  return result;
}

bool ProfiledCollectives::covers(const CollectiveCall& call) const {
  return call.mesh.size() == 1 || call.bytes.value == 0 || message_time(call).has_value();
}

std::vector<LinkLoad> ProfiledCollectives::loads(const CollectiveCall& call, int group) const {
  return loads_.of(algorithm(call), call, group);
}

NcclAlgorithm ProfiledCollectives::algorithm(const CollectiveCall& call) const {
  const ProfileHardware& hardware = profile_.hardware();
  const Mesh shape = call.mesh.shape;
  if (shape.inter == 1 || shape.intra == hardware.gpus_per_node)
    return profile_.algorithm(call.kind, shape, hardware.nics_per_node);
  // Parts of nodes do the same over nodes, and chains inside.
  switch (profile_.algorithm(call.kind, {hardware.gpus_per_node, shape.inter},
                             hardware.nics_per_node)) {
    case NcclAlgorithm::kRing:
    case NcclAlgorithm::kPat:
      return NcclAlgorithm::kRing;
    case NcclAlgorithm::kTree:
    case NcclAlgorithm::kNvlsTree:
      return NcclAlgorithm::kTree;
    case NcclAlgorithm::kNvls:
    case NcclAlgorithm::kCollNetDirect:
    case NcclAlgorithm::kCollNetChain:
      return NcclAlgorithm::kCollNetChain;
  }
  throw InternalError("an NcclAlgorithm outside its enumeration");
}

RingNetwork::Bottleneck ProfiledCollectives::bottleneck(const CollectiveCall& call) const {
  const NcclAlgorithm ran = algorithm(call);
  if (ran == NcclAlgorithm::kRing) {
    RingNetwork::Bottleneck worst = network().bottleneck(call.mesh);
    const double share = hop_share(call.kind, call.mesh.size());
    worst.load *= share;
    worst.seconds_per_byte *= share;
    return worst;
  }
  const auto [entry, is_new] = bottlenecks_.try_emplace({call.mesh, ran});
  RingNetwork::Bottleneck& worst = entry->second;
  if (!is_new) return worst;
  for (int group = 0; group < static_cast<int>(loads_.groups(call.mesh).size()); ++group)
    for (const LinkLoad& load : loads_.of(ran, call, group)) {
      const double per_byte = load.bytes / static_cast<double>(call.bytes.value);
      const double seconds = per_byte / network().graph().link(load.link).capacity.value;
      if (seconds > worst.seconds_per_byte) worst = {load.link, per_byte, seconds};
    }
  return worst;
}

std::optional<CollectiveTime> ProfiledCollectives::message_time(const CollectiveCall& call) const {
  const Mesh shape = call.mesh.shape;
  const ProfileHardware& hardware = profile_.hardware();
  if (shape.inter == 1) {
    auto found = profile_.lookup(call.kind, shape, 0, call.bytes);
    const bool alike = call.mesh.stride.intra == 1 || hardware.nvlink == NvlinkKind::kSwitch;
    if (found && !alike) found->source = Source::kDerived;
    return found;
  }
  if (shape.intra == hardware.gpus_per_node)
    return profile_.lookup(call.kind, shape, hardware.nics_per_node, call.bytes);

  const Mesh reference{hardware.gpus_per_node, shape.inter};
  // What else than rings puts on a NIC depends on the nodes only, of which there are as many.
  const bool is_ring = algorithm(call) == NcclAlgorithm::kRing;
  const double share = is_ring ? hop_share(call.kind, shape.size()) : 1;
  const double reference_share = is_ring ? hop_share(call.kind, reference.size()) : 1;
  const double nic_bytes =
      static_cast<double>(call.bytes.value) * share / network().nics(call.mesh);
  const double bytes = nic_bytes * hardware.nics_per_node / reference_share;
  auto found = profile_.lookup(call.kind, reference, hardware.nics_per_node,
                               {std::max<std::int64_t>(1, std::llround(bytes))});
  if (found) found->source = Source::kDerived;
  return found;
}

void ProfiledCollectives::check_strict(const CollectiveCall& call,
                                       const CollectiveTime& time) const {
  if (time.source == Source::kMeasured) {
    if (!time.extrapolated) return;
    // Below the smallest measured size time is latency, the same down to a single byte.
    CollectiveCall byte = call;
    byte.bytes = 1_B;
    if (const auto least = message_time(byte); least && least->time == time.time) return;
  }
  throw ConfigError(fmt::format(
      "profile '{}' is strict, but the time of {} is {}; for {} it covers {}", profile_.name(),
      describe(call), time.extrapolated ? "extrapolated" : to_string(time.source),
      to_string(call.kind), profile_.coverage(call.kind)));
}

void ProfiledCollectives::check_capacity(const CollectiveCall& call, Seconds time) const {
  // Measured with all links in place: the simulation slows what detours slow.
  if (network().graph().has_failures()) return;
  const RingNetwork::Bottleneck worst = bottleneck(call);
  const auto bytes = static_cast<double>(call.bytes.value);
  const Seconds least{bytes * worst.seconds_per_byte};
  if (time.value >= least.value * (1 - 1e-9)) return;

  const ClusterGraph& graph = network().graph();
  const Link& link = graph.link(worst.link);
  std::string source = fmt::format("given by cluster '{}'", graph.spec().name);
  const auto add_measured = [&](const MeasuredCapacity& best) {
    source += fmt::format("; the profile has {}: {}", format_bandwidth(best.rate), best.source);
  };
  if (link.kind == LinkKind::kNic) add_measured(profile_.nic_capacity());
  if (link.kind == LinkKind::kNvlink) add_measured(profile_.port_capacity());
  throw ConfigError(fmt::format(
      "{} takes {} by profile '{}', but {} needs {} for its {} at its capacity of {} ({})",
      describe(call), format_time(time), profile_.name(), graph.link_name(worst.link),
      format_time(least), format_bytes({std::llround(bytes * worst.load)}),
      format_bandwidth(link.capacity), source));
}

}  // namespace amsp
