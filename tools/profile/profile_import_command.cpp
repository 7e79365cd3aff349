#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "core/json/json.h"
#include "core/nearest.h"
#include "core/quantity.h"
#include "profiling/import_report.h"
#include "scenario/load_cluster.h"
#include "tools/arguments.h"
#include "tools/profile/profile_commands.h"
#include "tools/run_main.h"
#include "topology/read/presets.h"

namespace {

using namespace amsp;

constexpr const char* kFooter = R"(
The logs are what nccl-tests or rccl-tests print, in any version, or write by -J; mpirun's, srun's and
kubectl's tags and NCCL's own lines don't matter. Operation and mesh come from the log; where it
doesn't say, from --op and --mesh. Rows that contradict themselves and wrong results are refused.

The hardware that the logs are from is that of --cluster (a preset, a cluster, a scenario), or as the
options say; a scenario that uses the profile has to describe the same.

Examples:
  amsp-profile import logs/*.log --cluster dgx-h100 --output h100.json
  amsp-profile import ar.log ag.json --cluster scenario.json --times in-place --output mine.json
  amsp-profile import old.log --op all_gather --mesh 8x4 --cluster cluster.json
  amsp-profile import ar.log --gpu A100-SXM4-80GB --gpus-per-node 8 --nvlink switch \
      --nvlink-bandwidth 300GBps --nics 8 --nic-bandwidth 200Gbps --output a100.json

Exit codes: 0 done, 2 the input is wrong, 4 internal failure.
)";

struct Options {
  std::vector<std::string> logs, overrides;
  std::string cluster, output, name, op, mesh, times = "out-of-place";
  std::string gpu, nvlink, nvlink_bandwidth, nic_bandwidth;
  int gpus_per_node = 0, nics = -1;
  bool json = false;
};

/// A preset without a number of nodes is as good as with one: only its hardware matters.
ClusterSpec cluster_of(const Options& options) {
  std::vector<std::string> overrides = options.overrides;
  std::error_code unreadable;
  const auto preset = cluster_presets().find(options.cluster);
  const bool has_nodes = std::any_of(overrides.begin(), overrides.end(),
                                     [](const auto& text) { return text.starts_with("nodes="); });
  if (preset != cluster_presets().end() && !std::filesystem::exists(options.cluster, unreadable) &&
      !preset->second.description.contains("nodes") && !has_nodes)
    overrides.emplace_back("nodes=1");
  return load_cluster(options.cluster, overrides);
}

/// Where NVSwitches can reduce, what a ring reaches beside them: the capacity, and a margin for its
/// own spread.
std::optional<BytesPerSec> ring_limit(const ClusterSpec& cluster) {
  constexpr double kMargin = 1.05;
  const GpuArchitecture architecture = cluster.gpu.architecture;
  const bool can_reduce =
      architecture == GpuArchitecture::kHopper || architecture == GpuArchitecture::kBlackwell;
  if (!can_reduce || cluster.node.nvlink_capacity.value <= 0) return std::nullopt;
  return std::min(kMargin * cluster.node.nvlink_capacity, cluster.node.nvlink_bandwidth);
}

BytesPerSec bandwidth(const char* option, const std::string& text) {
  const std::optional<BytesPerSec> rate = parse_bandwidth(text);
  if (!rate)
    throw ConfigError(fmt::format(
        "{}: must be a rate with a unit such as \"200Gbps\" or \"25GBps\", found \"{}\"", option,
        text));
  return *rate;
}

NvlinkKind nvlink_kind(const std::string& name) {
  for (const NvlinkKind kind : {NvlinkKind::kNone, NvlinkKind::kDirect})
    if (name == to_string(kind)) return kind;
  return NvlinkKind::kSwitch;
}

/// Each option that is given counts before the cluster.
ProfileHardware hardware_from(const Options& options, const std::optional<ClusterSpec>& cluster) {
  ProfileHardware hardware = cluster ? hardware_of(*cluster) : ProfileHardware{};
  std::vector<std::string> missing;
  const auto given = [&](bool is_given, const char* option) {
    if (!is_given && !cluster) missing.emplace_back(option);
    return is_given;
  };
  if (given(!options.gpu.empty(), "--gpu")) hardware.gpu = options.gpu;
  if (given(options.gpus_per_node > 0, "--gpus-per-node"))
    hardware.gpus_per_node = options.gpus_per_node;
  if (given(!options.nvlink.empty(), "--nvlink")) hardware.nvlink = nvlink_kind(options.nvlink);
  const bool is_switched = options.nvlink != "none" || !options.nvlink_bandwidth.empty();
  if (is_switched && given(!options.nvlink_bandwidth.empty(), "--nvlink-bandwidth"))
    hardware.nvlink_bandwidth = bandwidth("--nvlink-bandwidth", options.nvlink_bandwidth);
  if (given(options.nics >= 0, "--nics")) hardware.nics_per_node = options.nics;
  const bool has_nics = options.nics != 0 || !options.nic_bandwidth.empty();
  if (has_nics && given(!options.nic_bandwidth.empty(), "--nic-bandwidth"))
    hardware.nic_bandwidth = bandwidth("--nic-bandwidth", options.nic_bandwidth);
  if (!missing.empty())
    throw ConfigError(
        fmt::format("which hardware the logs are from: give --cluster, or {}", join(missing)));
  return hardware;
}

std::optional<CollectiveKind> kind_of(const std::string& name) {
  for (const CollectiveKind kind : {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                                    CollectiveKind::kAllReduce, CollectiveKind::kBroadcast})
    if (name == to_string(kind)) return kind;
  return std::nullopt;
}

int import(const Options& options) {
  check_outputs({{"--output", options.output}}, options.logs);
  if (!options.output.empty() && !options.output.ends_with(".json") &&
      !std::filesystem::exists(options.output))
    throw ConfigError(fmt::format(
        "--output: must end in .json, by which a scenario knows that it is a file; found \"{}\"",
        options.output));
  std::optional<ClusterSpec> cluster;
  if (!options.cluster.empty()) cluster = cluster_of(options);
  ImportOptions import_options;
  import_options.hardware = hardware_from(options, cluster);
  if (cluster) import_options.ring_limit = ring_limit(*cluster);
  import_options.kind = kind_of(options.op);
  import_options.in_place = options.times == "in-place";
  if (!options.mesh.empty()) {
    import_options.mesh = parse_mesh(options.mesh);
    if (!import_options.mesh)
      throw ConfigError(fmt::format(
          "--mesh: must be GPUs per node x nodes such as 8x4, found \"{}\"", options.mesh));
  }
  const std::string& named_by = options.output.empty() ? options.logs.front() : options.output;
  import_options.name =
      options.name.empty() ? std::filesystem::path(named_by).stem().string() : options.name;
  std::vector<NcclLog> logs;
  for (const std::string& file : options.logs) logs.push_back(read_nccl_log(read_file(file), file));
  LogImport imported = import_logs(logs, import_options);
  if (cluster)
    for (std::string& note : capacity_notes(imported, *cluster))
      imported.notes.push_back(std::move(note));
  if (!options.output.empty())
    write_file(options.output, profile_text(profile_json(imported.profile)));
  if (options.json)
    print_output(import_json(imported, options.output)
                     .dump(2, ' ', false, OrderedJson::error_handler_t::replace) +
                 "\n");
  else
    print_output(import_text(imported, options.output));
  return kExitOk;
}

}  // namespace

namespace amsp {

Command add_import_command(CLI::App& program) {
  const auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand("import", "Makes a profile from logs of nccl-tests");
  app->footer(kFooter);
  app->add_option("logs", options->logs, "Logs of nccl-tests: text, or JSON by -J")->required();
  app->add_option("--output", options->output, "Write the profile (NAME.json)");
  app->add_option("--name", options->name, "Name of the profile (default: that of the file)");
  app->add_option("--times", options->times, "Which of the two times of a row")
      ->check(CLI::IsMember({"out-of-place", "in-place"}))
      ->capture_default_str();
  app->add_option("--op", options->op, "The operation, of logs that don't say")
      ->check(CLI::IsMember({"all_gather", "reduce_scatter", "all_reduce", "broadcast"}));
  app->add_option("--mesh", options->mesh,
                  "GPUs per node x nodes that took part, of logs that don't say: 8x4");
  app->add_option("--cluster", options->cluster,
                  "The hardware: a preset, a cluster's description, or a scenario");
  app->add_option("--set", options->overrides,
                  "Override a key of --cluster, such as nodes=4 (repeatable)")
      ->allow_extra_args(false);
  app->add_option("--gpu", options->gpu, "Name of the GPU, as in scenarios");
  app->add_option("--gpus-per-node", options->gpus_per_node, "GPUs of a node")
      ->check(CLI::Range(1, 1024));
  app->add_option("--nvlink", options->nvlink, "How the GPUs of a node are joined")
      ->check(CLI::IsMember({"switch", "direct", "none"}));
  app->add_option("--nvlink-bandwidth", options->nvlink_bandwidth,
                  "Per GPU and direction, datasheet, such as 450GBps");
  app->add_option("--nics", options->nics, "NICs of a node")->check(CLI::Range(0, 1024));
  app->add_option("--nic-bandwidth", options->nic_bandwidth,
                  "Per NIC and direction, datasheet, such as 400Gbps");
  app->add_flag("--json", options->json, "Print JSON");
  return {app, [options] { return import(*options); }};
}

}  // namespace amsp
