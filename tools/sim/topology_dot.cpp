#include <fmt/format.h>

#include <iterator>
#include <map>

#include "core/quantity.h"
#include "tools/sim/topology_report.h"

namespace amsp {
namespace {

const char* colour(LinkKind kind) {
  switch (kind) {
    case LinkKind::kNvlink:
      return "#76b900";
    case LinkKind::kPcie:
      return "#888888";
    case LinkKind::kCpu:
      return "#b8860b";
    case LinkKind::kNic:
      return "#1f77b4";
    case LinkKind::kFabric:
      return "#9467bd";
  }
  return "black";
}

}  // namespace

std::string topology_dot(const ClusterGraph& graph) {
  std::string text;
  const auto out = std::back_inserter(text);
  // names come from a scenario: any characters
  std::string title;
  for (const char c : graph.spec().name)
    title += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  fmt::format_to(
      out, "graph \"{}\" {{\n  rankdir=BT;\n  node [shape=box, fontname=\"sans-serif\"];\n", title);
  std::map<int, std::string> nodes;  // by node, those of the fabric at -1
  for (int id = 0; id < graph.vertex_count(); ++id) {
    const Vertex& vertex = graph.vertex(static_cast<VertexId>(id));
    fmt::format_to(std::back_inserter(nodes[vertex.node]), "    v{} [label=\"{}\"];\n", id,
                   vertex.node < 0 ? to_string(vertex)
                                   : fmt::format("{}{}", to_string(vertex.kind), vertex.index));
  }
  for (const auto& [node, vertices] : nodes) {
    if (node < 0)
      text += vertices;
    else
      fmt::format_to(out, "  subgraph cluster_node{} {{\n    label=\"node{}\";\n{}  }}\n", node,
                     node, vertices);
  }
  for (LinkId id = 0; id < graph.link_count(); id += 2) {
    const Link& link = graph.link(id);
    fmt::format_to(out, "  v{} -- v{} [color=\"{}\", tooltip=\"{}\"];\n", graph.source(id),
                   graph.target(id), colour(link.kind), format_bandwidth(link.bandwidth));
  }
  return text + "}\n";
}

}  // namespace amsp
