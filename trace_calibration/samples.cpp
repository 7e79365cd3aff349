#include "trace_calibration/samples.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/error.h"

namespace amsp {
namespace {

/// A task key without its step: "mb0/fwd/L3/q/forward".
std::string without_step(const std::string& key) {
  return key.substr(key.find('/') + 1);
}

/// Per event of a rank, how long any other event of the rank ran beside it.
std::vector<Nanoseconds> time_beside(const RankTrace& trace) {
  struct Edge {
    Nanoseconds time;
    int event;
    bool opens;
  };
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    if (trace.events[i].start >= trace.events[i].end) continue;
    edges.push_back({trace.events[i].start, static_cast<int>(i), true});
    edges.push_back({trace.events[i].end, static_cast<int>(i), false});
  }
  std::sort(edges.begin(), edges.end(),
            [](const Edge& a, const Edge& b) { return a.time < b.time; });
  // while two or more run, that time counts for each of them: the sum so far at its opening is
  // subtracted at its closing
  std::vector<Nanoseconds> beside(trace.events.size());
  Nanoseconds shared, now;
  int open = 0;
  for (const Edge& edge : edges) {
    if (open >= 2) shared += edge.time - now;
    now = edge.time;
    open += edge.opens ? 1 : -1;
    beside[static_cast<std::size_t>(edge.event)] += edge.opens ? -shared : shared;
  }
  return beside;
}

/// Bytes that a memory-bound work moves on a rank.
std::int64_t bytes_on(const TaskGraph& graph, const ComputeWork& work, Rank rank) {
  if (work.bytes_by_owner.empty()) return std::llround(work.bytes);
  const int owner = group_position(graph.owner_mesh, graph.dp, rank).position;
  return std::llround(work.bytes_by_owner[static_cast<std::size_t>(owner)]);
}

}  // namespace

Nanoseconds Samples::best() const {
  const bool clean = !alone.empty();
  std::vector<Nanoseconds> sorted = clean ? alone : beside;
  AMSP_CHECK(!sorted.empty(), "there are no samples");
  std::sort(sorted.begin(), sorted.end());
  return sorted[clean ? sorted.size() / 2 : sorted.size() / 10];
}

TaskSamples collect_samples(const TaskGraph& graph, const Analysis& analysis) {
  std::unordered_map<std::string, TaskId> tasks;
  for (int i = 0; i < graph.size(); ++i)
    tasks.try_emplace(without_step(graph.key(TaskId{i})), TaskId{i});

  TaskSamples result;
  for (std::size_t rank = 0; rank < analysis.ranks(); ++rank) {
    const RankTrace& trace = analysis.rank(rank);
    const std::vector<Nanoseconds> beside = time_beside(trace);
    for (std::size_t i = 0; i < trace.events.size(); ++i) {
      const GpuEvent& event = trace.events[i];
      const auto found =
          event.key < 0 ? tasks.end() : tasks.find(without_step(trace.text(event.key)));
      if (found == tasks.end()) {
        ++result.unknown;
        continue;
      }
      const Task& task = graph[found->second];
      const Nanoseconds length = event.end - event.start;
      Nanoseconds time = length;
      Samples* samples = nullptr;
      if (task.kind == WorkKind::kCollective) {
        const CollectiveCall& call = graph.collective(task).call;
        time -= waiting_time(analysis.set.ranks, analysis.joins, static_cast<int>(rank),
                             static_cast<int>(i))
                    .value_or(0_ns);
        samples = &result.calls[{call.kind, call.mesh, call.bytes.value}];
      } else if (task.kind == WorkKind::kCompute) {
        const ComputeWork& work = graph.compute(task);
        if (const GemmWork* gemm = work.gemm())
          samples =
              &(gemm->wgrad ? result.weight_gemms : result.gemms)[{gemm->m, gemm->k, gemm->n}];
        else if (const AttentionWork* core = work.attention())
          samples = &(core->backward ? result.attention_backward : result.attention_forward)[{
              core->sequence, core->batch, core->heads, core->head_dim}];
        else
          samples = &result.memory[{work.memory()->kernel, work.memory()->backward,
                                    bytes_on(graph, work, trace.rank.value_or(0))}];
      }
      if (samples == nullptr || time <= 0_ns) continue;
      ++result.used;
      const bool alone = 20 * beside[i] <= length;
      (alone ? samples->alone : samples->beside).push_back(time);
    }
  }
  return result;
}

}  // namespace amsp
