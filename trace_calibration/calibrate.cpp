#include "trace_calibration/calibrate.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "schedule/schedule_builder.h"
#include "topology/collective_models.h"
#include "trace_calibration/samples.h"

namespace amsp {
namespace {

/// Weight gradients run at this part of the forward's rate (lowering/compute_model.cpp).

double seconds(Nanoseconds time) {
  return static_cast<double>(time) * 1e-9;
}

const char* name_of(NvlinkKind kind) {
  return kind == NvlinkKind::kSwitch ? "switch" : kind == NvlinkKind::kDirect ? "direct" : "none";
}

std::string rate_text(BytesPerSec rate) {
  return fmt::format("{:.17g}B/s", rate.value);
}

class Calibrator {
 public:
  Calibrator(const Scenario& scenario, const Analysis& analysis, const std::string& name)
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
    result_.profile["schema"] = "amsp.profile/1";
    result_.profile["name"] = name;
  }

  Calibration run() {
    result_.profile["provenance"] = fmt::format(
        "Measured: {} kernels of {} rank{} running {}, from {}{}", samples_.used, analysis_.ranks(),
        analysis_.ranks() == 1 ? "" : "s", scenario_.name, analysis_.set.files.front().path,
        analysis_.set.files.size() > 1
            ? fmt::format(" and {} more files", analysis_.set.files.size() - 1)
            : "");
    add_hardware();
    result_.profile["capacities"] = OrderedJson::object();
    add_collectives();
    add_capacities();
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

  void add_hardware() {
    const ClusterSpec& cluster = scenario_.cluster;
    result_.profile["hardware"] = {{"gpu", cluster.gpu.name},
                                   {"gpus_per_node", cluster.node.gpus},
                                   {"nvlink", name_of(cluster.node.nvlink)},
                                   {"nvlink_bandwidth", rate_text(cluster.node.nvlink_bandwidth)},
                                   {"nics_per_node", cluster.node.nics},
                                   {"nic_bandwidth", rate_text(cluster.node.nic_bandwidth)}};
  }

  /// A contiguous mesh inside one node, or of whole nodes: what a profile can hold.
  bool is_plain(const SubMesh& mesh) const {
    const bool contiguous = mesh.stride == Mesh{1, 1};
    return contiguous && (mesh.shape.inter == 1 || mesh.shape.intra == scenario_.cluster.node.gpus);
  }

  void add_collectives() {
    std::map<std::pair<CollectiveKind, SubMesh>, OrderedJson> rows;
    std::map<std::string, int> left_out;
    for (const auto& [call, samples] : samples_.calls) {
      const auto& [kind, mesh, bytes] = call;
      if (mesh.size() == 1 || samples.size() == 0) continue;
      if (!is_plain(mesh)) {
        ++left_out[to_string(mesh)];
        continue;
      }
      const double time = time_of(samples);
      OrderedJson& table = rows.try_emplace({kind, mesh}, OrderedJson::array()).first->second;
      // bytes grow from row to row here; a time that falls is noise of the larger message's
      while (!table.empty() && table.back()[1].get<double>() > time) {
        note("{} on {}: {} bytes took longer than {} bytes, and is dropped", to_string(kind),
             to_string(mesh), table.back()[0].get<std::int64_t>(), bytes);
        table.erase(table.size() - 1);
      }
      table.push_back({bytes, time});
      remember_rate(kind, mesh.shape, static_cast<double>(bytes), time);
    }
    for (const auto& [mesh, count] : left_out)
      note("{} sizes on {} are left out: a profile holds groups of neighbours only", count, mesh);
    result_.profile["collectives"] = OrderedJson::array();
    for (const auto& [key, table] : rows) {
      const auto& [kind, mesh] = key;
      result_.profile["collectives"].push_back(
          {{"op", to_string(kind)},
           {"mesh", to_string(mesh.shape)},
           {"nics", mesh.shape.inter == 1 ? 0 : scenario_.cluster.node.nics},
           {"source", "traces of " + scenario_.name},
           {"rows", table}});
    }
  }

  /// Payload that a rank's port, or a node's NIC, carries (topology/collective.h): (n-1)/n of the
  /// message for one pass of a ring, twice that for an all-reduce, all of it for a broadcast.
  void remember_rate(CollectiveKind kind, Mesh mesh, double bytes, double time) {
    const double n = mesh.size();
    const double passes = kind == CollectiveKind::kAllReduce ? 2 : 1;
    const double wire = kind == CollectiveKind::kBroadcast ? bytes : passes * (n - 1) / n * bytes;
    if (mesh.inter == 1)
      port_ = std::max(port_, wire / time);
    else if (scenario_.cluster.node.nics > 0)
      nic_ = std::max(nic_, wire / time / scenario_.cluster.node.nics);
  }

  void add_capacities() {
    const NodeSpec& node = scenario_.cluster.node;
    const auto capacity = [](double measured, BytesPerSec described, BytesPerSec other) {
      OrderedJson json;
      json["bytes_per_s"] = measured > 0 ? measured : std::max({described.value, other.value, 1.0});
      json["source"] = measured > 0 ? "best rate in the traces" : "description of the cluster";
      return json;
    };
    result_.profile["capacities"]["nic"] = capacity(nic_, node.nic_capacity, node.nic_bandwidth);
    result_.profile["capacities"]["port"] =
        capacity(port_, node.nvlink_capacity, node.pcie_capacity);
  }

  void add_gemms() {
    std::map<ProgramSamples::GemmShape, std::pair<OrderedJson, OrderedJson>> times;
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
    std::map<ProgramSamples::AttentionShape, std::pair<OrderedJson, OrderedJson>> times;
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
  ProgramSamples samples_;
  Calibration result_;
  double port_ = 0, nic_ = 0;  // bytes per second
  int crowded_ = 0;
};

}  // namespace

Calibration calibrate(const Scenario& scenario, const Analysis& analysis, const std::string& name) {
  return Calibrator(scenario, analysis, name).run();
}

}  // namespace amsp
