#include "topology/nccl/tuner.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/error.h"
#include "topology/collective/nccl_constants.h"

namespace amsp::nccl {
namespace {

using enum NcclAlgorithm;

std::size_t row(GpuArchitecture architecture) {
  return static_cast<std::size_t>(architecture) - 1;
}

int floor_log2(std::int64_t value) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value))) - 1;
}

/// Steps of a ring.
double ring_steps(CollectiveKind kind, int size) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return 2.0 * (size - 1);
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
      return size - 1;
    case CollectiveKind::kBroadcast:
      return size;
  }
  return 0;
}

/// One estimate on its way.
class Estimator {
 public:
  Estimator(CollectiveKind kind, const Choice& choice, Bytes bytes, const Layout& layout,
            const Graphs& graphs, const NcclSpec& spec)
      : kind_(kind),
        algorithm_(choice.algorithm),
        protocol_(static_cast<std::size_t>(choice.protocol)),
        bytes_(bytes),
        layout_(layout),
        graphs_(graphs),
        spec_(spec),
        generation_(row(layout.architecture)),
        scale_(layout.nodes == 1 ? 0 : (layout.nodes == 2 ? 1 : 2)) {}

  Estimate run() const { return {{latency() * 1e-6}, {rate() * 1e9}}; }

 private:
  bool is(NcclProtocol protocol) const { return protocol_ == static_cast<std::size_t>(protocol); }
  bool reduces_all() const { return kind_ == CollectiveKind::kAllReduce; }
  double log2_nodes() const { return floor_log2(layout_.nodes); }

  // --- GB/s

  const Channels& graph() const {
    switch (algorithm_) {
      case kTree:
        return graphs_.tree;
      case kNvls:
      case kNvlsTree:
        return graphs_.nvls;
      case kCollNetDirect:
        return graphs_.collnet_direct;
      case kCollNetChain:
        return graphs_.collnet_chain;
      case kRing:
      case kPat:
        return graphs_.ring;
    }
    throw InternalError("an NcclAlgorithm outside its enumeration");
  }

  double ll_most() const {
    const std::size_t vendor = spec_.amd_cpu ? 1 : 0;
    return kLlMost[layout_.nodes == 1 ? generation_ : vendor][scale_];
  }

  double ring_bus(double bus) const {
    if (is(NcclProtocol::kLl)) return std::min(ll_most(), bus * kRingLlShare);
    if (is(NcclProtocol::kLl128))
      return std::min(bus * kRingLl128Share,
                      graph().count * kRingLl128Channel[generation_][scale_]);
    return bus;
  }

  double tree_bus(double bus) const {
    bus = std::min(bus * kTreeShare, graph().count * kTreeChannel[generation_][scale_]);
    if (is(NcclProtocol::kLl)) bus = std::min(bus / kTreeLlDivisor, ll_most());
    if (is(NcclProtocol::kLl128))
      bus = std::min(bus * (layout_.nodes == 1 ? 7.0 / 9 : 120.0 / 128),
                     graph().count * kTreeLl128Channel[generation_][scale_]);
    const int size = floor_log2(std::max<std::int64_t>(1, bytes_.value >> 6));
    if (bytes_.value >= 64 && size < 23) bus *= kTreeCorrection[protocol_][size];
    return bus;
  }

  double nvls_bus() const {
    const Channels& nvls = graphs_.nvls;
    double inside = nvls.inside * kNvlsEfficiency[generation_] * (nvls.count - 1) / nvls.count;
    inside *= reduces_all() ? 2 : static_cast<double>(layout_.gpus - 1) / layout_.gpus;
    if (algorithm_ == kNvlsTree) {
      inside = std::min(inside, nvls.over_nodes * (layout_.nodes <= 2 ? 2 : 1));
      if (const double most = kNvlsTreeChannel[generation_][scale_]; most > 0)
        inside = std::min(inside, most);
    } else if (layout_.nodes > 1) {
      inside = std::min(inside, nvls.over_nodes);
    }
    return nvls.count * inside;
  }

  double collnet_direct() const {
    const Channels& direct = graphs_.collnet_direct;
    if (!reduces_all()) return layout_.gpus * std::min(direct.inside, .9 * direct.over_nodes);
    const double per_channel = static_cast<double>(layout_.gpus) / direct.count;
    const double factor = per_channel - (per_channel - 1) / 2;
    const bool newer = layout_.architecture >= GpuArchitecture::kHopper;
    return direct.count * direct.inside / factor * (newer ? kCollNetDirectHopperShare : 1);
  }

  double rate() const {
    const Channels& channels = graph();
    const double bus =
        channels.count * (layout_.nodes <= 2 ? channels.inside : channels.over_nodes);
    const double by_steps = layout_.size() / ring_steps(kind_, layout_.size());
    switch (algorithm_) {
      case kRing:
        return ring_bus(bus) * by_steps;
      case kTree:
        return tree_bus(bus) / 2;
      case kNvls:
      case kNvlsTree:
        return nvls_bus() * by_steps;
      case kCollNetDirect:
        return collnet_direct() / (reduces_all() ? 2 : 1);
      case kCollNetChain:
        return channels.count * channels.inside / 2;
      case kPat:
        return bus * kPatShare * by_steps;
    }
    throw InternalError("an NcclAlgorithm outside its enumeration");
  }

  // --- microseconds

  const HopLatency& hops() const { return layout_.nvlink ? kNvlinkHops : kPcieHops; }

  double ring_latency() const {
    const double inside = hops().ring[protocol_];
    const double network = kNetworkHops.ring[protocol_];
    const double steps = ring_steps(kind_, layout_.size());
    const double base = kBaseRing[protocol_];
    if (kind_ == CollectiveKind::kBroadcast)
      return base + (layout_.nodes == 1 ? inside : steps * std::max(inside, network));
    if (layout_.nodes == 1) return base + steps * inside;
    const double outer = (reduces_all() ? 2 : 1) * (layout_.nodes - 1);
    const double host = (spec_.amd_cpu ? kNetworkOverheadAmd : kNetworkOverheadIntel) *
                        (is(NcclProtocol::kSimple) ? 3 : 1);
    double latency = base + (steps - outer) * std::max(inside, host) + outer * network;
    const double piece = static_cast<double>(bytes_.value) /
                         (2.0 * graphs_.ring.count * layout_.size());  // kernel channels
    if (is(NcclProtocol::kSimple) && reduces_all() && piece >= 64)
      latency *= layout_.architecture < GpuArchitecture::kAmpere ? kRingPlateauLatencyVolta
                                                                 : kRingPlateauLatency;
    return latency;
  }

  double latency() const {
    const double others = layout_.gpus - 1;
    switch (algorithm_) {
      case kRing:
        return ring_latency();
      case kTree:
        return kBaseTree[protocol_] +
               2 * (others * hops().tree[protocol_] + log2_nodes() * kNetworkHops.tree[protocol_]);
      case kNvls:
        return hops().nvls + (layout_.nodes > 1 ? kNetworkHops.nvls : 0);
      case kNvlsTree:
        return hops().nvls_tree + 2 * log2_nodes() * kNetworkHops.nvls_tree;
      case kCollNetDirect:
        return 2 * (hops().collnet_direct + others * kCollNetPerPeer) + kNetworkHops.collnet_direct;
      case kCollNetChain:
        return 2 * others * hops().collnet_chain + kNetworkHops.collnet_chain;
      case kPat:
        return kBasePat + log2_nodes() * kNetworkPat / kPatHopsAtOnce +
               kPatPerRank * layout_.size();
    }
    throw InternalError("an NcclAlgorithm outside its enumeration");
  }

  CollectiveKind kind_;
  NcclAlgorithm algorithm_;
  std::size_t protocol_;
  Bytes bytes_;
  const Layout& layout_;
  const Graphs& graphs_;
  const NcclSpec& spec_;
  std::size_t generation_, scale_;
};

/// The collectives that an algorithm has, for messages; empty: all.
std::string only(NcclAlgorithm algorithm) {
  switch (algorithm) {
    case kRing:
      return "";
    case kTree:
    case kNvlsTree:
    case kCollNetChain:
      return "all_reduce";
    case kNvls:
    case kCollNetDirect:
      return "all_reduce, all_gather, reduce_scatter";
    case kPat:
      return "all_gather, reduce_scatter";
  }
  throw InternalError("an NcclAlgorithm outside its enumeration");
}

std::optional<std::string> nvls_obstacle(NcclAlgorithm algorithm, const Layout& layout,
                                         const NcclSpec& spec) {
  if (layout.architecture < GpuArchitecture::kHopper)
    return fmt::format("NVSwitches reduce from generation hopper on, the GPUs are {}",
                       to_string(layout.architecture));
  if (!layout.nvswitch) return "it needs an NVSwitch, nodes have none";
  if (!spec.nvls) return "\"nvls\" is switched off";
  if (layout.gpus < 2) return "it needs at least 2 GPUs in a node";
  if (algorithm == kNvlsTree && layout.nodes < 2) return "it needs at least 2 nodes";
  if (algorithm == kNvls && layout.nodes > 1 && !spec.sharp)
    return "over nodes it needs switches that reduce (\"sharp\": true)";
  return std::nullopt;
}

std::optional<std::string> collnet_obstacle(CollectiveKind kind, const Choice& choice,
                                            const Layout& layout, const NcclSpec& spec) {
  if (!spec.sharp) return "it needs switches that reduce (\"sharp\": true)";
  if (layout.nodes < kLeastCollNetNodes)
    return fmt::format("it needs at least {} nodes", kLeastCollNetNodes);
  if (layout.gpus > kMostCollNetGpus)
    return fmt::format("it takes at most {} GPUs of a node, not {}", kMostCollNetGpus, layout.gpus);
  if (choice.algorithm == kCollNetDirect && kind != CollectiveKind::kAllReduce &&
      layout.nics < layout.gpus)
    return fmt::format("{} needs a NIC for each GPU of a node, {} GPUs share {}",
                       amsp::to_string(kind), layout.gpus, layout.nics);
  return std::nullopt;
}

}  // namespace

std::string to_string(const Choice& choice) {
  return fmt::format("{}/{}", amsp::to_string(choice.algorithm), amsp::to_string(choice.protocol));
}

std::optional<std::string> obstacle(CollectiveKind kind, const Choice& choice, const Layout& layout,
                                    const NcclSpec& spec) {
  const auto [algorithm, protocol] = choice;
  const std::string kinds = only(algorithm);
  if (!kinds.empty() &&
      (", " + kinds + ",").find(fmt::format(" {},", amsp::to_string(kind))) == std::string::npos)
    return "it has " + kinds + " only";
  if (algorithm != kRing && algorithm != kTree && protocol != NcclProtocol::kSimple)
    return "it has the protocol simple only";
  if (protocol == NcclProtocol::kLl128 && !layout.nvlink)
    return "it needs NVLink, which keeps 128-byte stores whole";
  switch (algorithm) {
    case kNvls:
    case kNvlsTree:
      return nvls_obstacle(algorithm, layout, spec);
    case kCollNetDirect:
    case kCollNetChain:
      return collnet_obstacle(kind, choice, layout, spec);
    case kPat:
      if (layout.gpus != 1) return fmt::format("it needs 1 GPU per node, not {}", layout.gpus);
      return std::nullopt;
    case kRing:
    case kTree:
      return std::nullopt;
  }
  throw InternalError("an NcclAlgorithm outside its enumeration");
}

Estimate estimate(CollectiveKind kind, const Choice& choice, Bytes bytes, const Layout& layout,
                  const Graphs& graphs, const NcclSpec& spec) {
  return Estimator(kind, choice, bytes, layout, graphs, spec).run();
}

}  // namespace amsp::nccl
