#include "profiling/measurement_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include "core/error.h"
#include "core/quantity.h"
#include "prediction/machine.h"
#include "prediction/predict.h"
#include "schedule/schedule_builder.h"
#include "topology/models/collective_models.h"

namespace amsp {
namespace {

Coverage coverage_of(Source source) {
  switch (source) {
    case Source::kMeasured:
      return Coverage::kMeasured;
    case Source::kDerived:
      return Coverage::kDerived;
    case Source::kModelled:
    case Source::kDatasheet:
    case Source::kAssumed:
      return Coverage::kModelled;
  }
  throw InternalError("a Source outside its enumeration");
}

Pass pass_of(const ComputeWork& work, Op op) {
  const GemmWork* gemm = work.gemm();
  if (gemm != nullptr && gemm->wgrad) return Pass::kWeightGradient;
  if (op == Op::kForward) return Pass::kForward;
  return gemm != nullptr ? Pass::kDataGradient : Pass::kBackward;
}

const char* to_string(Pass pass) {
  switch (pass) {
    case Pass::kForward:
      return "forward";
    case Pass::kDataGradient:
      return "data gradient";
    case Pass::kWeightGradient:
      return "weight gradient";
    case Pass::kBackward:
      return "backward";
  }
  throw InternalError("a Pass outside its enumeration");
}

/// Norms and residuals of a layer are the same kernels.
std::string kernel_of(const TaskKey& key, const std::string& optimizer) {
  if (key.op == Op::kStep) return optimizer + " step";
  if (key.op == Op::kNorm) return "gradient norm";
  std::string module = to_string(key.module);
  for (const char* part : {"attn_", "ffn_", "final_"})
    if (module.starts_with(part)) module = module.substr(std::string(part).size());
  return fmt::format("{} {}", module, key.op == Op::kForward ? "forward" : "backward");
}

std::string name_of(const ComputeWork& work, Pass pass, const std::string& kernel) {
  if (const GemmWork* gemm = work.gemm())
    return fmt::format("gemm {}x{}x{} {}", gemm->m, gemm->k, gemm->n, to_string(pass));
  if (const AttentionWork* core = work.attention())
    return fmt::format("attention S {} b {} heads {}{} d {} {}", core->sequence, core->batch,
                       core->heads,
                       core->kv_heads == core->heads ? "" : fmt::format("/{}", core->kv_heads),
                       core->head_dim, to_string(pass));
  return fmt::format("{}, {}", kernel, format_bytes(Bytes{std::llround(work.bytes)}));
}

/// A contiguous group inside a node, or of whole nodes.
bool fits_profile(const SubMesh& mesh, int gpus_per_node) {
  const bool contiguous = mesh.stride == Mesh{1, 1};
  return contiguous && (mesh.shape.inter == 1 || mesh.shape.intra == gpus_per_node);
}

std::int64_t power_of_two_below(std::int64_t bytes) {
  std::int64_t power = 1;
  while (power < (bytes + 1) / 2) power *= 2;
  return power;
}

/// Sizes that a step uses, as they are measured, and those beside them.
std::map<std::int64_t, SizeNeed> ladder(const std::map<std::int64_t, SizeNeed>& used, int members) {
  constexpr double kAlike = 0.95;
  constexpr std::int64_t kLatencyOnly = 4096;
  std::map<std::int64_t, SizeNeed> rungs;
  for (auto size = used.rbegin(); size != used.rend(); ++size) {
    const auto above = rungs.begin();
    if (above != rungs.end() && above->second.element_bytes == size->second.element_bytes &&
        static_cast<double>(size->first) >= kAlike * static_cast<double>(above->first))
      above->second.per_step += size->second.per_step;
    else
      rungs.insert(*size);
  }
  const std::map<std::int64_t, SizeNeed> own = rungs;
  for (const auto& [bytes, size] : own) {
    if (bytes <= kLatencyOnly) continue;
    const std::int64_t below = power_of_two_below(bytes);
    for (std::int64_t beside : {below, below * 2 > bytes ? below * 2 : below * 4}) {
      beside -= beside % (static_cast<std::int64_t>(size.element_bytes) * members);
      if (beside <= 0) continue;
      SizeNeed& rung = rungs.try_emplace(beside).first->second;
      if (rung.per_step > 0) continue;
      rung.bytes = Bytes{beside};
      rung.element_bytes = size.element_bytes;
    }
  }
  return rungs;
}

class Planner {
 public:
  explicit Planner(const Scenario& scenario)
      : scenario_(lenient(scenario)),
        machine_(scenario_),
        graph_(
            build_schedule(scenario_.model, scenario_.training, scenario_.plan, scenario_.engine)) {
    plan_.scenario = scenario_.name;
    plan_.profile = scenario_.cluster.profile;
  }

  MeasurementPlan plan() {
    const int step = graph_[graph_.window_end].key.step - 1;
    for (const Task& task : graph_.tasks()) {
      if (task.key.step != step) continue;
      if (task.kind == WorkKind::kCompute) add_kernel(task);
      if (task.kind == WorkKind::kCollective) add_call(graph_.collective(task));
    }
    for (KernelNeed& need : plan_.kernels) {
      need.repetitions = plan_.rules.repetitions(need.time);
      need.cost = plan_.rules.kernel_set_up + plan_.rules.running(need.time);
    }
    at_cluster(scenario_, [&] {
      for (const auto& family : order_) add_family(family);
    });
    return std::move(plan_);
  }

 private:
  using Family = std::pair<CollectiveKind, SubMesh>;

  /// What a strict profile refuses is what is to be found out.
  static Scenario lenient(Scenario scenario) {
    check_size(scenario);
    scenario.cluster.profile_strict = false;
    return scenario;
  }

  void add_kernel(const Task& task) {
    ComputeWork work = graph_.compute(task);
    int owner = 0;
    if (!work.bytes_by_owner.empty()) {
      const auto most = std::max_element(work.bytes_by_owner.begin(), work.bytes_by_owner.end());
      owner = static_cast<int>(most - work.bytes_by_owner.begin());
      work.bytes = *most;
    }
    const Pass pass = pass_of(work, task.key.op);
    const std::string name =
        name_of(work, pass, kernel_of(task.key, scenario_.training.optimizer.name));
    const auto [known, is_new] = kernels_.try_emplace(name, plan_.kernels.size());
    if (is_new) {
      const ComputeTime time = machine_.compute().time(work, owner);
      KernelNeed need{name, work, pass, 0, coverage_of(time.source)};
      need.time = time.time;
      plan_.kernels.push_back(std::move(need));
    }
    ++plan_.kernels[known->second].per_step;
  }

  void add_call(const CollectiveWork& work) {
    const CollectiveCall& call = work.call;
    if (call.mesh.size() == 1 || call.bytes.value == 0) return;
    const auto [sizes, is_new] = used_.try_emplace({call.kind, call.mesh});
    if (is_new) order_.emplace_back(call.kind, call.mesh);
    SizeNeed& size = sizes->second[call.bytes.value];
    size.bytes = call.bytes;
    size.element_bytes = work.element_bytes;
    ++size.per_step;
  }

  /// Rings or NCCL's model, as the cluster has them without a profile.
  const CollectiveModel& without_profile() {
    if (!fallback_) {
      ClusterSpec spec = scenario_.cluster;
      spec.profile.clear();
      fallback_graph_ = std::make_unique<ClusterGraph>(spec);
      fallback_ = make_collectives(*fallback_graph_, machine_.placement());
    }
    return *fallback_;
  }

  void add_family(const Family& family) {
    const auto& [kind, mesh] = family;
    CollectiveNeed alone;
    alone.kind = kind;
    alone.mesh = mesh;
    alone.groups = graph_.dp.size() / mesh.size();
    alone.in_profile = fits_profile(mesh, scenario_.cluster.node.gpus);
    for (auto& [bytes, size] : ladder(used_.at(family), mesh.size())) {
      const CollectiveCall call = call_of(family, size.bytes);
      const auto* profile = dynamic_cast<const ProfiledCollectives*>(&machine_.collectives());
      const bool is_missing = profile != nullptr && !profile->covers(call);
      const CollectiveTime time =
          (is_missing ? without_profile() : machine_.collectives()).time(call);
      size.time = time.time;
      size.coverage = is_missing ? Coverage::kMissing : coverage_of(time.source);
      if (size.coverage == Coverage::kMeasured && time.extrapolated)
        size.coverage = Coverage::kDerived;
      alone.sizes.push_back(size);
    }
    CollectiveNeed together = alone;
    set_costs(alone);
    plan_.collectives.push_back(std::move(alone));
    if (together.groups == 1) return;
    together.together = true;
    together.in_profile = false;
    for (SizeNeed& size : together.sizes) {
      const CollectiveCall call = call_of(family, size.bytes);
      const bool is_missing = size.coverage == Coverage::kMissing;
      size.time = std::max(
          size.time, time_on_links(call, is_missing ? without_profile() : machine_.collectives()));
      if (!is_missing) size.coverage = Coverage::kModelled;
    }
    set_costs(together);
    plan_.collectives.push_back(std::move(together));
  }

  static CollectiveCall call_of(const Family& family, Bytes bytes) {
    CollectiveCall call{family.first, family.second, bytes, {}};
    if (family.first == CollectiveKind::kBroadcast) {
      call.bytes_by_root.assign(static_cast<std::size_t>(family.second.size()), Bytes{0});
      call.bytes_by_root.front() = bytes;
    }
    return call;
  }

  void set_costs(CollectiveNeed& need) const {
    for (SizeNeed& size : need.sizes) {
      size.repetitions = plan_.rules.repetitions(size.time);
      size.cost = plan_.rules.running(size.time);
    }
  }

  /// Of the slowest link, with the loads of all groups.
  Seconds time_on_links(const CollectiveCall& call, const CollectiveModel& model) {
    const auto key = std::tuple(call.kind, call.mesh, model.load_pattern(call), &model);
    const auto [per_byte, is_new] = per_byte_.try_emplace(key, 0);
    if (is_new) {
      const ClusterGraph& cluster = machine_.cluster();
      std::vector<double> bytes(static_cast<std::size_t>(cluster.link_count()), 0);
      for (int group = 0; group < graph_.dp.size() / call.mesh.size(); ++group)
        for (const LinkLoad& load : model.loads(call, group))
          bytes[static_cast<std::size_t>(load.link)] += load.bytes;
      double most = 0;
      for (LinkId link = 0; link < cluster.link_count(); ++link)
        most = std::max(most,
                        bytes[static_cast<std::size_t>(link)] / cluster.link(link).capacity.value);
      per_byte->second = most / static_cast<double>(call.bytes.value);
    }
    return Seconds{per_byte->second * static_cast<double>(call.bytes.value)};
  }

  Scenario scenario_;
  Machine machine_;
  TaskGraph graph_;
  std::unique_ptr<ClusterGraph> fallback_graph_;
  std::unique_ptr<CollectiveModel> fallback_;
  MeasurementPlan plan_;
  std::map<std::string, std::size_t> kernels_;  // by name, where in the plan
  std::map<Family, std::map<std::int64_t, SizeNeed>> used_;
  std::vector<Family> order_;
  std::map<std::tuple<CollectiveKind, SubMesh, int, const CollectiveModel*>, double> per_byte_;
};

}  // namespace

const char* to_string(Coverage coverage) {
  switch (coverage) {
    case Coverage::kMeasured:
      return "measured";
    case Coverage::kDerived:
      return "derived";
    case Coverage::kModelled:
      return "modelled";
    case Coverage::kMissing:
      return "missing";
  }
  throw InternalError("a Coverage outside its enumeration");
}

int MeasuringRules::repetitions(Seconds time) const {
  if (time.value <= 0) return least_repetitions;
  const double wanted = std::ceil(enough.value / time.value);
  return static_cast<int>(std::clamp(wanted, static_cast<double>(least_repetitions),
                                     static_cast<double>(most_repetitions)));
}

Seconds MeasuringRules::running(Seconds time) const {
  return static_cast<double>(warm_up + repetitions(time)) * time;
}

int CollectiveNeed::per_step() const {
  int calls = 0;
  for (const SizeNeed& size : sizes) calls += size.per_step;
  return calls;
}

Coverage CollectiveNeed::coverage() const {
  Coverage least = Coverage::kMeasured;
  for (const SizeNeed& size : sizes)
    if (size.per_step > 0) least = std::max(least, size.coverage);
  return least;
}

Seconds MeasurementPlan::kernel_cost() const {
  Seconds sum;
  for (const KernelNeed& need : kernels) sum += need.cost;
  return sum;
}

Seconds MeasurementPlan::cost(const CollectiveNeed& need) const {
  Seconds sum = rules.communicator_set_up;
  for (const SizeNeed& size : need.sizes) sum += size.cost;
  return sum;
}

Seconds MeasurementPlan::collective_cost() const {
  Seconds sum;
  for (const CollectiveNeed& need : collectives) sum += cost(need);
  return sum;
}

double MeasurementPlan::gpu_seconds() const {
  double sum = kernel_cost().value;
  for (const CollectiveNeed& need : collectives) sum += need.gpus() * cost(need).value;
  return sum;
}

MeasurementPlan plan_measurements(const Scenario& scenario) {
  return Planner(scenario).plan();
}

MeasurementPlan missing(const MeasurementPlan& plan) {
  MeasurementPlan result = plan;
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t, bool>> shapes;
  std::erase_if(result.kernels, [&](const KernelNeed& need) {
    if (need.coverage == Coverage::kMeasured) return true;
    const GemmWork* gemm = need.work.gemm();
    return gemm != nullptr && !shapes.insert({gemm->m, gemm->k, gemm->n, gemm->wgrad}).second;
  });
  for (CollectiveNeed& need : result.collectives) {
    const std::vector<SizeNeed> all = need.sizes;
    std::erase_if(need.sizes, [&](const SizeNeed& size) {
      if (!need.in_profile || size.coverage == Coverage::kMeasured) return true;
      return std::none_of(all.begin(), all.end(), [&](const SizeNeed& used) {
        return used.per_step > 0 && used.coverage != Coverage::kMeasured &&
               2 * size.bytes >= used.bytes && size.bytes <= 2 * used.bytes;
      });
    });
  }
  std::erase_if(result.collectives, [](const CollectiveNeed& need) { return need.sizes.empty(); });
  return result;
}

}  // namespace amsp
