#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <sstream>

#include "core/error.h"
#include "core/json/json.h"
#include "core/text_table.h"
#include "scenario/scenario.h"
#include "tools/arguments.h"
#include "tools/run_main.h"
#include "tools/sim/commands.h"
#include "tools/sim/host_list.h"

namespace {

using namespace amsp;

constexpr const char* kDescription =
    "Shows on which node every rank of a scenario runs, and writes it for a real job.";
constexpr const char* kFooter = R"(
Host i of --hosts is node i of the cluster: list them leaf by leaf, as the scenario's fabric does.

Formats:
  table           for people (default)
  hostfile        Open MPI: mpirun --hostfile FILE --map-by slot
  rankfile        Open MPI: mpirun --rankfile FILE; the ranks of a node on its first cores, in order
  slurm           the nodes as srun --nodelist takes them; srun sorts them
  slurm-hostfile  one line a rank, the exact order: SLURM_HOSTFILE=FILE srun -m arbitrary

Examples:
  amsp-sim placement scenario.json
  amsp-sim placement scenario.json --set placement=scattered --json
  amsp-sim placement scenario.json --hosts 'gpu[001-128]' --format hostfile > hosts
  amsp-sim placement scenario.json --hosts hosts.txt --format slurm-hostfile --output ranks

Exit codes: 0 shown, 2 the input is wrong, 3 the plan is not possible, 4 internal failure.
)";

struct Options {
  std::string scenario;
  std::vector<std::string> overrides;
  std::string hosts;
  std::string format = "table";
  std::string output;
  bool json = false;
};

/// A file with one name a line ('#' starts a comment), or a list.
std::vector<std::string> read_hosts(const std::string& given, int nodes) {
  constexpr std::size_t kMost = 1 << 20;
  std::vector<std::string> hosts;
  std::error_code unreadable;
  if (given.empty()) {
    for (int i = 0; i < nodes; ++i) hosts.push_back(fmt::format("node{}", i));
    return hosts;
  }
  if (std::filesystem::exists(given, unreadable)) {
    std::istringstream lines(read_file(given));
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      std::istringstream words(line.substr(0, line.find('#')));
      std::string host, more;
      if (!(words >> host)) continue;
      const auto names = expand_hosts(host, kMost);
      if (!names || (words >> more && !more.starts_with("slots=")))
        throw ConfigError(fmt::format("{}: line {}: must be the name of one host, found \"{}\"",
                                      given, number, line));
      hosts.insert(hosts.end(), names->begin(), names->end());
    }
  } else {
    const auto names = expand_hosts(given, kMost);
    if (!names)
      throw ConfigError(
          fmt::format("--hosts: must be a file or names such as gpu[001-128], found "
                      "\"{}\"",
                      given));
    hosts = *names;
  }
  if (hosts.size() != static_cast<std::size_t>(nodes))
    throw ConfigError(
        fmt::format("--hosts: names {} hosts, the cluster has {} nodes", hosts.size(), nodes));
  std::set<std::string> seen;
  for (const std::string& host : hosts)
    if (!seen.insert(host).second) throw ConfigError("--hosts: names " + host + " twice");
  return hosts;
}

class Job {
 public:
  Job(const Scenario& scenario, std::vector<std::string> hosts)
      : scenario_(scenario), placement_(place(scenario)), hosts_(std::move(hosts)) {
    const auto groups = leaf_groups(scenario.cluster);
    leaf_of_.resize(static_cast<std::size_t>(scenario.cluster.nodes));
    for (std::size_t leaf = 0; leaf < groups.size(); ++leaf)
      for (const int node : groups[leaf])
        leaf_of_[static_cast<std::size_t>(node)] = static_cast<int>(leaf);
  }

  std::string table() const {
    std::string text =
        fmt::format("{}: {} ranks, {} GPUs in each of {} of {} nodes, {}\n\n", scenario_.name,
                    placement_.dp().size(), placement_.dp().intra, placement_.dp().inter,
                    scenario_.cluster.nodes, to_string(scenario_.placement.kind));
    TextTable table({"ranks", "host", "node", "leaf group"});
    table.align_left(1);
    for (int i = 0; i < placement_.dp().inter; ++i)
      table.add({fmt::format("{}-{}", first_rank(i), first_rank(i + 1) - 1), host(i),
                 fmt::format("{}", placement_.node(i)), fmt::format("{}", leaf(i))});
    return text + table.str();
  }

  OrderedJson json() const {
    OrderedJson nodes = OrderedJson::array();
    for (int i = 0; i < placement_.dp().inter; ++i)
      nodes.push_back({{"first_rank", first_rank(i)},
                       {"ranks", placement_.dp().intra},
                       {"host", host(i)},
                       {"node", placement_.node(i)},
                       {"leaf_group", leaf(i)}});
    return {{"schema", "amsp.placement/1"},
            {"scenario", scenario_.name},
            {"placement", to_string(scenario_.placement.kind)},
            {"dp", to_string(placement_.dp())},
            {"nodes", nodes}};
  }

  std::string hostfile() const {
    return of_nodes(
        [&](int i) { return fmt::format("{} slots={}\n", host(i), placement_.dp().intra); });
  }
  std::string rankfile() const {
    return of_nodes([&](int i) {
      std::string lines;
      for (int gpu = 0; gpu < placement_.dp().intra; ++gpu)
        lines += fmt::format("rank {}={} slot={}\n", first_rank(i) + gpu, host(i), gpu);
      return lines;
    });
  }
  std::string slurm() const {
    std::vector<std::string> used;
    for (int i = 0; i < placement_.dp().inter; ++i) used.push_back(host(i));
    return compress_hosts(used) + "\n";
  }
  std::string slurm_hostfile() const {
    return of_nodes([&](int i) {
      std::string lines;
      for (int gpu = 0; gpu < placement_.dp().intra; ++gpu) lines += host(i) + "\n";
      return lines;
    });
  }

 private:
  std::string of_nodes(const std::function<std::string(int)>& lines_of) const {
    std::string text;
    for (int i = 0; i < placement_.dp().inter; ++i) text += lines_of(i);
    return text;
  }
  int first_rank(int mesh_node) const { return mesh_node * placement_.dp().intra; }
  const std::string& host(int mesh_node) const {
    return hosts_[static_cast<std::size_t>(placement_.node(mesh_node))];
  }
  int leaf(int mesh_node) const {
    return leaf_of_[static_cast<std::size_t>(placement_.node(mesh_node))];
  }

  const Scenario& scenario_;
  Placement placement_;
  std::vector<std::string> hosts_;
  std::vector<int> leaf_of_;
};

int show(const Options& options) {
  check_outputs({{"--output", options.output}}, {options.scenario, options.hosts});
  const Scenario scenario = load_scenario(options.scenario, options.overrides);
  const Job job(scenario, read_hosts(options.hosts, scenario.cluster.nodes));
  const std::string text = options.json                         ? job.json().dump(2) + "\n"
                           : options.format == "hostfile"       ? job.hostfile()
                           : options.format == "rankfile"       ? job.rankfile()
                           : options.format == "slurm"          ? job.slurm()
                           : options.format == "slurm-hostfile" ? job.slurm_hostfile()
                                                                : job.table();
  if (options.output.empty()) {
    print_output(text);
    return kExitOk;
  }
  write_file(options.output, text);
  return kExitOk;
}

}  // namespace

namespace amsp {

int placement_command(int argc, char** argv) {
  CLI::App app(kDescription, "amsp-sim placement");
  Options options;
  app.footer(kFooter);
  app.add_option("scenario", options.scenario, "Scenario file (schema amsp.scenario/1)")
      ->required();
  app.add_option("--set", options.overrides,
                 "Override a key of the scenario, such as placement=scattered (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--hosts", options.hosts,
                 "File with the host of every node of the cluster, or names such as gpu[001-128]");
  auto* format =
      app.add_option("--format", options.format, "What to write")
          ->check(CLI::IsMember({"table", "hostfile", "rankfile", "slurm", "slurm-hostfile"}))
          ->capture_default_str();
  app.add_flag("--json", options.json, "Write JSON")->excludes(format);
  app.add_option("--output", options.output, "File to write to instead of standard output");
  return run_parsed(app, argc, argv, [&] { return show(options); });
}

}  // namespace amsp
