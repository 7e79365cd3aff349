#include "topology/graph/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/quantity.h"

namespace amsp {

namespace {

constexpr std::size_t kMostVertices = 1'000'000;
constexpr double kLeastShare = 1e-3;

/// Finds vertices and links by name.
class Finder {
 public:
  explicit Finder(const ClusterGraph& graph) : graph_(graph) {
    for (VertexId id = 0; id < static_cast<VertexId>(graph.vertex_count()); ++id)
      vertices_.emplace(graph.vertex(id), id);
    links_.resize(static_cast<std::size_t>(graph.vertex_count()));
    for (LinkId link = 0; link < graph.link_count(); ++link)
      links_[graph.source(link)].push_back(link);
  }

  std::vector<VertexId> vertices(const std::string& text, const std::string& where) const {
    const auto names = parse_vertices(text, kMostVertices);
    if (!names)
      throw ConfigError(fmt::format(
          "{}: must name vertices such as \"node3/gpu5\", \"node[0-3]/nic[0,2]\" or \"leaf0\", "
          "found \"{}\"",
          where, text));
    std::vector<VertexId> result;
    for (const Vertex& name : *names) {
      const auto found = vertices_.find(name);
      if (found == vertices_.end())
        throw ConfigError(fmt::format("{}: there is no {} in cluster '{}'{}", where,
                                      to_string(name), graph_.spec().name, has(name)));
      result.push_back(found->second);
    }
    return result;
  }

  std::vector<LinkId> links(const Conditions::Links& of) const {
    for (const auto& [sign, both] : {std::pair{" -> ", false}, std::pair{" - ", true}}) {
      const auto at = of.at.find(sign);
      if (at == std::string::npos) continue;
      const auto from = vertices(of.at.substr(0, at), of.where);
      const auto to = vertices(of.at.substr(at + std::string(sign).size()), of.where);
      std::vector<LinkId> result;
      for (const VertexId a : from)
        for (const VertexId b : to) {
          add_between(a, b, of, result);
          if (both) add_between(b, a, of, result);
        }
      return result;
    }
    std::vector<LinkId> result;
    const auto ends = vertices(of.at, of.where);
    for (LinkId link = 0; link < graph_.link_count(); ++link)
      if (std::ranges::count(ends, graph_.source(link)) +
              std::ranges::count(ends, graph_.target(link)) >
          0)
        result.push_back(link);
    return result;
  }

 private:
  void add_between(VertexId a, VertexId b, const Conditions::Links& of,
                   std::vector<LinkId>& result) const {
    const std::size_t before = result.size();
    for (const LinkId link : links_[a])
      if (graph_.target(link) == b) result.push_back(link);
    if (result.size() == before)
      throw ConfigError(fmt::format("{}: there is no link from {} to {}", of.where,
                                    to_string(graph_.vertex(a)), to_string(graph_.vertex(b))));
  }

  /// " (it has leaf0 to leaf3)".
  std::string has(const Vertex& name) const {
    int most = -1;
    const int node =
        is_inside_node(name.kind) ? std::clamp(name.node, 0, graph_.spec().nodes - 1) : -1;
    for (const auto& [vertex, id] : vertices_)
      if (vertex.kind == name.kind && vertex.node == node) most = std::max(most, vertex.index);
    if (most < 0) return "";
    const std::string last = to_string(Vertex{name.kind, node, most});
    if (node < 0) return fmt::format(" (the last is {})", last);
    return fmt::format(" (nodes are 0 to {}; the last of one is {})", graph_.spec().nodes - 1,
                       last);
  }

  const ClusterGraph& graph_;
  std::map<Vertex, VertexId> vertices_;
  std::vector<std::vector<LinkId>> links_;  // by source
};

void fail(LinkId link, const std::string& where, ClusterGraph& graph) {
  try {
    graph.fail(link);
  } catch (const ConfigError& error) {
    throw ConfigError(
        fmt::format("{}: without {} the {}", where, graph.link_name(link), error.what()));
  }
}

}  // namespace

std::vector<std::string> describe(const Conditions& conditions) {
  std::vector<std::string> lines;
  for (const auto& [at, speed, where] : conditions.slow_gpus)
    lines.push_back(fmt::format("slow GPU {}: {:g} of its speed", at, speed));
  for (const auto& [at, share, background, where] : conditions.links) {
    if (share == 0)
      lines.push_back(fmt::format("failed link {}", at));
    else if (background.value > 0)
      lines.push_back(fmt::format("other traffic of {} on {}", format_bandwidth(background), at));
    else
      lines.push_back(fmt::format("slow link {}: {:g} of its capacity", at, share));
  }
  if (const auto& jitter = conditions.jitter)
    lines.push_back(fmt::format("jitter of compute: sigma {:g}, drawn for {} (seed {})",
                                jitter->sigma,
                                jitter->ranks == 1 ? std::string("every rank")
                                                   : fmt::format("every {} ranks", jitter->ranks),
                                jitter->seed));
  return lines;
}

void apply(const Conditions& conditions, ClusterGraph& graph) {
  if (conditions.links.empty()) return;
  const Finder finder(graph);
  std::vector<std::pair<const Conditions::Links*, std::vector<LinkId>>> found;
  for (const Conditions::Links& links : conditions.links)
    found.emplace_back(&links, finder.links(links));
  for (const auto& [links, ids] : found) {
    for (const LinkId id : ids) {
      const Link& link = graph.link(id);
      if (links->share == 0) {
        fail(id, links->where, graph);
        continue;
      }
      if (link.available.value == 0) continue;  // failed
      const BytesPerSec left = links->share * link.available - links->background;
      if (links->background.value <= 0 && left < kLeastShare * link.capacity)
        throw ConfigError(
            fmt::format("{}: with the entries before, less than {} of the capacity of {} is left",
                        links->where, kLeastShare, graph.link_name(id)));
      if (left.value <= 0)
        throw ConfigError(fmt::format("{}: {} of other traffic leave nothing of the {} of {}",
                                      links->where, format_bandwidth(links->background),
                                      format_bandwidth(link.available), graph.link_name(id)));
      graph.set_available(id, left);
    }
  }
}

std::vector<double> slowness(const Conditions& conditions, const ClusterGraph& graph,
                             const Placement& placement) {
  std::vector<double> result;
  if (conditions.slow_gpus.empty()) return result;
  const Finder finder(graph);
  std::map<VertexId, double> slow;
  for (const Conditions::SlowGpus& gpus : conditions.slow_gpus)
    for (const VertexId id : finder.vertices(gpus.at, gpus.where)) {
      if (graph.vertex(id).kind != VertexKind::kGpu)
        throw ConfigError(fmt::format("{}: {} is no GPU", gpus.where, to_string(graph.vertex(id))));
      double& slowness = slow.try_emplace(id, 1.0).first->second;
      slowness /= gpus.speed;
      if (slowness > 1 / kLeastShare)
        throw ConfigError(
            fmt::format("{}: with the entries before, {} has less than {} of its speed", gpus.where,
                        to_string(graph.vertex(id)), kLeastShare));
    }
  for (Rank rank = 0; rank < placement.dp().size(); ++rank) {
    const GpuAddress address = placement.address(rank);
    const auto found = slow.find(graph.gpu(address.node, address.gpu));
    result.push_back(found == slow.end() ? 1.0 : found->second);
  }
  return result;
}

}  // namespace amsp
