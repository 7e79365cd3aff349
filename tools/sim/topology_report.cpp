#include "tools/sim/topology_report.h"

#include <fmt/format.h>

#include "core/json/json.h"
#include "core/quantity.h"
#include "core/text_table.h"
#include "topology/survey/bisection.h"
#include "topology/survey/distance_classes.h"
#include "topology/survey/fabric_summary.h"

namespace amsp {
namespace {

/// "2 x 400 GB/s", or "-" for none.
std::string cables(int count, BytesPerSec all) {
  if (count == 0) return "-";
  return fmt::format("{} x {}", count, format_bandwidth(all / count));
}

std::string cable_table(const ClusterGraph& graph) {
  TextTable table({"cables", "number", "bandwidth", "capacity"});
  for (const CableSort& sort : cable_sorts(graph))
    table.add({fmt::format("{} - {}", to_string(sort.a), to_string(sort.b)),
               fmt::format("{}", sort.count), format_bandwidth(sort.bandwidth),
               format_bandwidth(sort.capacity)});
  return table.str() + "of one cable and direction\n";
}

std::string switch_table(const ClusterGraph& graph) {
  TextTable table({"switches", "number", "down", "up", "ports", "oversubscription"});
  for (const SwitchSort& sort : switch_sorts(graph))
    table.add({to_string(sort.kind), fmt::format("{}", sort.count),
               cables(sort.cables_down, sort.down), cables(sort.cables_up, sort.up),
               fmt::format("{:.4g}", sort.ports),
               sort.cables_up == 0 ? "top" : fmt::format("{:.2f} : 1", sort.oversubscription())});
  return table.str() + fmt::format("ports: of {}, as a NIC has\n",
                                   format_bandwidth(graph.spec().node.nic_bandwidth));
}

std::string bisection_table(const ClusterGraph& graph) {
  TextTable table({"bisection (maximum flow)", "bandwidth", "capacity", "each GPU", "of full"});
  for (const Bisection& cut : bisections(graph))
    table.add({cut.halves, format_bandwidth(cut.bandwidth), format_bandwidth(cut.capacity),
               format_bandwidth(cut.bandwidth / cut.gpus),
               fmt::format("{:.1f} %", 100 * cut.of_full)});
  return table.str();
}

/// The node only at both ends.
std::string way_in_words(const std::vector<std::string>& way) {
  std::string text;
  for (std::size_t i = 0; i < way.size(); ++i) {
    const bool is_end = i == 0 || i + 1 == way.size();
    text += (i == 0 ? "" : " - ") + (is_end ? way[i] : way[i].substr(way[i].find('/') + 1));
  }
  return text;
}

std::string distance_table(const ClusterGraph& graph) {
  TextTable table({"from GPU to GPU", "of pairs", "rate alone", "ring step", "message"});
  std::string ways;
  const double all = static_cast<double>(graph.spec().gpus()) * (graph.spec().gpus() - 1.0);
  for (const DistanceClass& distance : distance_classes(graph)) {
    table.add({distance.name,
               fmt::format("{:.2f} %", 100 * static_cast<double>(distance.pairs) / all),
               format_bandwidth(distance.rate), format_time(distance.step),
               distance.wire.value > 0 ? format_time(distance.wire) : "-"});
    ways += "  " + way_in_words(distance.way) + "\n";
  }
  return table.str() +
         "ring step: NCCL's least latency (Simple); message: one way, small, no "
         "NCCL\nfor instance\n" +
         ways;
}

}  // namespace

std::string topology_text(const ClusterGraph& graph) {
  const ClusterSpec& spec = graph.spec();
  std::string text = fmt::format("{}: {} node{} x {} {} = {} GPUs\n\n", spec.name, spec.nodes,
                                 spec.nodes == 1 ? "" : "s", spec.node.gpus,
                                 spec.gpu.name.empty() ? "GPUs" : spec.gpu.name, spec.gpus());
  text += cable_table(graph);
  if (spec.nodes > 1) text += "\n" + switch_table(graph);
  if (spec.gpus() > 1) text += "\n" + bisection_table(graph) + "\n" + distance_table(graph);
  return text;
}

OrderedJson topology_json(const ClusterGraph& graph) {
  const ClusterSpec& spec = graph.spec();
  OrderedJson json;
  json["schema"] = "amsp.topology/1";
  json["cluster"] = {{"name", spec.name},
                     {"nodes", spec.nodes},
                     {"gpus_per_node", spec.node.gpus},
                     {"gpus", spec.gpus()},
                     {"nics_per_node", spec.node.nics}};
  json["cables"] = OrderedJson::array();
  for (const CableSort& sort : cable_sorts(graph))
    json["cables"].push_back({{"between", {to_string(sort.a), to_string(sort.b)}},
                              {"count", sort.count},
                              {"bandwidth_bytes_per_s", sort.bandwidth.value},
                              {"capacity_bytes_per_s", sort.capacity.value}});
  json["switches"] = OrderedJson::array();
  if (spec.nodes > 1)
    for (const SwitchSort& sort : switch_sorts(graph)) {
      OrderedJson entry = {{"kind", to_string(sort.kind)},
                           {"level", sort.level},
                           {"count", sort.count},
                           {"cables_down", sort.cables_down},
                           {"cables_up", sort.cables_up},
                           {"down_bytes_per_s", sort.down.value},
                           {"up_bytes_per_s", sort.up.value},
                           {"ports", sort.ports}};
      entry["oversubscription"] =
          sort.cables_up > 0 ? OrderedJson(sort.oversubscription()) : OrderedJson();
      json["switches"].push_back(std::move(entry));
    }
  json["bisection"] = OrderedJson::array();
  for (const Bisection& cut : bisections(graph))
    json["bisection"].push_back({{"halves", cut.halves},
                                 {"gpus", cut.gpus},
                                 {"bandwidth_bytes_per_s", cut.bandwidth.value},
                                 {"capacity_bytes_per_s", cut.capacity.value},
                                 {"of_full", cut.of_full}});
  json["distances"] = OrderedJson::array();
  for (const DistanceClass& distance : distance_classes(graph))
    json["distances"].push_back({{"name", distance.name},
                                 {"switches", distance.switches},
                                 {"pairs", distance.pairs},
                                 {"rate_bytes_per_s", distance.rate.value},
                                 {"ring_step_s", distance.step.value},
                                 {"message_s", distance.wire.value},
                                 {"from", distance.from},
                                 {"to", distance.to},
                                 {"way", distance.way}});
  return json;
}

}  // namespace amsp
