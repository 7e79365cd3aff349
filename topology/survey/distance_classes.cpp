#include "topology/survey/distance_classes.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "core/error.h"
#include "topology/collective/ring_latency.h"
#include "topology/graph/fabric_hops.h"

namespace amsp {
namespace {

/// What the links of kind kNic lead to from a NIC, in order.
std::vector<VertexId> nic_ends(const ClusterGraph& graph, const std::vector<LinkId>& links_out) {
  std::vector<VertexId> ends;
  for (const LinkId link : links_out)
    if (graph.link(link).kind == LinkKind::kNic) ends.push_back(graph.target(link));
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return ends;
}

/// NICs that attach to the same switches (or NICs): they are equally far from everything.
struct Attachment {
  std::vector<VertexId> ends;
  std::size_t group;
  int node;               // of the first GPU
  std::int64_t gpus = 0;  // that use such a NIC
  bool several_nodes = false;
};

/// Attachments to switches that are alike (FabricHops).
struct Group {
  std::vector<std::size_t> classes;
  bool is_nic;
  int attachments = 0;
};

class Distances {
 public:
  explicit Distances(const ClusterGraph& graph) : graph_(graph), hops_(graph) {}

  std::vector<DistanceClass> run() {
    inside_node();
    if (graph_.spec().nodes > 1) between_nodes();
    return std::move(classes_);
  }

 private:
  BytesPerSec rate(const std::vector<RouteShare>& route) const {
    BytesPerSec slowest{std::numeric_limits<double>::infinity()};
    for (const auto& [link, fraction] : route)
      slowest = std::min(slowest, graph_.link(link).capacity / fraction);
    return slowest;
  }

  std::vector<std::string> way(VertexId from, VertexId to) const {
    std::vector<std::string> names{to_string(graph_.vertex(from))};
    const auto& route = graph_.route(from, to);
    for (VertexId at = from; at != to;) {
      const auto next = std::find_if(route.begin(), route.end(), [&](const RouteShare& share) {
        return graph_.source(share.link) == at;
      });
      AMSP_CHECK(next != route.end(), "a route ends at {}", to_string(graph_.vertex(at)));
      at = graph_.target(next->link);
      names.push_back(to_string(graph_.vertex(at)));
    }
    return names;
  }

  void fill_example(DistanceClass& found, VertexId from, VertexId to) const {
    found.from = to_string(graph_.vertex(from));
    found.to = to_string(graph_.vertex(to));
    found.rate = rate(graph_.route(from, to));
    found.way = way(from, to);
  }

  void inside_node() {
    const NodeSpec& node = graph_.spec().node;
    const std::int64_t nodes = graph_.spec().nodes;
    // GPUs of a node that isn't described by links are alike
    const int firsts = node.cables.empty() ? std::min(node.gpus, 1) : node.gpus;
    std::map<std::tuple<std::size_t, bool, bool>, DistanceClass> found;
    for (int a = 0; a < firsts; ++a)
      for (int b = 0; b < node.gpus; ++b) {
        if (a == b) continue;
        const auto& route = graph_.route(graph_.gpu(0, a), graph_.gpu(0, b));
        bool nvlink = true, cpus = false;
        for (const RouteShare& share : route) {
          nvlink = nvlink && graph_.link(share.link).kind == LinkKind::kNvlink;
          cpus = cpus || graph_.link(share.link).kind == LinkKind::kCpu;
        }
        const std::size_t hops = way(graph_.gpu(0, a), graph_.gpu(0, b)).size() - 1;
        DistanceClass& entry = found[{hops, !nvlink, cpus}];
        if (entry.pairs == 0) {
          fill_example(entry, graph_.gpu(0, a), graph_.gpu(0, b));
          entry.name = fmt::format(
              "same node, {}",
              nvlink ? (hops == 1 ? "NVLink" : "NVSwitch")
                     : fmt::format("PCIe, {} links{}", hops, cpus ? " over both CPUs" : ""));
          entry.step = nvlink ? kNvlinkHop : kPcieHop;
        }
        entry.pairs += nodes * (firsts < node.gpus ? node.gpus : 1);
      }
    for (auto& [key, entry] : found) classes_.push_back(std::move(entry));
  }

  void attach() {
    std::vector<std::vector<LinkId>> out(index(graph_.vertex_count()));
    for (LinkId id = 0; id < graph_.link_count(); ++id) out[graph_.source(id)].push_back(id);
    std::map<std::vector<VertexId>, std::size_t> known;
    for (int node = 0; node < graph_.spec().nodes; ++node)
      for (int gpu = 0; gpu < graph_.spec().node.gpus; ++gpu) {
        const VertexId nic = graph_.nic(node, gpu);
        std::vector<VertexId> ends = nic_ends(graph_, out[nic]);
        // cabled to a NIC, it is its own attachment
        if (std::any_of(ends.begin(), ends.end(), [&](VertexId end) { return is_nic(end); }))
          ends = {nic};
        const auto [entry, is_new] = known.try_emplace(ends, attachments_.size());
        if (is_new) {
          attachments_.push_back({ends, group_of(ends), node});
          ++groups_[attachments_.back().group].attachments;
        }
        Attachment& attachment = attachments_[entry->second];
        ++attachment.gpus;
        attachment.several_nodes = attachment.several_nodes || attachment.node != node;
        of_gpu_.push_back(entry->second);
      }
  }

  bool is_nic(VertexId vertex) const { return graph_.vertex(vertex).kind == VertexKind::kNic; }

  std::size_t group_of(const std::vector<VertexId>& ends) {
    std::vector<std::size_t> classes;
    for (const VertexId end : ends) classes.push_back(hops_.class_of(end));
    std::sort(classes.begin(), classes.end());
    const auto [entry, is_new] = known_groups_.try_emplace(classes, groups_.size());
    if (is_new) groups_.push_back({std::move(classes), is_nic(ends.front())});
    return entry->second;
  }

  /// Attachments over several switches may have some of them in common.
  void find_shared() {
    std::map<VertexId, std::vector<std::size_t>> on;
    for (std::size_t a = 0; a < attachments_.size(); ++a)
      for (const VertexId end : attachments_[a].ends) on[end].push_back(a);
    for (const auto& [end, list] : on)
      for (const std::size_t a : list)
        for (const std::size_t b : list)
          if (a != b) shared_.insert({a, b});
  }

  /// Switches on the way between attachments of two groups that share no end.
  int switches_between(const Group& a, const Group& b) const {
    int nearest = std::numeric_limits<int>::max();
    for (const std::size_t from : a.classes)
      for (const std::size_t to : b.classes)
        if (const int hops = hops_.hops(from, to); hops >= 0) nearest = std::min(nearest, hops);
    if (nearest == std::numeric_limits<int>::max()) return kNoWay;
    return nearest - 1 + (a.is_nic ? 0 : 1) + (b.is_nic ? 0 : 1);
  }

  int switches(std::size_t a, std::size_t b) const {
    if (a == b || shared_.contains({a, b})) return kSameEnd;
    return between_[attachments_[a].group][attachments_[b].group];
  }

  void between_nodes() {
    attach();
    find_shared();
    for (const Group& a : groups_) {
      between_.emplace_back();
      for (const Group& b : groups_)
        between_.back().push_back(&a == &b && a.attachments == 1 ? kNoWay : switches_between(a, b));
    }
    std::map<int, std::int64_t> pairs = count_pairs();
    for (const auto& [count, number] : pairs)
      if (number > 0) add_class(count, number);
  }

  /// Ordered pairs of GPUs of different nodes, by switches on the way.
  std::map<int, std::int64_t> count_pairs() const {
    std::map<int, std::int64_t> pairs;
    std::vector<std::int64_t> gpus(groups_.size());
    for (const Attachment& one : attachments_) gpus[one.group] += one.gpus;
    for (std::size_t a = 0; a < groups_.size(); ++a)
      for (std::size_t b = 0; b < groups_.size(); ++b) pairs[between_[a][b]] += gpus[a] * gpus[b];
    const auto move = [&](std::size_t a, std::size_t b) {
      const std::int64_t number = attachments_[a].gpus * attachments_[b].gpus;
      pairs[between_[attachments_[a].group][attachments_[b].group]] -= number;
      pairs[kSameEnd] += number;
    };
    for (std::size_t a = 0; a < attachments_.size(); ++a) move(a, a);
    for (const auto& [a, b] : shared_) move(a, b);
    const auto per_node = index(graph_.spec().node.gpus);
    for (std::size_t first = 0; first < of_gpu_.size(); first += per_node)  // less those of a node
      for (std::size_t a = first; a < first + per_node; ++a)
        for (std::size_t b = first; b < first + per_node; ++b)
          --pairs[switches(of_gpu_[a], of_gpu_[b])];
    return pairs;
  }

  void add_class(int count, std::int64_t pairs) {
    AMSP_CHECK(count != kNoWay, "GPUs that can't reach each other");
    DistanceClass entry;
    entry.name = count == 0   ? "other node, cable"
                 : count == 1 ? "other node, 1 switch"
                              : fmt::format("other node, {} switches", count);
    entry.switches = count;
    entry.pairs = pairs;
    entry.step = kNetworkHop;
    entry.wire = kOneSwitchAway + (count - 1) * kFurtherSwitch;
    const int gpus = graph_.spec().node.gpus;
    // the first GPU with a peer that far, and its first such peer
    for (std::size_t a = 0; a < of_gpu_.size(); ++a) {
      if (!may_have_peer(attachments_[of_gpu_[a]], count)) continue;
      for (std::size_t b = 0; b < of_gpu_.size(); ++b) {
        const int node_a = static_cast<int>(a) / gpus, node_b = static_cast<int>(b) / gpus;
        if (node_a == node_b || switches(of_gpu_[a], of_gpu_[b]) != count) continue;
        fill_example(entry, graph_.gpu(node_a, static_cast<int>(a) % gpus),
                     graph_.gpu(node_b, static_cast<int>(b) % gpus));
        classes_.push_back(std::move(entry));
        return;
      }
    }
    AMSP_CHECK(false, "{} pairs over {} switches, but none found", pairs, count);
  }

  /// False only if there is none: saves looking through all GPUs for nothing.
  bool may_have_peer(const Attachment& from, int count) const {
    const std::vector<int>& others = between_[from.group];
    return std::find(others.begin(), others.end(), count) != others.end() ||
           (count == kSameEnd && (from.several_nodes || !shared_.empty()));
  }

  static constexpr int kSameEnd = 1;
  static constexpr int kNoWay = std::numeric_limits<int>::max();

  const ClusterGraph& graph_;
  FabricHops hops_;
  std::vector<Attachment> attachments_;
  std::vector<std::size_t> of_gpu_;  // its attachment, by node and GPU
  std::vector<Group> groups_;
  std::map<std::vector<std::size_t>, std::size_t> known_groups_;
  std::vector<std::vector<int>> between_;                 // switches, by group
  std::set<std::pair<std::size_t, std::size_t>> shared_;  // attachments with an end in common
  std::vector<DistanceClass> classes_;
};

}  // namespace

std::vector<DistanceClass> distance_classes(const ClusterGraph& graph) {
  return Distances(graph).run();
}

}  // namespace amsp
