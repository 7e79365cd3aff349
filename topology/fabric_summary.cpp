#include "topology/fabric_summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "core/error.h"
#include "topology/ring_latency.h"

namespace amsp {
namespace {

std::size_t index(int i) {
  return static_cast<std::size_t>(i);
}

/// Links that leave each vertex.
std::vector<std::vector<LinkId>> links_out(const ClusterGraph& graph) {
  std::vector<std::vector<LinkId>> out(index(graph.vertex_count()));
  for (LinkId id = 0; id < graph.link_count(); ++id) out[graph.source(id)].push_back(id);
  return out;
}

/// By vertex: 0 for NICs, else the fewest cables of the fabric to one; -1 inside nodes.
std::vector<int> levels(const ClusterGraph& graph, const std::vector<std::vector<LinkId>>& out) {
  std::vector<int> level(index(graph.vertex_count()), -1);
  std::vector<VertexId> front;
  for (std::size_t v = 0; v < level.size(); ++v)
    if (graph.vertex(v).kind == VertexKind::kNic) {
      level[v] = 0;
      front.push_back(v);
    }
  for (int depth = 1; !front.empty(); ++depth) {
    std::vector<VertexId> next;
    for (const VertexId at : front)
      for (const LinkId link : out[at]) {
        const VertexId to = graph.target(link);
        if (is_inside_node(graph.vertex(to).kind) || level[to] >= 0) continue;
        level[to] = depth;
        next.push_back(to);
      }
    front = std::move(next);
  }
  return level;
}

/// NICs that attach to the same switches (or NICs): they are equally far from everything.
struct Attachment {
  std::set<VertexId> ends;
  std::int64_t gpus = 0;  // that use such a NIC
};

class Distances {
 public:
  explicit Distances(const ClusterGraph& graph) : graph_(graph), out_(links_out(graph)) {}

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
    std::map<std::set<VertexId>, std::size_t> known;
    for (int node = 0; node < graph_.spec().nodes; ++node)
      for (int gpu = 0; gpu < graph_.spec().node.gpus; ++gpu) {
        std::set<VertexId> ends;
        const VertexId nic = graph_.nic(node, gpu);
        for (const LinkId link : out_[nic])
          if (graph_.link(link).kind == LinkKind::kNic) ends.insert(graph_.target(link));
        const bool is_cabled = std::any_of(ends.begin(), ends.end(), [&](VertexId end) {
          return graph_.vertex(end).kind == VertexKind::kNic;
        });
        if (is_cabled) ends = {nic};  // without a switch it is its own attachment
        const auto [entry, is_new] = known.try_emplace(ends, attachments_.size());
        if (is_new) attachments_.push_back({ends, 0});
        ++attachments_[entry->second].gpus;
        of_gpu_.push_back(entry->second);
      }
  }

  /// Cables from the ends of an attachment to every vertex outside the nodes, NICs included where
  /// they are ends themselves; -1 where there is no way.
  std::vector<int> from_attachment(const Attachment& start) const {
    std::vector<int> distance(index(graph_.vertex_count()), -1);
    std::vector<VertexId> front(start.ends.begin(), start.ends.end());
    for (const VertexId end : front) distance[end] = 0;
    for (int depth = 1; !front.empty(); ++depth) {
      std::vector<VertexId> next;
      for (const VertexId at : front)
        for (const LinkId link : out_[at]) {
          const VertexId to = graph_.target(link);
          const VertexKind kind = graph_.vertex(to).kind;
          if (is_inside_node(kind) && kind != VertexKind::kNic) continue;
          if (distance[to] >= 0) continue;
          distance[to] = depth;
          if (kind != VertexKind::kNic) next.push_back(to);
        }
      front = std::move(next);
    }
    return distance;
  }

  void between_nodes() {
    attach();
    const int gpus = graph_.spec().node.gpus;
    std::map<int, std::int64_t> pairs;  // by switches on the way
    std::vector<std::vector<int>> switches(attachments_.size());
    for (std::size_t a = 0; a < attachments_.size(); ++a) {
      const std::vector<int> distance = from_attachment(attachments_[a]);
      for (std::size_t b = 0; b < attachments_.size(); ++b) {
        int nearest = std::numeric_limits<int>::max();
        bool is_nic = false;
        for (const VertexId end : attachments_[b].ends) {
          if (distance[end] >= 0) nearest = std::min(nearest, distance[end]);
          is_nic = is_nic || graph_.vertex(end).kind == VertexKind::kNic;
        }
        // ends are switches: one more than the cables between them; NICs: one less
        const int count = is_nic ? nearest - 1 : nearest + 1;
        switches[a].push_back(count);
        pairs[count] += attachments_[a].gpus * attachments_[b].gpus;
      }
    }
    for (int node = 0; node < graph_.spec().nodes; ++node) {  // less those of one node
      std::map<std::size_t, std::int64_t> here;
      for (int gpu = 0; gpu < gpus; ++gpu) ++here[of_gpu_[index(node * gpus + gpu)]];
      for (const auto& [a, count_a] : here)
        for (const auto& [b, count_b] : here) pairs[switches[a][b]] -= count_a * count_b;
    }
    for (const auto& [count, number] : pairs)
      if (number > 0) add_class(count, number, switches);
  }

  void add_class(int count, std::int64_t pairs, const std::vector<std::vector<int>>& switches) {
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
    for (std::size_t a = 0; a < of_gpu_.size(); ++a)
      for (std::size_t b = 0; b < of_gpu_.size(); ++b) {
        const int node_a = static_cast<int>(a) / gpus, node_b = static_cast<int>(b) / gpus;
        if (node_a == node_b || switches[of_gpu_[a]][of_gpu_[b]] != count) continue;
        fill_example(entry, graph_.gpu(node_a, static_cast<int>(a) % gpus),
                     graph_.gpu(node_b, static_cast<int>(b) % gpus));
        classes_.push_back(std::move(entry));
        return;
      }
    AMSP_CHECK(false, "{} pairs over {} switches, but none found", pairs, count);
  }

  const ClusterGraph& graph_;
  std::vector<std::vector<LinkId>> out_;
  std::vector<Attachment> attachments_;
  std::vector<std::size_t> of_gpu_;  // by node and GPU
  std::vector<DistanceClass> classes_;
};

}  // namespace

std::vector<DistanceClass> distance_classes(const ClusterGraph& graph) {
  return Distances(graph).run();
}

std::vector<CableSort> cable_sorts(const ClusterGraph& graph) {
  std::map<std::tuple<VertexKind, VertexKind, double, double>, CableSort> sorts;
  for (LinkId id = 0; id < graph.link_count(); id += 2) {
    const Link& link = graph.link(id);
    const VertexKind a = graph.vertex(graph.source(id)).kind;
    const VertexKind b = graph.vertex(graph.target(id)).kind;
    CableSort& sort =
        sorts[{std::min(a, b), std::max(a, b), link.bandwidth.value, link.capacity.value}];
    if (sort.count++ == 0)
      sort = {std::min(a, b), std::max(a, b), link.kind, 1, link.bandwidth, link.capacity};
  }
  std::vector<CableSort> result;
  for (const auto& [key, sort] : sorts) result.push_back(sort);
  return result;
}

std::vector<SwitchSort> switch_sorts(const ClusterGraph& graph) {
  const auto out = links_out(graph);
  const std::vector<int> level = levels(graph, out);
  std::map<std::tuple<int, VertexKind, int, int, double, double>, int> count;
  for (std::size_t v = 0; v < level.size(); ++v) {
    if (is_inside_node(graph.vertex(v).kind)) continue;
    int down = 0, up = 0;
    BytesPerSec rate_down, rate_up;
    for (const LinkId link : out[v]) {
      const int there = level[graph.target(link)];
      const bool is_down = there >= 0 && there < level[v];
      (is_down ? down : up) += 1;
      (is_down ? rate_down : rate_up) += graph.link(link).bandwidth;
    }
    ++count[{level[v], graph.vertex(v).kind, down, up, rate_down.value, rate_up.value}];
  }
  std::vector<SwitchSort> sorts;
  for (const auto& [key, number] : count) {
    const auto& [at, kind, down, up, rate_down, rate_up] = key;
    const double ports =
        (rate_down + rate_up) / std::max(graph.spec().node.nic_bandwidth.value, 1.0);
    sorts.push_back({kind, at, number, down, up, {rate_down}, {rate_up}, ports});
  }
  std::stable_sort(sorts.begin(), sorts.end(), [](const SwitchSort& a, const SwitchSort& b) {
    return std::tuple(a.level, -a.count) < std::tuple(b.level, -b.count);
  });
  return sorts;
}

}  // namespace amsp
