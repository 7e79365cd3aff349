#include "trace_calibration/calibrate.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "schedule/schedule_builder.h"
#include "topology/profile/profile_writer.h"
#include "trace_calibration/samples.h"

namespace amsp {
namespace {

double seconds(Nanoseconds time) {
  return to_seconds(time).value;
}

class Calibrator {
 public:
  Calibrator(const Scenario& scenario, const Analysis& analysis, const std::string& name,
             const std::vector<MeasuredTable>& measured)
      : scenario_(scenario), analysis_(analysis) {
    for (const RankTrace& trace : analysis.set.ranks)
      if (!trace.has_keys)
        throw ConfigError(trace.file +
                          ": has no task keys (args.sk): only traces of our own programs say "
                          "what their kernels did");
    samples_ = collect_samples(
        build_schedule(scenario.model, scenario.training, scenario.plan, scenario.engine),
        analysis);
    if (samples_.used == 0)
      throw ConfigError(fmt::format("{}: none of the traced kernels is a task of scenario {}",
                                    analysis.set.files.front().path, scenario.name));
    draft_.name = name;
    draft_.tables = measured;
  }

  Calibration run() {
    draft_.provenance = fmt::format(
        "Measured: {} kernels of {} rank{} running {}, from {}{}", samples_.used, analysis_.ranks(),
        analysis_.ranks() == 1 ? "" : "s", scenario_.name, analysis_.set.files.front().path,
        analysis_.set.files.size() > 1
            ? fmt::format(" and {} more files", analysis_.set.files.size() - 1)
            : "");
    draft_.hardware = hardware_of(scenario_.cluster);
    add_collectives();
    add_capacities();
    result_.profile = profile_json(draft_);
    add_gemms();
    add_attention();
    add_memory();
    note("{} kernels used", samples_.used);
    if (samples_.unknown > 0)
      note("{} events are no task of the scenario and were left out", samples_.unknown);
    if (crowded_ > 0)
      note("{} rows rest on kernels that never ran alone: their 10th percentile", crowded_);
    return std::move(result_);
  }

 private:
  template <class... Args>
  void note(fmt::format_string<Args...> format, Args&&... args) {
    result_.notes.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  double time_of(const Samples& samples) {
    if (samples.alone.empty()) ++crowded_;
    return seconds(samples.best());
  }

  /// A contiguous mesh inside one node, or of whole nodes: what a profile can hold.
  bool is_plain(const SubMesh& mesh) const {
    const bool contiguous = mesh.stride == Mesh{1, 1};
    return contiguous && (mesh.shape.inter == 1 || mesh.shape.intra == scenario_.cluster.node.gpus);
  }

  void add_collectives() {
    std::map<std::pair<CollectiveKind, SubMesh>, MeasuredTable> tables;
    std::map<std::string, int> left_out;
    for (const auto& [call, samples] : samples_.calls) {
      const auto& [kind, mesh, bytes] = call;
      if (mesh.size() == 1 || samples.size() == 0) continue;
      if (!is_plain(mesh)) {
        ++left_out[to_string(mesh)];
        continue;
      }
      MeasuredTable& table = tables[{kind, mesh}];
      table.kind = kind;
      table.mesh = mesh.shape;
      table.source = "traces of " + scenario_.name;
      table.seconds[bytes] = time_of(samples);
    }
    for (auto& [key, table] : tables) draft_.tables.push_back(std::move(table));
    drop_falling_times(draft_);
    for (const DroppedRow& row : draft_.dropped)
      note("{} on {}: {} bytes took longer than {} bytes, and is dropped", to_string(row.kind),
           to_string(row.mesh), row.bytes, row.larger_bytes);
    for (const auto& [mesh, count] : left_out)
      note("{} sizes on {} are left out: a profile holds groups of neighbours only", count, mesh);
  }

  void add_capacities() {
    const NodeSpec& node = scenario_.cluster.node;
    const auto described = [](BytesPerSec capacity, BytesPerSec other) {
      return MeasuredCapacity{std::max({capacity, other, BytesPerSec{1}}),
                              "description of the cluster"};
    };
    draft_.nic = described(node.nic_capacity, node.nic_bandwidth);
    draft_.port = described(node.nvlink_capacity, node.pcie_capacity);
    set_best_rates(draft_);
  }

  void add_gemms() {
    std::map<TaskSamples::GemmShape, std::pair<OrderedJson, OrderedJson>> times;
    for (const auto& [shape, samples] : samples_.gemms) times[shape].first = time_of(samples);
    for (const auto& [shape, samples] : samples_.weight_gemms)
      times[shape].second = time_of(samples);
    if (times.empty()) return;
    OrderedJson rows = OrderedJson::array();
    for (const auto& [shape, time] : times) {
      const auto [m, k, n] = shape;
      rows.push_back({m, k, n, time.first, time.second});
    }
    result_.profile["gemm"] = {{"columns", {"m", "k", "n", "forward_s", "weight_gradient_s"}},
                               {"rows", rows}};
  }

  void add_memory() {
    std::map<std::pair<MemoryKernel, bool>, OrderedJson> tables;
    for (const auto& [key, samples] : samples_.memory) {
      const auto [kernel, backward, bytes] = key;
      if (kernel == MemoryKernel::kNone || bytes == 0 || samples.size() == 0) continue;
      tables.try_emplace({kernel, backward}, OrderedJson::array())
          .first->second.push_back({bytes, time_of(samples)});
    }
    if (tables.empty()) return;
    result_.profile["memory"] = OrderedJson::array();
    for (const auto& [key, rows] : tables)
      result_.profile["memory"].push_back({{"kernel", to_string(key.first)},
                                           {"backward", key.second},
                                           {"source", "traces of " + scenario_.name},
                                           {"rows", rows}});
  }

  void add_attention() {
    std::map<TaskSamples::AttentionShape, std::pair<OrderedJson, OrderedJson>> times;
    for (const auto& [shape, samples] : samples_.attention_forward)
      times[shape].first = time_of(samples);
    for (const auto& [shape, samples] : samples_.attention_backward)
      times[shape].second = time_of(samples);
    if (times.empty()) return;
    OrderedJson rows = OrderedJson::array();
    for (const auto& [shape, time] : times) {
      const auto [seq, batch, heads, head_dim] = shape;
      rows.push_back({seq, batch, heads, head_dim, time.first, time.second});
    }
    result_.profile["attention"] = {
        {"columns", {"seq", "batch", "heads", "head_dim", "forward_s", "backward_s"}},
        {"rows", rows}};
  }

  const Scenario& scenario_;
  const Analysis& analysis_;
  TaskSamples samples_;
  ProfileDraft draft_;
  Calibration result_;
  int crowded_ = 0;
};

}  // namespace

Calibration calibrate(const Scenario& scenario, const Analysis& analysis, const std::string& name,
                      const std::vector<MeasuredTable>& measured) {
  return Calibrator(scenario, analysis, name, measured).run();
}

}  // namespace amsp
