#include "topology/nccl/loads.h"

#include "core/error.h"
#include "topology/collective/ring_walks.h"
#include "topology/graph/boost_graph.h"
#include "topology/nccl/switch_tree.h"
#include "topology/nccl/trees.h"

namespace amsp::nccl {
namespace {

using enum NcclAlgorithm;

/// One group of one call.
class Loader {
 public:
  Loader(const ClusterGraph& graph, const Placement& placement, const CollectiveCall& call,
         const std::vector<Rank>& group, LoadSum& sum)
      : graph_(graph),
        kind_(call.kind),
        bytes_(static_cast<double>(call.bytes.value)),
        intra_(call.mesh.shape.intra),
        inter_(call.mesh.shape.inter),
        is_direct_(graph.spec().node.nvlink == NvlinkKind::kDirect),
        sum_(sum) {
    for (const Rank rank : group) {
      const GpuAddress address = placement.address(rank);
      addresses_.push_back(address);
      gpus_.push_back(graph.gpu(address.node, address.gpu));
    }
    if (inter_ > 1) {
      const int first_gpu = placement.address(group[0]).gpu;
      walks_ = ring_walks(graph.spec().node, gpus_of_group(call.mesh, first_gpu));
    }
  }

  void tree() {
    if (inter_ == 1) {
      rotated_chains();
    } else {
      chains();
      trees_over_nodes();
    }
  }

  void nvls() {
    if (inter_ == 1) {
      one_switched_node();
    } else {
      switched_nodes();
      switch_trees();
    }
  }

  void nvls_tree() {
    switched_nodes();
    trees_over_nodes();
  }

  void collnet_direct() {
    const double out = kind_ == CollectiveKind::kAllGather ? 0 : per_channel();
    const double back = kind_ == CollectiveKind::kReduceScatter ? 0 : per_channel();
    for (int node = 0; node < inter_; ++node)
      for (const RingWalk& walk : walks_)
        for (int i = 0; i < intra_; ++i) {
          const int head = node * intra_ + walk.order.front();
          const int member = node * intra_ + i;
          if (member == head) continue;
          hop(member, head, out);
          hop(head, member, back);
        }
    spread_inside();
    switch_trees();
  }

  void collnet_chain() {
    chains();
    switch_trees();
  }

  void pat() {
    const std::vector<int> pieces = pat_pieces(size());
    const double piece = bytes_ / size();
    for (int from = 0; from < size(); ++from)
      for (std::size_t step = 0; step < pieces.size(); ++step) {
        const int to = (from + (1 << step)) % size();
        // A reduce-scatter runs the trees of an all-gather backwards.
        const bool forwards = kind_ == CollectiveKind::kAllGather;
        route(forwards ? from : to, forwards ? to : from, pieces[step] * piece);
      }
  }

 private:
  int size() const { return intra_ * inter_; }
  double per_channel() const { return bytes_ / static_cast<double>(walks_.size()); }

  void route(int from, int to, double bytes) {
    if (bytes > 0) sum_.add(graph_.shifted_route(gpus_[index(from)], gpus_[index(to)]), bytes);
  }

  /// A hop inside a node.
  void hop(int from, int to, double bytes) {
    if (!is_direct_) return route(from, to, bytes);
    spread_.resize(index(inter_));
    spread_[index(from / intra_)] += bytes;
  }

  /// Other channels take other ways: evenly over all pairs of a node.
  void spread_inside() {
    for (int node = 0; node < static_cast<int>(spread_.size()); ++node) {
      const double share = spread_[index(node)] / (intra_ * (intra_ - 1));
      for (int i = 0; i < intra_; ++i)
        for (int j = 0; j < intra_; ++j)
          if (i != j) route(node * intra_ + i, node * intra_ + j, share);
    }
    spread_.clear();
  }

  void both(int a, int b, double bytes) {
    hop(a, b, bytes);
    hop(b, a, bytes);
  }

  void rotated_chains() {
    for (int first = 0; first < intra_; ++first)
      for (int i = 1; i < intra_; ++i)
        both((first + i - 1) % intra_, (first + i) % intra_, bytes_ / intra_);
    spread_inside();
  }

  void chains() {
    for (int node = 0; node < inter_; ++node)
      for (const RingWalk& walk : walks_)
        for (std::size_t i = 1; i < walk.order.size(); ++i)
          both(node * intra_ + walk.order[i - 1], node * intra_ + walk.order[i], per_channel());
    spread_inside();
  }

  void trees_over_nodes() {
    const DoubleTree trees = double_tree(inter_);
    for (const std::vector<int>* parents : {&trees.first, &trees.second})
      for (int node = 0; node < inter_; ++node) {
        const int parent = (*parents)[index(node)];
        if (parent < 0) continue;
        for (const RingWalk& walk : walks_) {
          const int head = walk.order.front();
          route(node * intra_ + head, parent * intra_ + head, per_channel() / 2);
          route(parent * intra_ + head, node * intra_ + head, per_channel() / 2);
        }
      }
  }

  /// Of a member, over its links to NVSwitches.
  void port(int member, double out, double in) {
    double total = 0;
    const auto each = [&](auto&& use) {
      for (const auto& edge :
           boost::make_iterator_range(boost::out_edges(gpus_[index(member)], graph_.graph()))) {
        const Link& link = graph_.graph()[edge];
        if (link.kind == LinkKind::kNvlink) use(link);
      }
    };
    each([&](const Link& link) { total += link.capacity.value; });
    each([&](const Link& link) {
      const double share = link.capacity.value / total;
      if (out > 0) sum_.add({{link.id, 1}}, out * share);
      if (in > 0) sum_.add({{link.id ^ 1, 1}}, in * share);
    });
  }

  void one_switched_node() {
    const double part = bytes_ / intra_;
    for (int member = 0; member < intra_; ++member) switched_port(member, part);
  }

  /// `part`: of the message, which this member reduces and multicasts.
  void switched_port(int member, double part) {
    switch (kind_) {
      case CollectiveKind::kAllReduce:
        return port(member, bytes_ + part, bytes_ + part);
      case CollectiveKind::kAllGather:
        return port(member, part, bytes_);
      case CollectiveKind::kReduceScatter:
        return port(member, bytes_, part);
      case CollectiveKind::kBroadcast:
        throw InternalError("NVLS has no broadcast");
    }
  }

  void switched_nodes() {
    std::vector<double> part(index(intra_), 0);
    for (const RingWalk& walk : walks_) part[index(walk.order.front())] += per_channel();
    for (int member = 0; member < size(); ++member)
      switched_port(member, part[index(member % intra_)]);
  }

  void switch_trees() {
    for (std::size_t channel = 0; channel < walks_.size(); ++channel) {
      std::vector<VertexId> nics;
      for (int node = 0; node < inter_; ++node) {
        const int head = node * intra_ + walks_[channel].order.front();
        const GpuAddress address = addresses_[index(head)];
        nics.push_back(graph_.nic(address.node, address.gpu));
        // Between the GPU and its NIC.
        up_and_down(to_nic(gpus_[index(head)], nics.back()), 1);
      }
      const int rail =
          graph_.spec()
              .node.nic_of_gpu[index(addresses_[index(walks_[channel].order.front())].gpu)];
      for (const auto& [up, below] : switch_tree(graph_, nics, rail).branches)
        up_and_down({{up, 1}}, below);
    }
  }

  const std::vector<RouteShare>& to_nic(VertexId gpu, VertexId nic) {
    return graph_.route(gpu, nic);
  }

  /// `below`: NICs whose bytes go up through the route.
  void up_and_down(const std::vector<RouteShare>& up, int below) {
    std::vector<RouteShare> down = up;
    for (RouteShare& share : down) share.link ^= 1;
    const double whole = per_channel();
    const double part = whole * below / inter_;
    sum_.add(up, kind_ == CollectiveKind::kAllGather ? part : whole);
    sum_.add(down, kind_ == CollectiveKind::kReduceScatter ? part : whole);
  }

  const ClusterGraph& graph_;
  CollectiveKind kind_;
  double bytes_;
  int intra_, inter_;
  bool is_direct_;
  std::vector<GpuAddress> addresses_;
  std::vector<VertexId> gpus_;
  std::vector<RingWalk> walks_;
  std::vector<double> spread_;  // by node, with direct NVLink
  LoadSum& sum_;
};

}  // namespace

Loads::Loads(const ClusterGraph& graph, const Placement& placement)
    : graph_(&graph), placement_(&placement), rings_(graph, placement), sum_(graph.link_count()) {}

const std::vector<std::vector<Rank>>& Loads::groups(const SubMesh& mesh) const {
  const auto [entry, is_new] = groups_.try_emplace(mesh);
  if (is_new) entry->second = process_groups(mesh, placement_->dp());
  return entry->second;
}

std::vector<LinkLoad> Loads::of(NcclAlgorithm algorithm, const CollectiveCall& call,
                                int group) const {
  if (algorithm == kRing) return rings_.loads(call, group);
  if (call.mesh.size() == 1 || call.bytes.value == 0) return {};
  const auto& all = groups(call.mesh);
  AMSP_CHECK(group >= 0 && index(group) < all.size(), "{} has no group {}", to_string(call.mesh),
             group);
  Loader loader(*graph_, *placement_, call, all[index(group)], sum_);
  switch (algorithm) {
    case kTree:
      loader.tree();
      break;
    case kNvls:
      loader.nvls();
      break;
    case kNvlsTree:
      loader.nvls_tree();
      break;
    case kCollNetDirect:
      loader.collnet_direct();
      break;
    case kCollNetChain:
      loader.collnet_chain();
      break;
    case kPat:
      loader.pat();
      break;
    case kRing:
      break;
  }
  return sum_.take();
}

}  // namespace amsp::nccl
