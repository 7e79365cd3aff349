#include "topology/collective/collective_ring.h"

#include <algorithm>

#include "core/error.h"
#include "topology/collective/ring_walks.h"

namespace amsp {
namespace {

/// Of a broadcast: bytes on the hops into each member.
std::vector<double> bytes_into(const CollectiveCall& call) {
  const auto total = static_cast<double>(call.bytes.value);
  std::vector<double> into(index(call.mesh.size()), hop_share(call.kind, call.mesh.size()) * total);
  if (call.bytes_by_root.empty()) {
    into[0] = 0;
    return into;
  }
  AMSP_CHECK(call.bytes_by_root.size() == into.size(), "{} roots in a group of {}",
             call.bytes_by_root.size(), into.size());
  Bytes sum;
  for (std::size_t i = 0; i < into.size(); ++i) {
    sum += call.bytes_by_root[i];
    into[i] = static_cast<double>((call.bytes - call.bytes_by_root[i]).value);
  }
  AMSP_CHECK(sum == call.bytes, "roots send {} bytes of {}", sum.value, call.bytes.value);
  return into;
}

/// One group on its way: turns hops between members into loads of links.
class RingLoader {
 public:
  RingLoader(const ClusterGraph& graph, const Placement& placement, const SubMesh& mesh,
             const std::vector<Rank>& group, const std::vector<double>& into, LoadSum& sum)
      : graph_(graph),
        intra_(mesh.shape.intra),
        inter_(mesh.shape.inter),
        is_direct_(graph.spec().node.nvlink == NvlinkKind::kDirect),
        into_(into),
        sum_(sum) {
    gpus_.reserve(group.size());
    for (const Rank rank : group) {
      const GpuAddress address = placement.address(rank);
      gpus_.push_back(graph.gpu(address.node, address.gpu));
    }
  }

  void inside_one_node() {
    double spread = 0;
    for (int i = 0; i < intra_; ++i) hop_inside(i, (i + 1) % intra_, 1, spread);
    add_spread(0, spread);
  }

  /// `back` are the walks of odd nodes.
  void over_nodes(const std::vector<RingWalk>& walks, const std::vector<RingWalk>& back) {
    const auto walks_of = [&](int node) -> const std::vector<RingWalk>& {
      return node % 2 == 0 ? walks : back;
    };
    const double part = 1.0 / static_cast<double>(walks.size());
    for (int node = 0; node < inter_; ++node) {
      const int here = node * intra_;
      const int next_node = (node + 1) % inter_;
      double spread = 0;
      for (std::size_t ring = 0; ring < walks.size(); ++ring) {
        const auto& [order, over_entry] = walks_of(node)[ring];
        for (std::size_t i = 1; i < order.size(); ++i)
          hop_inside(here + order[i - 1], here + order[i], part, spread);
        int from = here + order.back();
        const int to = next_node * intra_ + walks_of(next_node)[ring].order.front();
        if (over_entry) {
          add(from, here + order.front(), part * into_[index(to)]);
          from = here + order.front();
        }
        add(from, to, part * into_[index(to)]);
      }
      add_spread(here, spread);
    }
  }

 private:
  void add(int from, int to, double bytes) {
    if (bytes > 0) sum_.add(graph_.shifted_route(gpus_[index(from)], gpus_[index(to)]), bytes);
  }

  void hop_inside(int from, int to, double part, double& spread) {
    const double bytes = part * into_[index(to)];
    if (is_direct_) {
      spread += bytes;
    } else {
      add(from, to, bytes);
    }
  }

  void add_spread(int first, double bytes) {
    if (bytes <= 0) return;
    const double share = bytes / (intra_ * (intra_ - 1));
    for (int from = first; from < first + intra_; ++from)
      for (int to = first; to < first + intra_; ++to)
        if (from != to) add(from, to, share);
  }

  const ClusterGraph& graph_;
  int intra_, inter_;
  bool is_direct_;
  std::vector<VertexId> gpus_;
  const std::vector<double>& into_;
  LoadSum& sum_;
};

}  // namespace

int later_messages(const CollectiveCall& call) {
  const auto sends = [](Bytes bytes) { return bytes.value > 0; };
  const auto& roots = call.bytes_by_root;
  return std::max(0, static_cast<int>(std::count_if(roots.begin(), roots.end(), sends)) - 1);
}

void LoadSum::add(const ShiftedRoute& route, double bytes) {
  for (const auto& [first, fraction] : route.shares) {
    const LinkId link = first + route.shift;
    double& sum = bytes_[index(link)];
    if (sum == 0) touched_.push_back(link);
    sum += fraction * bytes;
  }
}

std::vector<LinkLoad> LoadSum::take() {
  std::sort(touched_.begin(), touched_.end());
  std::vector<LinkLoad> loads;
  loads.reserve(touched_.size());
  for (const LinkId link : touched_) {
    loads.push_back({link, bytes_[index(link)]});
    bytes_[index(link)] = 0;
  }
  touched_.clear();
  return loads;
}

RingNetwork::RingNetwork(const ClusterGraph& graph, const Placement& placement)
    : graph_(&graph),
      placement_(&placement),
      rails_(rails_of_nics(graph.spec())),
      sum_(graph.link_count()) {}

const std::vector<std::vector<Rank>>& RingNetwork::groups(const SubMesh& mesh) const {
  const auto [entry, is_new] = groups_.try_emplace(mesh);
  if (is_new) entry->second = process_groups(mesh, dp());
  return entry->second;
}

std::vector<LinkLoad> RingNetwork::loads(const SubMesh& mesh, const std::vector<Rank>& group,
                                         const std::vector<double>& into) const {
  if (mesh.size() == 1) return {};
  RingLoader loader(*graph_, *placement_, mesh, group, into, sum_);
  if (mesh.shape.inter == 1) {
    loader.inside_one_node();
  } else {
    const NodeSpec& node = graph_->spec().node;
    const std::vector<int> gpus = gpus_of_group(mesh, placement_->address(group[0]).gpu);
    const std::vector<RingWalk> walks = ring_walks(node, gpus);
    loader.over_nodes(walks, walks_back(node, gpus, rails_, walks));
  }
  return sum_.take();
}

std::vector<LinkLoad> RingNetwork::loads(const CollectiveCall& call, int group) const {
  const auto& all = groups(call.mesh);
  AMSP_CHECK(group >= 0 && index(group) < all.size(), "{} has no group {}", to_string(call.mesh),
             group);
  if (call.kind == CollectiveKind::kBroadcast)
    return loads(call.mesh, all[index(group)], bytes_into(call));
  AMSP_CHECK(call.bytes_by_root.empty(), "{} has no roots", to_string(call.kind));
  const double hop_bytes =
      hop_share(call.kind, call.mesh.size()) * static_cast<double>(call.bytes.value);
  std::vector<LinkLoad> result;
  if (hop_bytes <= 0) return result;
  const std::span<const LinkLoad> unit = unit_loads(call.mesh).of(group);
  result.reserve(unit.size());
  for (const auto& [link, load] : unit) result.push_back({link, load * hop_bytes});
  return result;
}

const RingNetwork::MeshLoads& RingNetwork::unit_loads(const SubMesh& mesh) const {
  const auto [entry, is_new] = unit_loads_.try_emplace(mesh);
  MeshLoads& result = entry->second;
  if (!is_new) return result;
  const std::vector<double> unit(index(mesh.size()), 1.0);
  for (const std::vector<Rank>& group : groups(mesh)) {
    const std::vector<LinkLoad> of_group = loads(mesh, group, unit);
    result.loads.insert(result.loads.end(), of_group.begin(), of_group.end());
    result.first.push_back(result.loads.size());
  }
  return result;
}

const RingNetwork::Bottleneck& RingNetwork::bottleneck(const SubMesh& mesh) const {
  const auto [entry, is_new] = bottlenecks_.try_emplace(mesh);
  Bottleneck& worst = entry->second;
  if (!is_new) return worst;
  for (const auto& [link, bytes] : unit_loads(mesh).loads) {
    const double seconds = bytes / graph_->link(link).capacity.value;
    if (seconds > worst.seconds_per_byte) worst = {link, bytes, seconds};
  }
  return worst;
}

int RingNetwork::nics(const SubMesh& mesh) const {
  if (mesh.shape.inter == 1) return 0;
  int fewest = graph_->spec().node.nics;
  for (const std::vector<Rank>& group : groups(mesh)) {
    if (group[0] >= dp().intra) break;
    const auto used = nics_used(graph_->spec().node, mesh, group[0]);
    fewest = std::min(fewest, static_cast<int>(used.size()));
  }
  return fewest;
}

}  // namespace amsp
