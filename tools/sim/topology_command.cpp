#include <fmt/core.h>
#include <unistd.h>

#include "core/json/json.h"
#include "scenario/load_cluster.h"
#include "tools/arguments.h"
#include "tools/run_main.h"
#include "tools/sim/commands.h"
#include "tools/sim/topology_report.h"

namespace {

using namespace amsp;

constexpr const char* kDescription =
    "Shows a cluster's network: cables, ports, oversubscription, bisection bandwidth, distances.";
constexpr const char* kFooter = R"(
CLUSTER is a scenario, a cluster description by itself ({"schema": "amsp.cluster/1", ...} with
the keys of a scenario's cluster), the name of a preset, or a node's topology as NCCL dumps it
(NCCL_TOPO_DUMP_FILE=node.xml).

Examples:
  amsp-sim topology dgx-h100 --set nodes=64
  amsp-sim topology dgx-h100 --set nodes=64 --set fabric.oversubscription=2 --svg fabric.svg
  amsp-sim topology scenarios/dgx-a100-7b.json --set cluster.nodes=8 --json
  amsp-sim topology node.xml --dot node.dot       (draw it: dot -Tsvg node.dot -o node.svg)

Exit codes: 0 shown, 2 the input is wrong, 4 internal failure.
)";

struct Options {
  std::string cluster;
  std::vector<std::string> overrides;
  bool json = false;
  std::string dot, svg;
};

int show(const Options& options) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const auto progress = [&](const char* what) {
    if (terminal) fmt::print(stderr, "\r\x1b[K{}{}", what, *what != '\0' ? " ..." : "");
  };
  const ClusterSpec spec = load_cluster(options.cluster, options.overrides);
  check_outputs({{"--dot", options.dot}, {"--svg", options.svg}}, {options.cluster});
  progress("building the graph");
  const ClusterGraph graph(spec);
  progress("measuring it");
  const std::string report =
      options.json ? topology_json(graph).dump(2) + "\n" : topology_text(graph);
  progress("");
  const std::string dot = options.dot.empty() ? "" : topology_dot(graph);
  const std::string svg = options.svg.empty() ? "" : topology_svg(graph);
  if (!options.dot.empty()) write_file(options.dot, dot);
  if (!options.svg.empty()) write_file(options.svg, svg);
  print_output(report);
  return kExitOk;
}

}  // namespace

namespace amsp {

int topology_command(int argc, char** argv) {
  CLI::App app(kDescription, "amsp-sim topology");
  Options options;
  app.footer(kFooter);
  app.add_option("cluster", options.cluster, "Scenario, cluster description, preset or NCCL's XML")
      ->required();
  app.add_option("--set", options.overrides,
                 "Override a key of the file or preset, such as nodes=16 (repeatable)")
      ->allow_extra_args(false);
  app.add_flag("--json", options.json, "Print JSON");
  app.add_option("--dot", options.dot, "Write the whole graph for Graphviz");
  app.add_option("--svg", options.svg, "Write a picture");
  return run_parsed(app, argc, argv, [&] { return show(options); });
}

}  // namespace amsp
