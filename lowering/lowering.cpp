#include "lowering/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "core/quantity.h"
#include "lowering/load_graph.h"

namespace amsp {

namespace {

/// HBM bytes that a collective kernel reads and writes per byte it sends: 2 to 3 (measured on
/// A100, NVIDIA/nccl issue 1428).
constexpr double kHbmPerWireByte = 2.5;

}  // namespace

Lowering::Lowering(const TaskGraph& graph, const ClusterGraph& cluster,
                   const CollectiveModel& collectives, const ComputeModel& compute,
                   std::vector<double> slowness)
    : graph_(graph),
      cluster_(cluster),
      collectives_(collectives),
      compute_(compute),
      slowness_(std::move(slowness)) {
  for (const CollectiveWork& work : graph.collective_works())
    collective_times_.push_back(collectives.time(work.call));
  for (const ComputeWork& work : graph.compute_works()) {
    const auto owners = std::max<std::size_t>(1, work.bytes_by_owner.size());
    auto& times = compute_times_.emplace_back();
    for (std::size_t owner = 0; owner < owners; ++owner)
      times.push_back(compute.time(work, static_cast<int>(owner)));
  }
  for (Rank rank = 0; rank < graph.dp.size(); ++rank)
    owners_.push_back(group_position(graph.owner_mesh, graph.dp, rank).position);
  if (!slowness_.empty()) {
    most_slowness_.assign(static_cast<std::size_t>(graph.owner_mesh.size()), 1);
    for (Rank rank = 0; rank < graph.dp.size(); ++rank) {
      double& most = most_slowness_[static_cast<std::size_t>(owner(rank))];
      most = std::max(most, slowness_[static_cast<std::size_t>(rank)]);
    }
  }
  for (LinkId link = 0; link < cluster.link_count() && !is_degraded_; ++link)
    is_degraded_ = cluster.link(link).available != cluster.link(link).capacity;
  for (const StreamSpec& stream : graph.streams())
    if (!groups_.contains(stream.mesh))
      groups_.emplace(stream.mesh, process_groups(stream.mesh, graph.dp));
}

Lowering::~Lowering() = default;

const LoadGraph& Lowering::load_graph() const {
  if (!load_graph_) load_graph_ = std::make_unique<LoadGraph>(*this);
  return *load_graph_;
}

ComputeTime Lowering::compute_time(const Task& task, int owner) const {
  if (task.kind == WorkKind::kMarker) return {Seconds{0}, Source::kDerived};
  const auto& times = compute_times_[static_cast<std::size_t>(task.work)];
  return times[times.size() == 1 ? 0 : static_cast<std::size_t>(owner)];
}

const CollectiveTime& Lowering::collective_time(const Task& task) const {
  return collective_times_[static_cast<std::size_t>(task.work)];
}

Seconds Lowering::slowest(const Task& task) const {
  if (task.kind == WorkKind::kMarker) return Seconds{0};
  if (task.kind == WorkKind::kCollective) return stretch(task) * collective_time(task).time;
  const auto& times = compute_times_[static_cast<std::size_t>(task.work)];
  Seconds most{0};
  for (std::size_t owner = 0; owner < std::max(times.size(), most_slowness_.size()); ++owner)
    most = std::max(most, (most_slowness_.empty() ? 1 : most_slowness_[owner]) *
                              times[times.size() == 1 ? 0 : owner].time);
  return most;
}

double Lowering::stretch(const Task& task) const {
  if (!is_degraded_) return 1;
  const LoadGraph& loads = load_graph();
  const LoadPatterns& patterns = loads.patterns();
  if (worst_.empty()) {
    worst_.assign(static_cast<std::size_t>(patterns.count()), 0);
    for (LinkId link = 0; link < link_count(); ++link)
      for (const LoadGraph::Edge& edge : loads.groups_of(link))
        for (const auto& [pattern, bytes] : loads.label(edge.label)) {
          double& worst = worst_[static_cast<std::size_t>(pattern)];
          worst = std::max(worst, bytes / capacity(link).value);
        }
  }
  const LoadPatterns::Share& share = patterns.share(task.work);
  const double time = collective_time(task).time.value;
  if (share.pattern < 0 || time <= 0) return 1;
  return std::max(1.0, share.factor * worst_[static_cast<std::size_t>(share.pattern)] / time);
}

int Lowering::resource_count() const {
  return cluster_.link_count() + 2 * graph_.dp.size();
}

ResourceKind Lowering::kind(int resource) const {
  if (resource < cluster_.link_count()) return ResourceKind::kLink;
  return (resource - cluster_.link_count()) % 2 == 0 ? ResourceKind::kSms : ResourceKind::kHbm;
}

int Lowering::owner(Rank rank) const {
  return owners_[static_cast<std::size_t>(rank)];
}

const std::vector<std::vector<Rank>>& Lowering::groups(const SubMesh& mesh) const {
  return groups_.at(mesh);
}

std::vector<ResourceUse> Lowering::compute_uses(const Task& task, Rank rank) const {
  const int position = owner(rank);
  const Seconds time = compute_time(task, position).time;
  const double share = compute_.hbm_share(graph_.compute(task), time, position);
  const int first = cluster_.link_count() + 2 * rank;
  std::vector<ResourceUse> uses = {{first, 1.0}};
  if (share > 0) uses.push_back({first + 1, share});
  return uses;
}

std::vector<LinkLoad> Lowering::loads(const Task& task, int group) const {
  return collectives_.loads(graph_.collective(task).call, group);
}

double Lowering::link_fraction(const Task& task, const LinkLoad& load) const {
  const double time = collective_time(task).time.value;
  if (time <= 0) return 0;
  const Link& link = cluster_.link(load.link);
  const double fraction = load.bytes / (link.available.value * time);
  if (is_degraded_) return fraction;
  AMSP_CHECK(fraction <= 1 + 1e-6, "{} takes {} s, too short for {} at {}",
             to_string(graph_.collective(task).call.kind), time, cluster_.link_name(load.link),
             format_bandwidth(link.capacity));
  return std::min(1.0, fraction);
}

double Lowering::sm_fraction(const Task& task) const {
  const CollectiveTime& time = collective_time(task);
  if (time.time.value <= 0) return 0;
  if (time.compute_share) return *time.compute_share;
  const NodeSpec& node = cluster_.spec().node;
  const bool over_nodes = graph_.collective(task).call.mesh.shape.inter > 1;
  return static_cast<double>(over_nodes ? node.comm_sms_inter : node.comm_sms_intra) /
         cluster_.spec().gpu.sms;
}

double Lowering::hbm_fraction(const Task& task) const {
  const double time = collective_time(task).time.value;
  if (time <= 0) return 0;
  const double wire = wire_bytes_per_rank(graph_.collective(task).call);
  return std::min(1.0, kHbmPerWireByte * wire / (compute_.hbm_rate().value * time));
}

std::vector<ResourceUse> Lowering::collective_uses(const Task& task, int group) const {
  std::vector<ResourceUse> uses;
  if (collective_time(task).time.value <= 0) return uses;
  for (const LinkLoad& load : loads(task, group)) {
    const double fraction = link_fraction(task, load);
    if (fraction > 0) uses.push_back({load.link, fraction});
  }
  const double sm_share = sm_fraction(task);
  const double hbm_share = hbm_fraction(task);
  const SubMesh& mesh = graph_.collective(task).call.mesh;
  for (const Rank rank : groups(mesh)[static_cast<std::size_t>(group)]) {
    const int first = cluster_.link_count() + 2 * rank;
    if (sm_share > 0) uses.push_back({first, sm_share});
    if (hbm_share > 0) uses.push_back({first + 1, hbm_share});
  }
  return uses;
}

std::vector<std::string> Lowering::unmeasured() const {
  std::vector<std::string> lines;
  std::set<std::string> seen;
  const auto add = [&](std::string line) {
    if (seen.insert(line).second) lines.push_back(std::move(line));
  };
  for (std::size_t i = 0; i < compute_times_.size(); ++i) {
    const ComputeWork& work = graph_.compute_works()[i];
    if (work.memory() == nullptr && compute_times_[i].front().source != Source::kMeasured)
      add(fmt::format("{}: {}", describe(work), to_string(compute_times_[i].front().source)));
  }
  if (!compute_times_.empty())
    add(fmt::format("norms, rotary, SwiGLU, residuals, loss, optimizer: bytes at {}: derived",
                    format_bandwidth(compute_.hbm_rate())));
  // Collectives by what is known of them, with the sizes concerned.
  using Kind = std::tuple<CollectiveKind, SubMesh, Source, bool>;
  std::map<Kind, std::pair<Bytes, Bytes>> sizes;
  std::vector<Kind> order;
  for (std::size_t i = 0; i < collective_times_.size(); ++i) {
    const CollectiveTime& time = collective_times_[i];
    const CollectiveCall& call = graph_.collective_works()[i].call;
    if (time.source == Source::kMeasured && !time.extrapolated) continue;
    const Kind kind{call.kind, call.mesh, time.source, time.extrapolated};
    const auto [found, added] = sizes.try_emplace(kind, call.bytes, call.bytes);
    if (added) order.push_back(kind);
    found->second.first = std::min(found->second.first, call.bytes);
    found->second.second = std::max(found->second.second, call.bytes);
  }
  for (const Kind& kind : order) {
    const auto& [op, mesh, source, extrapolated] = kind;
    const auto& [least, most] = sizes.at(kind);
    add(fmt::format(
        "{} of {} on {}: {}{}", to_string(op),
        least == most ? format_bytes(least) : format_bytes(least) + " to " + format_bytes(most),
        to_string(mesh), to_string(source), extrapolated ? ", extrapolated" : ""));
  }
  return lines;
}

}  // namespace amsp
