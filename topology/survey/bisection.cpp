#include "topology/survey/bisection.h"

#include <fmt/core.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <cmath>
#include <limits>

namespace amsp {
namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using FlowEdge = boost::property<
    boost::edge_capacity_t, std::int64_t,
    boost::property<boost::edge_residual_capacity_t, std::int64_t,
                    boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>;
using FlowGraph =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, FlowEdge>;

/// Whole bytes per second: the sum of a half is far below 2^63.
std::int64_t whole(BytesPerSec rate) {
  return std::llround(rate.value);
}

class Flow {
 public:
  Flow(const ClusterGraph& graph, bool by_capacity)
      : flow_(static_cast<std::size_t>(graph.vertex_count()) + 2) {
    for (LinkId id = 0; id < graph.link_count(); ++id) {
      const Link& link = graph.link(id);
      // nothing inside a node goes through its NICs
      const auto is_nic = [&](VertexId v) { return graph.vertex(v).kind == VertexKind::kNic; };
      if (graph.spec().nodes == 1 && (is_nic(graph.source(id)) || is_nic(graph.target(id))))
        continue;
      join(graph.source(id), graph.target(id), whole(by_capacity ? link.capacity : link.bandwidth));
    }
  }

  /// From all of `from` to all of `to`.
  BytesPerSec most(const std::vector<VertexId>& from, const std::vector<VertexId>& to) {
    const VertexId source = boost::num_vertices(flow_) - 2, sink = source + 1;
    for (const VertexId vertex : from) join(source, vertex, kUnbounded);
    for (const VertexId vertex : to) join(vertex, sink, kUnbounded);
    return {static_cast<double>(boost::push_relabel_max_flow(flow_, source, sink))};
  }

 private:
  static constexpr std::int64_t kUnbounded = std::int64_t{1} << 50;  // more than any GPU's links

  /// The algorithm wants a reverse edge without capacity for each edge.
  void join(VertexId a, VertexId b, std::int64_t capacity) {
    const auto ahead = boost::add_edge(a, b, flow_).first;
    const auto reverse = boost::add_edge(b, a, flow_).first;
    boost::put(boost::edge_capacity, flow_, ahead, capacity);
    boost::put(boost::edge_capacity, flow_, reverse, 0);
    boost::put(boost::edge_reverse, flow_, ahead, reverse);
    boost::put(boost::edge_reverse, flow_, reverse, ahead);
  }

  FlowGraph flow_;
};

Bisection bisect(const ClusterGraph& graph, const std::vector<bool>& is_first, std::string halves) {
  const ClusterSpec& spec = graph.spec();
  std::vector<VertexId> halves_of[2];
  for (int item = 0; item < static_cast<int>(is_first.size()); ++item) {
    std::vector<VertexId>& half = halves_of[is_first[static_cast<std::size_t>(item)] ? 0 : 1];
    if (spec.nodes == 1) {
      half.push_back(graph.gpu(0, item));
    } else {
      for (int gpu = 0; gpu < spec.node.gpus; ++gpu) half.push_back(graph.gpu(item, gpu));
    }
  }
  const auto& smaller = std::min(halves_of[0], halves_of[1],
                                 [](const auto& a, const auto& b) { return a.size() < b.size(); });
  Bisection result;
  result.halves = std::move(halves);
  result.gpus = static_cast<int>(smaller.size());
  result.bandwidth = Flow(graph, false).most(halves_of[0], halves_of[1]);
  result.capacity = Flow(graph, true).most(halves_of[0], halves_of[1]);
  const BytesPerSec of_gpu = spec.node.nvlink == NvlinkKind::kNone && spec.node.cables.empty()
                                 ? spec.node.pcie_bandwidth
                                 : spec.node.nvlink_bandwidth;
  const BytesPerSec full = spec.nodes == 1 ? static_cast<double>(result.gpus) * of_gpu
                                           : (1.0 * result.gpus / spec.node.gpus * spec.node.nics) *
                                                 spec.node.nic_bandwidth;
  result.of_full = full.value > 0 ? result.bandwidth / full : 0;
  return result;
}

}  // namespace

std::vector<Bisection> bisections(const ClusterGraph& graph) {
  const ClusterSpec& spec = graph.spec();
  const int count = spec.nodes == 1 ? spec.node.gpus : spec.nodes;
  const char* const what = spec.nodes == 1 ? "GPUs" : "nodes";
  if (count < 2) return {};
  std::vector<bool> first(static_cast<std::size_t>(count)), even = first;
  for (int i = 0; i < count; ++i) {
    first[static_cast<std::size_t>(i)] = i < count / 2;
    even[static_cast<std::size_t>(i)] = i % 2 == 0;
  }
  const auto range = [](int from, int to) {
    return from == to ? fmt::format("{}", from) : fmt::format("{}-{}", from, to);
  };
  std::vector<Bisection> results;
  results.push_back(bisect(
      graph, first,
      fmt::format("{} {} | {}", what, range(0, count / 2 - 1), range(count / 2, count - 1))));
  if (count > 2) results.push_back(bisect(graph, even, fmt::format("{} even | odd", what)));
  return results;
}

}  // namespace amsp
