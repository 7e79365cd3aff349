#include "topology/nccl/collectives.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/error.h"
#include "core/nearest.h"
#include "core/quantity.h"
#include "topology/collective/nccl_constants.h"
#include "topology/graph/boost_graph.h"

namespace amsp {
namespace {

using enum NcclAlgorithm;
using nccl::Choice;

/// The load of one call per byte is asked with this many.
constexpr Bytes kProbe{std::int64_t{1} << 40};

std::size_t row(GpuArchitecture architecture) {
  return static_cast<std::size_t>(architecture) - 1;
}

bool has_protocol(NcclAlgorithm algorithm, NcclProtocol protocol) {
  return protocol == NcclProtocol::kSimple || algorithm == kRing || algorithm == kTree;
}

/// Of the fastest link that joins a GPU or NIC to the rest of its node, NVLink aside.
double pcie_bandwidth(const ClusterGraph& graph, VertexId from) {
  double best = 0;
  for (const auto& edge : boost::make_iterator_range(boost::out_edges(from, graph.graph()))) {
    const bool stays = graph.vertex(boost::target(edge, graph.graph())).node >= 0;
    const Link& link = graph.graph()[edge];
    if (stays && link.kind != LinkKind::kNvlink) best = std::max(best, link.bandwidth.value);
  }
  return best;
}

}  // namespace

NcclCollectives::NcclCollectives(const ClusterGraph& graph, const Placement& placement)
    : graph_(&graph), loads_(graph, placement) {
  AMSP_CHECK(graph.spec().gpu.architecture != GpuArchitecture::kUnknown,
             "NCCL's model needs the GPU's architecture");
}

nccl::Layout NcclCollectives::layout(const SubMesh& mesh) const {
  const ClusterSpec& spec = graph_->spec();
  const NodeSpec& node = spec.node;
  nccl::Layout layout;
  layout.architecture = spec.gpu.architecture;
  layout.gpus = mesh.shape.intra;
  layout.nodes = mesh.shape.inter;
  layout.nics = loads_.rings().nics(mesh);
  layout.nvlink = node.nvlink != NvlinkKind::kNone;
  layout.nvswitch = node.nvlink == NvlinkKind::kSwitch;
  const VertexId gpu = graph_->gpu(0, 0);
  layout.inside = layout.nvlink ? nccl::kNvlinkShare[row(layout.architecture)] *
                                      node.nvlink_bandwidth.value / 1e9
                                : nccl::kPcieShare * pcie_bandwidth(*graph_, gpu) / 1e9;
  if (node.nvlink == NvlinkKind::kDirect && node.gpus > 1 && layout.gpus > 1)
    layout.inside *= static_cast<double>(layout.gpus - 1) / (node.gpus - 1);
  if (node.nics > 0)
    layout.nic = std::min(node.nic_bandwidth.value,
                          nccl::kPcieShare * pcie_bandwidth(*graph_, graph_->nic(0, 0))) /
                 1e9;
  return layout;
}

const nccl::Graphs& NcclCollectives::graphs(const SubMesh& mesh) const {
  const auto found = graphs_.find(mesh);
  if (found != graphs_.end()) return found->second;
  return graphs_.emplace(mesh, nccl::find_graphs(layout(mesh))).first->second;
}

int NcclCollectives::channels(const SubMesh& mesh) const {
  return nccl::kernel_channels(layout(mesh), graphs(mesh), graph_->spec().nccl.sharp);
}

bool NcclCollectives::allows(CollectiveKind kind, const Choice& choice) const {
  const NcclSpec& spec = graph_->spec().nccl;
  const auto listed = [&](const auto& by_operation, auto value) {
    const auto found = by_operation.find(to_string(kind));
    return found == by_operation.end() ||
           std::find(found->second.begin(), found->second.end(), value) != found->second.end();
  };
  return listed(spec.algorithms, choice.algorithm) && listed(spec.protocols, choice.protocol);
}

std::vector<NcclCollectives::Candidate> NcclCollectives::candidates(
    const CollectiveCall& call) const {
  const NcclSpec& spec = graph_->spec().nccl;
  const nccl::Layout shape = layout(call.mesh);
  std::vector<Candidate> result;
  for (const NcclAlgorithm algorithm : kNcclAlgorithms)
    for (const NcclProtocol protocol : kNcclProtocols) {
      if (!has_protocol(algorithm, protocol)) continue;
      Candidate candidate;
      candidate.choice = {algorithm, protocol};
      candidate.obstacle = nccl::obstacle(call.kind, candidate.choice, shape, spec);
      candidate.allowed = allows(call.kind, candidate.choice);
      if (!candidate.obstacle) {
        candidate.nccl_time =
            nccl::estimate(call.kind, candidate.choice, call.bytes, shape, graphs(call.mesh), spec)
                .time(call.bytes, 1 + later_messages(call));
        candidate.time = parts(call, candidate.choice).total();
      }
      result.push_back(std::move(candidate));
    }
  return result;
}

Choice NcclCollectives::choose(const CollectiveCall& call) const {
  const int messages = 1 + later_messages(call);
  const auto [known, is_new] =
      choices_.try_emplace({call.kind, call.mesh, call.bytes, messages}, Choice{});
  if (!is_new) return known->second;
  const NcclSpec& spec = graph_->spec().nccl;
  const nccl::Layout shape = layout(call.mesh);
  std::optional<Seconds> least;
  std::vector<std::string> reasons;
  for (const NcclAlgorithm algorithm : kNcclAlgorithms)
    for (const NcclProtocol protocol : kNcclProtocols) {
      const Choice choice{algorithm, protocol};
      if (!allows(call.kind, choice)) continue;
      if (const auto obstacle = nccl::obstacle(call.kind, choice, shape, spec)) {
        const std::string reason = fmt::format("{}: {}", to_string(algorithm), *obstacle);
        if (reasons.empty() || reasons.back() != reason) reasons.push_back(reason);
        continue;
      }
      const Seconds time =
          nccl::estimate(call.kind, choice, call.bytes, shape, graphs(call.mesh), spec)
              .time(call.bytes, messages);
      if (least && *least <= time) continue;
      least = time;
      known->second = choice;
    }
  if (least) return known->second;
  choices_.erase(known);
  throw InfeasibleError(fmt::format("collectives: nothing that is allowed runs {} on mesh {}: {}",
                                    to_string(call.kind), to_string(call.mesh),
                                    join(reasons, "; ")));
}

const NcclCollectives::Limits& NcclCollectives::limits(NcclAlgorithm algorithm,
                                                       const CollectiveCall& call) const {
  const auto [entry, is_new] = limits_.try_emplace({algorithm, call.kind, call.mesh});
  Limits& worst = entry->second;
  if (!is_new) return worst;
  const bool is_half =
      call.kind == CollectiveKind::kAllGather || call.kind == CollectiveKind::kReduceScatter;
  if (algorithm == kRing && is_half) {  // half of what an all-reduce puts on the same links
    const auto& [nvlink, nic, other] =
        limits(kRing, {CollectiveKind::kAllReduce, call.mesh, call.bytes, {}});
    return worst = {nvlink / 2, nic / 2, other / 2};
  }
  const CollectiveCall probe{call.kind, call.mesh, kProbe, {}};
  const auto& groups = loads_.groups(call.mesh);
  for (int group = 0; group < static_cast<int>(groups.size()); ++group) {
    // Nodes are alike inside, so one of them speaks for all.
    const Rank first = groups[static_cast<std::size_t>(group)].front();
    if (call.mesh.shape.inter == 1 && first >= loads_.rings().dp().intra) break;
    for (const auto& [id, bytes] : loads_.of(algorithm, probe, group)) {
      const Link& link = graph_->link(id);
      double& limit = link.kind == LinkKind::kNvlink ? worst.nvlink
                      : link.kind == LinkKind::kNic  ? worst.nic
                                                     : worst.other;
      limit = std::max(limit, bytes / static_cast<double>(kProbe.value) / link.capacity.value);
    }
  }
  return worst;
}

double NcclCollectives::rate(const CollectiveCall& call, const Choice& choice) const {
  const ClusterSpec& spec = graph_->spec();
  const nccl::Layout shape = layout(call.mesh);
  const std::size_t generation = row(shape.architecture);
  const auto [nvlink, nic, other] = limits(choice.algorithm, call);
  const double alone = 1 / std::max({nvlink, nic, other});
  const double nccl_rate =
      nccl::estimate(call.kind, choice, call.bytes, shape, graphs(call.mesh), spec.nccl).rate.value;
  const bool reduces_all = call.kind == CollectiveKind::kAllReduce;
  const double nics = shape.nics * spec.node.nic_bandwidth.value;
  const bool is_fast_nic = spec.node.nic_bandwidth.value >= nccl::kFewQueuePairsNic * 1e9;

  switch (choice.algorithm) {
    case kRing: {
      double slowed = nic;
      if (is_fast_nic && spec.nccl.qps_per_connection < 2 &&
          channels(call.mesh) < nccl::kEnoughChannels)
        slowed *= std::max(1.0, spec.node.nic_capacity.value /
                                    (nccl::kFewQueuePairsShare * spec.node.nic_bandwidth.value));
      const double ring = 1 / std::max({nvlink, slowed, other});
      if (choice.protocol == NcclProtocol::kSimple) return ring;
      if (choice.protocol == NcclProtocol::kLl) return std::min(nccl_rate, ring);
      return std::min(nccl_rate, nccl::kRingLl128Share * ring);
    }
    case kTree:
      return std::min(nccl_rate, alone);
    case kNvls: {
      const double port = reduces_all ? nccl::kNvlsPort[generation] : nccl::kNvlsGatherPort;
      double result =
          std::min({alone, port / nvlink,
                    nccl::kNvlsMostBus[generation] * 1e9 / hop_share(call.kind, call.mesh.size())});
      if (shape.nodes > 1) result = std::min(result, nccl::kSharpDirect * nics);
      return result;
    }
    case kNvlsTree: {
      const double port = nccl::kNvlsPort[generation] * nccl::kNvlsTreePort;
      const double result = std::min(alone, port / nvlink);
      if (shape.nodes <= 2) return result;
      return std::min(result, nccl::kNvlsTreeManyNodes * nccl_rate);
    }
    case kCollNetDirect:
    case kCollNetChain: {
      if (!reduces_all) return std::min(alone, nccl::kSharpGather * nics);
      const double newer =
          choice.algorithm == kCollNetChain ? nccl::kSharpChain : nccl::kSharpDirect;
      return std::min(alone, (is_fast_nic ? newer : nccl::kSharpHdr) * nics);
    }
    case kPat:
      return nccl::kPatShare * alone;
  }
  throw InternalError("an NcclAlgorithm outside its enumeration");
}

Seconds NcclCollectives::alone_latency(const CollectiveCall& call, const Choice& choice) const {
  const nccl::Layout shape = layout(call.mesh);
  if (call.kind == CollectiveKind::kBroadcast && choice.protocol == NcclProtocol::kLl) {
    const double inside = (shape.nvlink ? nccl::kNvlinkHops : nccl::kPcieHops).ring[0];
    return Seconds{(nccl::kBaseRing[0] + (shape.size() - shape.nodes) * inside +
                    (shape.nodes - 1) * nccl::kNetworkHops.ring[0]) *
                   1e-6};
  }
  const Seconds latency =
      nccl::estimate(call.kind, choice, call.bytes, shape, graphs(call.mesh), graph_->spec().nccl)
          .latency;
  const bool slower = shape.nodes >= nccl::kManyNodes && choice.protocol != NcclProtocol::kLl;
  return slower ? nccl::kManyNodesLatency * latency : latency;
}

Seconds NcclCollectives::next_message(const CollectiveCall& call, NcclProtocol protocol) const {
  const auto at = static_cast<std::size_t>(protocol);
  const nccl::HopLatency& inside =
      graph_->spec().node.nvlink == NvlinkKind::kNone ? nccl::kPcieHops : nccl::kNvlinkHops;
  const double hop = call.mesh.shape.inter > 1 ? nccl::kNetworkHops.ring[at] : inside.ring[at];
  return Seconds{(nccl::kBaseRing[at] + hop) * 1e-6};
}

NcclCollectives::Parts NcclCollectives::parts(const CollectiveCall& call,
                                              const Choice& choice) const {
  if (call.mesh.size() == 1 || call.bytes.value == 0) return {};
  const nccl::Layout shape = layout(call.mesh);
  const std::size_t generation = row(shape.architecture);
  const Seconds latency =
      alone_latency(call, choice) + later_messages(call) * next_message(call, choice.protocol);
  const Seconds moving{static_cast<double>(call.bytes.value) / rate(call, choice)};
  nccl::Ramp ramp{0, 0};
  if (choice.algorithm == kNvls || choice.algorithm == kNvlsTree)
    ramp = nccl::kNvlsRamp[generation];
  else if (shape.nodes == 1 && choice.protocol == NcclProtocol::kSimple)
    ramp = nccl::kRingRamp[generation];
  return {latency, moving, std::min(ramp.share * moving, Seconds{ramp.most * 1e-6})};
}

CollectiveTime NcclCollectives::time(const CollectiveCall& call) const {
  if (call.mesh.size() == 1 || call.bytes.value == 0) return {{}, Source::kModelled, false};
  return {parts(call, choose(call)).total(), Source::kModelled, false};
}

std::vector<LinkLoad> NcclCollectives::loads(const CollectiveCall& call, int group) const {
  if (call.mesh.size() == 1 || call.bytes.value == 0) return {};
  return loads_.of(choose(call).algorithm, call, group);
}

int NcclCollectives::load_pattern(const CollectiveCall& call) const {
  if (call.mesh.size() == 1 || call.bytes.value == 0) return 0;
  const NcclAlgorithm algorithm = choose(call).algorithm;
  if (algorithm == kRing) return 0;
  return static_cast<int>(algorithm) * 4 + static_cast<int>(call.kind);
}

}  // namespace amsp
