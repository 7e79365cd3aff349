#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "core/quantity.h"
#include "core/text_lines.h"
#include "tools/sim/topology_report.h"
#include "topology/survey/fabric_summary.h"

namespace amsp {
namespace {

// Sizes in pixels. A picture is drawn at most about 1500 wide: of many alike the first and the last
// stand for all.
constexpr double kCell = 34, kGap = 6, kNodeGap = 18, kMargin = 24, kLevel = 120, kRow = 66;
constexpr int kMostNodes = 6, kMostSwitches = 10, kMostGpus = 9;

const char* colour(LinkKind kind) {
  switch (kind) {
    case LinkKind::kNvlink:
      return "#5a9216";
    case LinkKind::kPcie:
      return "#8a8a8a";
    case LinkKind::kCpu:
      return "#b8860b";
    case LinkKind::kNic:
      return "#1f77b4";
    case LinkKind::kFabric:
      return "#7a4fb0";
  }
  return "#000000";
}

const char* fill(VertexKind kind) {
  switch (kind) {
    case VertexKind::kGpu:
      return "#dff0c8";
    case VertexKind::kNvswitch:
      return "#b9dc86";
    case VertexKind::kPcie:
    case VertexKind::kCpu:
      return "#e6e6e6";
    case VertexKind::kNic:
      return "#cfe3f5";
    default:
      return "#e4d8f2";
  }
}

/// 0 .. count-1, or the first and last of them with -1 for those between.
std::vector<int> shown(int count, int most) {
  std::vector<int> items;
  for (int i = 0; i < count; ++i) {
    if (count <= most || i < most - 2 || i == count - 1)
      items.push_back(i);
    else if (items.back() != -1)
      items.push_back(-1);
  }
  return items;
}

struct Place {
  double x, y, width;  // of the middle
};

class Picture {
 public:
  explicit Picture(const ClusterGraph& graph) : graph_(graph), spec_(graph.spec()) {}

  std::string str() {
    sort_vertices();
    choose();
    const double inside = node_height();
    const int levels = static_cast<int>(fabric_.size());
    const double top = kMargin + 44;
    const double nodes_y = top + levels * kLevel;
    width_ = std::max(place_nodes(nodes_y), 560.0);
    place_fabric(top);
    draw_links();
    for (const auto& [vertex, place] : places_) draw_vertex(vertex, place);
    const double height = nodes_y + inside + 24;
    draw_legend(height);
    return head(height + legend_height_) + lines_ + boxes_ + over_ + "</svg>\n";
  }

 private:
  template <class... Args>
  void add(std::string& text, fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
  }

  void sort_vertices() {
    std::map<VertexKind, int> level;
    for (const SwitchSort& sort : switch_sorts(graph_)) level.try_emplace(sort.kind, sort.level);
    for (int id = 0; id < graph_.vertex_count(); ++id) {
      const Vertex& vertex = graph_.vertex(static_cast<VertexId>(id));
      ids_[vertex] = static_cast<VertexId>(id);
      if (vertex.node < 0)
        fabric_[{-level[vertex.kind], vertex.kind}].push_back(vertex);
      else if (vertex.node == 0)
        node_[vertex.kind].push_back(vertex);
    }
    for (LinkId id = 0; id < graph_.link_count(); ++id) out_[graph_.source(id)].push_back(id);
  }

  /// Nodes to be drawn: the first of each leaf group matter most.
  void choose() {
    const auto groups = leaf_groups(spec_);
    if (spec_.nodes <= kMostNodes) {
      nodes_ = shown(spec_.nodes, kMostNodes);
      return;
    }
    // the first two nodes of the first two groups, and the last node
    std::set<int> chosen{spec_.nodes - 1};
    for (std::size_t group = 0; group < std::min<std::size_t>(groups.size(), 2); ++group)
      for (std::size_t i = 0; i < std::min<std::size_t>(groups[group].size(), 2); ++i)
        chosen.insert(groups[group][i]);
    int last = -1;
    for (const int node : chosen) {
      if (node != last + 1) nodes_.push_back(-1);
      nodes_.push_back(node);
      last = node;
    }
  }

  int columns() const {
    const int gpus = std::min(spec_.node.gpus, kMostGpus);
    return std::max(gpus, std::min(spec_.node.nics, kMostGpus));
  }
  double node_width() const { return columns() * (kCell + kGap) + kGap + 8; }
  /// Rows of a node from top to bottom.
  std::vector<VertexKind> rows() const {
    std::vector<VertexKind> kinds;
    for (const VertexKind kind : {VertexKind::kNic, VertexKind::kCpu, VertexKind::kPcie,
                                  VertexKind::kGpu, VertexKind::kNvswitch})
      if (node_.contains(kind)) kinds.push_back(kind);
    return kinds;
  }
  double node_height() const { return (static_cast<double>(rows().size()) - 1) * kRow + 26; }

  double place_nodes(double y) {
    double x = kMargin;
    for (const int node : nodes_) {
      if (node < 0) {
        add(boxes_, "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"dots\">...</text>\n", x + 12, y + 60);
        x += 24 + kNodeGap;
        continue;
      }
      add(lines_,
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"6\" "
          "class=\"node\"/>\n",
          x, y - 22, node_width(), node_height() + 14);
      double row_y = y;
      for (const VertexKind kind : rows()) {
        place_row(node_[kind], node, x + 4, node_width() - 8, row_y, kMostGpus);
        row_y += kRow;
      }
      add(boxes_, "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"name\">node{}</text>\n",
          x + node_width() / 2, y + node_height() + 10, node);
      x += node_width() + kNodeGap;
    }
    return x - kNodeGap + kMargin;
  }

  /// Spreads the vertices evenly; `node` >= 0 replaces theirs.
  void place_row(const std::vector<Vertex>& vertices, int node, double x, double width, double y,
                 int most) {
    const std::vector<int> items = shown(static_cast<int>(vertices.size()), most);
    const double step = width / static_cast<double>(items.size());
    const double cell = std::min(node >= 0 ? step - kGap : 84.0, step - kGap);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const double middle = x + step * (static_cast<double>(i) + 0.5);
      if (items[i] < 0) {
        add(boxes_, "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"dots\">...</text>\n", middle, y + 6);
        continue;
      }
      Vertex vertex = vertices[static_cast<std::size_t>(items[i])];
      if (node >= 0) vertex.node = node;
      const bool is_bar = vertex.kind == VertexKind::kNvswitch ||
                          vertex.kind == VertexKind::kPcie || vertex.kind == VertexKind::kCpu;
      places_.emplace(vertex, Place{middle, y, is_bar ? step - kGap : cell});
    }
  }

  void place_fabric(double y) {
    for (const auto& [key, vertices] : fabric_) {
      // leaves of drawn nodes first: the others are as the first and last
      std::vector<Vertex> wanted = vertices;
      if (static_cast<int>(vertices.size()) > kMostSwitches) {
        std::set<Vertex> near;
        for (const auto& [vertex, place] : places_)
          for (const LinkId link : out_[ids_.at(vertex)]) {
            const Vertex& there = graph_.vertex(graph_.target(link));
            if (there.kind == key.second && near.size() < 24) near.insert(there);
          }
        if (key.first == -1 && near.size() > 2) wanted.assign(near.begin(), near.end());
      }
      place_row(wanted, -1, kMargin, width_ - 2 * kMargin, y, key.first == -1 ? 24 : kMostSwitches);
      add(boxes_, "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"row\">{} {}</text>\n", kMargin, y - 22,
          vertices.size(), plural(key.second, vertices.size()));
      y += kLevel;
    }
  }

  static std::string plural(VertexKind kind, std::size_t count) {
    const std::string name = to_string(kind);
    if (count == 1) return name;
    return name == "leaf" ? "leaves" : name == "switch" ? "switches" : name + "s";
  }

  void draw_links() {
    for (const auto& [vertex, place] : places_)
      for (const LinkId id : out_[ids_.at(vertex)]) {
        if (id % 2 != 0) continue;  // one line a cable
        const auto there = places_.find(graph_.vertex(graph_.target(id)));
        if (there == places_.end()) continue;
        const Link& link = graph_.link(id);
        // NICs are above GPUs: from the upper to the lower edge of the boxes
        Place from = place, to = there->second;
        if (from.y > to.y) std::swap(from, to);
        // a bar takes a line straight down
        const auto meet = [](const Place& bar, double x) {
          const double reach = std::max(bar.width / 2 - 3, 0.0);
          return std::clamp(x, bar.x - reach, bar.x + reach);
        };
        const double from_x = from.width > to.width ? meet(from, to.x) : from.x;
        const double to_x = to.width > from.width ? meet(to, from.x) : to.x;
        const double thick = std::clamp(0.6 + link.bandwidth.value / 100e9, 0.7, 5.0);
        const std::string title = fmt::format("<title>{}: {}</title>", graph_.link_name(id),
                                              format_bandwidth(link.bandwidth));
        if (from.y == to.y) {  // of one row: an arc below it
          add(lines_,
              "<path d=\"M {:.1f} {:.1f} Q {:.1f} {:.1f} {:.1f} {:.1f}\" fill=\"none\" "
              "stroke=\"{}\" stroke-width=\"{:.1f}\" opacity=\"0.7\">{}</path>\n",
              from.x, from.y + 11, (from.x + to.x) / 2, from.y + 20 + std::abs(from.x - to.x) / 8,
              to.x, to.y + 11, colour(link.kind), thick, title);
          continue;
        }
        const bool passes_a_row = is_inside_node(vertex.kind) && to.y - from.y > kRow + 1 &&
                                  is_inside_node(there->first.kind);
        add(passes_a_row ? over_ : lines_,
            "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
            "stroke-width=\"{:.1f}\" opacity=\"0.7\">{}</line>\n",
            from_x, from.y + 11, to_x, to.y - 11, colour(link.kind), thick, title);
      }
  }

  void draw_vertex(const Vertex& vertex, const Place& place) {
    const double half = place.width / 2;
    add(boxes_,
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"22\" rx=\"3\" fill=\"{}\" "
        "class=\"box\"><title>{}</title></rect>\n",
        place.x - half, place.y - 11, place.width, fill(vertex.kind), to_string(vertex));
    std::string label = fmt::format("{}{}", to_string(vertex.kind), vertex.index);
    if (7.0 * static_cast<double>(label.size()) > place.width)
      label = fmt::format("{}", vertex.index);
    add(boxes_, "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"label\">{}</text>\n", place.x, place.y + 4,
        label);
  }

  void draw_legend(double y) {
    double row = y + 18;
    for (const CableSort& sort : cable_sorts(graph_)) {
      add(boxes_,
          "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
          "stroke-width=\"3\"/><text x=\"{:.1f}\" y=\"{:.1f}\" class=\"row\">{} - {}: {} of {} "
          "each "
          "way</text>\n",
          kMargin, row - 4, kMargin + 26, row - 4, colour(sort.kind), kMargin + 34, row,
          to_string(sort.a), to_string(sort.b), sort.count, format_bandwidth(sort.bandwidth));
      row += 18;
    }
    for (const SwitchSort& sort : switch_sorts(graph_)) {
      if (spec_.nodes == 1 || sort.cables_up == 0) continue;
      add(boxes_,
          "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"row\">{} x {}: {} from below, {} up: {:.2f} : 1"
          "</text>\n",
          kMargin + 34, row, sort.count, to_string(sort.kind), format_bandwidth(sort.down),
          format_bandwidth(sort.up), sort.oversubscription());
      row += 18;
    }
    legend_height_ = row - y + 6;
  }

  std::string head(double height) const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n"
        "<style>text {{ font: 11px sans-serif; fill: #222; }} .title {{ font-size: 15px; }} "
        ".label, .name, .dots {{ text-anchor: middle; }} .dots {{ font-size: 18px; }} "
        ".node {{ fill: #fafafa; stroke: #bbb; }} .box {{ stroke: #666; }}</style>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        "<text x=\"{2:.0f}\" y=\"22\" class=\"title\">{3}: {4} node{5} x {6} {7}</text>\n",
        width_, height, kMargin, escaped_markup(spec_.name, true), spec_.nodes,
        spec_.nodes == 1 ? "" : "s", spec_.node.gpus,
        escaped_markup(spec_.gpu.name.empty() ? "GPUs" : spec_.gpu.name, true));
  }

  const ClusterGraph& graph_;
  const ClusterSpec& spec_;
  std::map<std::pair<int, VertexKind>, std::vector<Vertex>> fabric_;  // top level first
  std::map<VertexKind, std::vector<Vertex>> node_;                    // parts of node 0
  std::map<Vertex, VertexId> ids_;
  std::map<VertexId, std::vector<LinkId>> out_;
  std::vector<int> nodes_;  // drawn; -1 for those left out
  std::map<Vertex, Place> places_;
  std::string lines_, boxes_, over_;  // over: lines that pass a row of boxes
  double width_ = 0, legend_height_ = 0;
};

}  // namespace

std::string topology_svg(const ClusterGraph& graph) {
  return Picture(graph).str();
}

}  // namespace amsp
