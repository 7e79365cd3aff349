#include "profiling/import_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/error.h"
#include "core/nearest.h"
#include "core/quantity.h"
#include "profiling/nccl_run.h"

namespace amsp {
namespace {

std::string plural(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  if (values.size() % 2 == 1) return values[half];
  return (values[half - 1] + values[half]) / 2;
}

class Importer {
 public:
  explicit Importer(const ImportOptions& options) : options_(options) {}

  LogImport run(const std::vector<NcclLog>& logs) {
    for (const NcclLog& log : logs) {
      result_.notes.insert(result_.notes.end(), log.notes.begin(), log.notes.end());
      for (const NcclRun& run : log.runs) add_run(log, run);
    }
    if (tables_.empty())
      throw ConfigError(fmt::format("{}: nothing is left for a profile{}", logs.front().file,
                                    result_.notes.empty() ? "" : ": " + join(result_.notes, "; ")));
    make_draft();
    report_tables();
    return std::move(result_);
  }

 private:
  struct Measured {
    std::map<std::int64_t, std::vector<double>> seconds;  // by bytes
    std::vector<std::string> files;
  };

  template <class... Args>
  void note(fmt::format_string<Args...> format, Args&&... args) {
    std::string text = fmt::format(format, std::forward<Args>(args)...);
    if (std::find(result_.notes.begin(), result_.notes.end(), text) == result_.notes.end())
      result_.notes.push_back(std::move(text));
  }

  /// std::nullopt: of no use for a profile, and noted.
  std::optional<CollectiveKind> kind_of(const NcclRun& run) {
    const std::optional<std::string> test = test_of(run);
    if (!test) {
      if (options_.kind) return options_.kind;
      if (!run.titles.empty())
        throw ConfigError(fmt::format("{}: names two tests, {}; give --op", run.place,
                                      join(run.titles, " and ")));
      throw ConfigError(fmt::format(
          "{}: does not say which operation it ran; give --op (all_gather, reduce_scatter, "
          "all_reduce or broadcast)",
          run.place));
    }
    const std::optional<CollectiveKind> kind = kind_of_test(*test);
    if (options_.kind && kind != options_.kind)
      throw ConfigError(
          fmt::format("{}: ran {}; --op says {}", run.place, *test, to_string(*options_.kind)));
    if (!kind)
      note("{}: {} of {} left out: no task of a training step does it", run.place,
           plural(run.rows.size(), "row"), *test);
    return kind;
  }

  std::optional<Mesh> mesh_in(const NcclRun& run) {
    const RunMesh found = mesh_of(run);
    if (!found.unusable.empty()) {
      note("{}: left out: {}", run.place, found.unusable);
      return std::nullopt;
    }
    if (!found.mesh && !options_.mesh)
      throw ConfigError(fmt::format("{}: {}; give --mesh, GPUs per node x nodes such as 8x4",
                                    run.place, found.unknown));
    if (found.mesh && options_.mesh && *found.mesh != *options_.mesh)
      throw ConfigError(fmt::format("{}: ran on {} of {}; --mesh says {}", run.place,
                                    plural(static_cast<std::size_t>(found.mesh->inter), "host"),
                                    plural(static_cast<std::size_t>(found.mesh->intra), "rank"),
                                    to_string(*options_.mesh)));
    return fitting(run, found.mesh ? *found.mesh : *options_.mesh);
  }

  std::optional<Mesh> fitting(const NcclRun& run, Mesh mesh) {
    const int gpus = options_.hardware.gpus_per_node;
    if (mesh.intra > gpus)
      throw ConfigError(fmt::format("{}: ran {} ranks on a host; the hardware has {} a node",
                                    run.place, mesh.intra,
                                    plural(static_cast<std::size_t>(gpus), "GPU")));
    if (mesh.size() == 1) {
      note("{}: left out: a single rank (nccl-tests without MPI=1?)", run.place);
      return std::nullopt;
    }
    if (mesh.inter > 1 && mesh.intra != gpus) {
      note("{}: left out: a profile holds {}, or groups inside one; this is {}", run.place,
           gpus == 1 ? "nodes" : fmt::format("whole nodes of {} GPUs", gpus), to_string(mesh));
      return std::nullopt;
    }
    if (mesh.inter > 1 && options_.hardware.nics_per_node == 0)
      throw ConfigError(
          fmt::format("{}: ran on {} hosts; the hardware has no NICs", run.place, mesh.inter));
    return mesh;
  }

  void check_run(const NcclRun& run) const {
    if (!run.failed.empty()) throw ConfigError(run.failed + ": wrong results, not to be trusted");
    if (run.aggregated > 1)
      throw ConfigError(
          fmt::format("{}: times are means over groups of {} operations (agg iters), "
                      "not of one alone",
                      run.place, run.aggregated));
    if (run.cpu_time)
      throw ConfigError(run.place + ": times are the host's (cputime, -C), not the GPUs'");
    if (run.side_work)
      throw ConfigError(run.place + ": times were taken beside other work (side_work)");
  }

  void add_run(const NcclLog& log, const NcclRun& run) {
    const std::optional<CollectiveKind> kind = kind_of(run);
    if (!kind) return;
    check_run(run);
    const std::optional<Mesh> mesh = mesh_in(run);
    if (!mesh) return;
    Measured& table = tables_[{*kind, *mesh}];
    for (const NcclRow& row : run.rows) {
      const std::optional<NcclTimes>& times = options_.in_place ? row.in_place : row.out_of_place;
      if (!times)
        throw ConfigError(fmt::format("{}: has no {} times; give --times {}", row.place,
                                      options_.in_place ? "in-place" : "out-of-place",
                                      options_.in_place ? "out-of-place" : "in-place"));
      const std::string reason = contradiction(row, *times, *kind, mesh->size());
      if (!reason.empty()) throw ConfigError(row.place + ": " + reason);
      table.seconds[row.bytes].push_back(times->time.value);
    }
    if (std::find(table.files.begin(), table.files.end(), log.file) == table.files.end())
      table.files.push_back(log.file);
    remember(log, run);
  }

  void remember(const NcclLog& log, const NcclRun& run) {
    if (std::find(files_.begin(), files_.end(), log.file) == files_.end())
      files_.push_back(log.file);
    if (!run.nccl_version.empty()) nccl_.insert(run.nccl_version);
    for (const NcclRank& rank : run.ranks)
      if (!rank.gpu.empty()) gpus_.insert(rank.gpu);
    if (run.empty_rows > 0)
      note("{}: {} of size 0 left out", run.place,
           plural(static_cast<std::size_t>(run.empty_rows), "row"));
    if (run.blocking)
      note("{}: the host waits after each operation (blocking), which the times contain",
           run.place);
  }

  std::string provenance() const {
    std::string text = "Measured: nccl-tests";
    if (!nccl_.empty()) text += ", NCCL " + join({nccl_.begin(), nccl_.end()}, " and ");
    if (!gpus_.empty()) text += ", on " + join({gpus_.begin(), gpus_.end()}, " and ");
    text += fmt::format("; {} times", options_.in_place ? "in-place" : "out-of-place");
    std::size_t most = 1;
    for (const auto& [key, table] : tables_)
      for (const auto& [bytes, times] : table.seconds) most = std::max(most, times.size());
    if (most > 1)
      text += fmt::format("; the median where a size was measured several times (up to {})", most);
    return text + "; imported from " + join(files_);
  }

  void make_draft() {
    result_.profile.name = options_.name;
    result_.profile.provenance = provenance();
    result_.profile.hardware = options_.hardware;
    const auto described = [](BytesPerSec rate) {
      return MeasuredCapacity{std::max(rate, BytesPerSec{1}), "description of the hardware"};
    };
    result_.profile.nic = described(options_.hardware.nic_bandwidth);
    result_.profile.port = described(options_.hardware.nvlink_bandwidth);
    for (const auto& [key, measured] : tables_) {
      MeasuredTable table{key.first, key.second, join(measured.files, " and ")};
      for (const auto& [bytes, times] : measured.seconds) table.seconds[bytes] = median(times);
      result_.profile.tables.push_back(std::move(table));
    }
    drop_falling_times(result_.profile);
    for (MeasuredTable& table : result_.profile.tables) find_algorithm(table);
    set_best_rates(result_.profile);
    for (const DroppedRow& row : result_.profile.dropped)
      note("{} on {}: {} bytes took longer than {} bytes, and are dropped", to_string(row.kind),
           to_string(row.mesh), row.bytes, row.larger_bytes);
  }

  void find_algorithm(MeasuredTable& table) {
    const ProfileHardware& hardware = options_.hardware;
    const bool inside = table.mesh.inter == 1;
    if (inside && hardware.nvlink == NvlinkKind::kNone) return;  // PCIe has no datasheet here
    const BytesPerSec datasheet =
        inside ? hardware.nvlink_bandwidth : hardware.nics_per_node * hardware.nic_bandwidth;
    const BytesPerSec reached = best_bus_bandwidth(table);
    const std::string fact =
        fmt::format("{} on {} reaches a bus bandwidth of {}", to_string(table.kind),
                    to_string(table.mesh), format_bandwidth(reached));
    const std::string limit = inside
                                  ? "NVLink's " + format_bandwidth(datasheet)
                                  : fmt::format("{} x {} of a node's NICs", hardware.nics_per_node,
                                                format_bandwidth(hardware.nic_bandwidth));
    const bool may_reduce = table.kind == CollectiveKind::kAllReduce &&
                            (!inside || hardware.nvlink == NvlinkKind::kSwitch);
    if (may_reduce && reached > (inside ? options_.ring_limit.value_or(datasheet) : datasheet)) {
      const bool is_tree = !inside && table.mesh.inter == 2;
      const NcclAlgorithm tree =
          options_.ring_limit ? NcclAlgorithm::kNvlsTree : NcclAlgorithm::kTree;
      table.algorithm = inside    ? NcclAlgorithm::kNvls
                        : is_tree ? tree
                                  : NcclAlgorithm::kCollNetChain;
      note("{}, more than rings can: {} ({})", fact,
           is_tree ? "a tree over 2 nodes sends each byte once" : "switches reduced it",
           to_string(table.algorithm));
    } else if (reached > datasheet) {
      throw ConfigError(fmt::format("{}: {}, more than {}: is the hardware described right?",
                                    table.source, fact, limit));
    }
  }

  void report_tables() {
    for (const MeasuredTable& table : result_.profile.tables) {
      const Measured& measured = tables_.at({table.kind, table.mesh});
      ImportedTable report{table.kind, table.mesh, measured.files, table.seconds.size()};
      for (const auto& [bytes, times] : measured.seconds) report.measurements += times.size();
      report.least_bytes = table.seconds.begin()->first;
      report.most_bytes = table.seconds.rbegin()->first;
      report.best_bus_bandwidth = best_bus_bandwidth(table);
      result_.tables.push_back(std::move(report));
    }
  }

  const ImportOptions& options_;
  std::map<std::pair<CollectiveKind, Mesh>, Measured> tables_;
  std::vector<std::string> files_;
  std::set<std::string> nccl_, gpus_;
  LogImport result_;
};

}  // namespace

LogImport import_logs(const std::vector<NcclLog>& logs, const ImportOptions& options) {
  AMSP_CHECK(!logs.empty(), "there are no logs");
  return Importer(options).run(logs);
}

}  // namespace amsp
