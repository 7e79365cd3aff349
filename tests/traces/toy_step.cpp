#include "tests/traces/toy_step.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace amsp {
namespace {

constexpr StreamId kGather = 1;
constexpr StreamId kReduce = 2;
constexpr StreamId kUpdate = 3;

CollectiveWork collective(CollectiveKind kind, const SubMesh& mesh, Bytes bytes) {
  return {{kind, mesh, bytes, {}}, 2, {}};
}

template <class Kernel>
std::int32_t add_compute_work(TaskGraph& graph) {
  ComputeWork work;
  work.kernel = Kernel{};
  return graph.add_work(std::move(work));
}

std::int32_t add_optimizer(TaskGraph& graph) {
  ComputeWork work;
  work.bytes = 200;
  work.bytes_by_owner = {300, 100};
  return graph.add_work(std::move(work));
}

}  // namespace

TaskGraph toy_graph() {
  TaskGraph graph;
  graph.dp = {2, 1};
  graph.layers = 1;
  const SubMesh pair = sub_mesh({2, 1});
  graph.owner_mesh = pair;
  graph.add_stream({"compute", {}});
  graph.add_stream({"gather 2x1", pair});
  graph.add_stream({"reduce 2x1", pair});
  graph.add_stream({"update 2x1", pair});
  const auto optimizer = add_optimizer(graph);
  const auto gemm = add_compute_work<GemmWork>(graph);
  const auto attention = add_compute_work<AttentionWork>(graph);
  const auto gather = graph.add_work(collective(CollectiveKind::kAllGather, pair, 102_B));
  const auto scatter = graph.add_work(collective(CollectiveKind::kReduceScatter, pair, 102_B));
  const auto reduce = graph.add_work(collective(CollectiveKind::kAllReduce, pair, 64_B));
  CollectiveWork uneven = collective(CollectiveKind::kBroadcast, pair, 40_B);
  uneven.call.bytes_by_root = {30_B, 10_B};
  const auto update = graph.add_work(std::move(uneven));

  const auto add = [&](TaskKey key, StreamId stream, WorkKind kind, std::int32_t work,
                       std::vector<TaskId> deps) {
    return graph.add({key, stream, kind, work}, deps);
  };
  const auto add_compute = [&](TaskKey key, std::int32_t work, std::vector<TaskId> deps) {
    return add(key, kComputeStream, WorkKind::kCompute, work, std::move(deps));
  };
  const auto add_collective = [&](TaskKey key, StreamId stream, std::int32_t work, TaskId dep) {
    return add(key, stream, WorkKind::kCollective, work, {dep});
  };
  const auto add_mark = [&](int step, TaskId dep) {
    return add({step, -1, Phase::kMark, -1, Module::kNone, -1, Op::kStepBegin}, kComputeStream,
               WorkKind::kMarker, -1, {dep});
  };
  const auto finish_step = [&](int step, std::vector<TaskId> deps) {
    const TaskId opt = add_compute({step, -1, Phase::kOptimizer, -1, Module::kNone, -1, Op::kStep},
                                   optimizer, std::move(deps));
    return add_collective({step, -1, Phase::kUpdate, 1, Module::kNone, -1, Op::kBroadcast}, kUpdate,
                          update, opt);
  };
  const auto layer = [](Phase phase, Module module, Op op) {
    return TaskKey{1, 0, phase, 1, module, -1, op};
  };

  graph.window_begin = add_mark(1, finish_step(0, {}));
  const TaskId gathered = add_collective(layer(Phase::kForward, Module::kQ, Op::kAllGather),
                                         kGather, gather, graph.window_begin);
  add_compute(layer(Phase::kForward, Module::kQ, Op::kForward), gemm, {gathered});
  add_compute(layer(Phase::kForward, Module::kAttention, Op::kForward), attention, {});
  add_compute(layer(Phase::kBackward, Module::kAttention, Op::kBackward), attention, {});
  const TaskId wgrad = add_compute(layer(Phase::kBackward, Module::kQ, Op::kWgrad), gemm, {});
  const TaskId scattered = add_collective(layer(Phase::kBackward, Module::kQ, Op::kReduceScatter),
                                          kGather, scatter, wgrad);
  add_compute(layer(Phase::kBackward, Module::kQ, Op::kDgrad), gemm, {});
  const TaskId reduced = add_collective(
      {1, 0, Phase::kGradSync, -1, Module::kNone, 0, Op::kAllReduce}, kReduce, reduce, scattered);
  graph.window_end = add_mark(2, finish_step(1, {reduced}));
  return graph;
}

Timeline toy_timeline(const TaskGraph& graph) {
  struct Duration {
    double rank0_us, rank1_us;
  };
  static constexpr Duration kDurations[] = {{30, 10}, {20, 20}, {0, 0},   {10, 10}, {40, 50},
                                            {20, 20}, {30, 30}, {20, 20}, {25, 25}, {30, 30},
                                            {15, 15}, {30, 10}, {20, 20}, {0, 0}};
  return play(graph, [](TaskId id, Rank rank) {
    const Duration& duration = kDurations[index(id)];
    return Seconds{(rank == 0 ? duration.rank0_us : duration.rank1_us) / 1e6};
  });
}

TaskGraph random_graph(std::uint32_t seed, int tasks) {
  std::mt19937 random(seed);
  TaskGraph graph;
  graph.dp = {2, 2};
  graph.layers = 1;
  const Mesh meshes[] = {{2, 1}, {2, 2}};
  const SubMesh families[] = {sub_mesh(meshes[0]), quotient(meshes[1], meshes[0]),
                              sub_mesh(meshes[1])};
  graph.add_stream({"compute", {}});
  for (const SubMesh& mesh : families) graph.add_stream({to_string(mesh), mesh});
  const auto compute = add_compute_work<MemoryWork>(graph);
  const std::pair<Phase, Op> calls[] = {{Phase::kForward, Op::kAllGather},
                                        {Phase::kBackward, Op::kReduceScatter},
                                        {Phase::kGradSync, Op::kAllReduce},
                                        {Phase::kUpdate, Op::kBroadcast},
                                        {Phase::kOptimizer, Op::kAllReduce}};
  for (int i = 0; i < tasks; ++i) {
    std::vector<TaskId> deps;
    for (auto n = random() % 3; i > 0 && n > 0; --n)
      deps.push_back(static_cast<TaskId>(random() % static_cast<std::size_t>(i)));
    const bool is_mark = i == tasks / 4 || i == tasks / 2 || i == tasks - 5;
    // the micro-batch makes the keys unique
    TaskKey key{1, i, Phase::kForward, 1, Module::kQ, -1, Op::kForward};
    if (is_mark) {
      key = {1 + i / (tasks / 4), -1, Phase::kMark, -1, Module::kNone, -1, Op::kStepBegin};
      const TaskId mark = graph.add({key, kComputeStream, WorkKind::kMarker, -1}, deps);
      if (i == tasks / 4) graph.window_begin = mark;
      graph.window_end = mark;
    } else if (random() % 2 == 0) {
      graph.add({key, kComputeStream, WorkKind::kCompute, compute}, deps);
    } else {
      std::tie(key.phase, key.op) = calls[random() % std::size(calls)];
      const std::size_t family = random() % std::size(families);
      // the kind only decides the name in traces
      const auto work =
          graph.add_work(collective(CollectiveKind::kAllReduce, families[family], 64_B));
      graph.add({key, static_cast<StreamId>(family) + 1, WorkKind::kCollective, work}, deps);
    }
  }
  return graph;
}

namespace {

/// Plays a graph task by task; a collective has one lane for each of its groups.
class Player {
 public:
  explicit Player(const TaskGraph& graph) : graph_(graph), timeline_(graph) {
    auto ranks = std::make_shared<LaneMap>(static_cast<std::size_t>(graph.dp.size()));
    std::iota(ranks->begin(), ranks->end(), 0);
    by_rank_ = std::move(ranks);
  }

  void run(TaskId id, const std::function<Seconds(TaskId, Rank)>& duration,
           const std::function<Seconds(TaskId, Rank)>& gap) {
    const Task& task = graph_[id];
    if (task.kind == WorkKind::kCollective) {
      run_collective(id, graph_.collective(task).call.mesh, duration);
      return;
    }
    timeline_.add_task(by_rank_, graph_.dp.size());
    for (Rank rank = 0; rank < graph_.dp.size(); ++rank) {
      Seconds start = timeline_.ready(id, rank);
      if (task.kind == WorkKind::kCompute) start += gap(id, rank);
      const Seconds length = task.kind == WorkKind::kCompute ? duration(id, rank) : Seconds{};
      timeline_.lane(id, rank) = {start, start + length};
    }
  }

  Timeline take() { return std::move(timeline_); }

 private:
  void run_collective(TaskId id, const SubMesh& mesh,
                      const std::function<Seconds(TaskId, Rank)>& duration) {
    const auto groups = process_groups(mesh, graph_.dp);
    auto lanes = std::make_shared<LaneMap>(static_cast<std::size_t>(graph_.dp.size()));
    for (std::size_t group = 0; group < groups.size(); ++group)
      for (const Rank rank : groups[group])
        (*lanes)[static_cast<std::size_t>(rank)] = static_cast<int>(group);
    timeline_.add_task(std::move(lanes), static_cast<int>(groups.size()));
    for (std::size_t group = 0; group < groups.size(); ++group) {
      Seconds start;
      for (const Rank rank : groups[group]) start = std::max(start, timeline_.ready(id, rank));
      timeline_.lane(id, static_cast<int>(group)) = {start,
                                                     start + duration(id, groups[group].front())};
    }
  }

  const TaskGraph& graph_;
  Timeline timeline_;
  std::shared_ptr<const LaneMap> by_rank_;
};

}  // namespace

Timeline play(const TaskGraph& graph, const std::function<Seconds(TaskId, Rank)>& duration) {
  Player player(graph);
  for (int i = 0; i < graph.size(); ++i)
    player.run(TaskId{i}, duration, [](TaskId, Rank) { return Seconds{}; });
  return player.take();
}

Timeline play_randomly(const TaskGraph& graph, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto length = [&](TaskId, Rank) {
    return Seconds{random() % 8 == 0 ? 0.0 : static_cast<double>(random() % 4000) / 8e9};
  };
  const auto gap = [&](TaskId, Rank) {
    return Seconds{random() % 4 == 0 ? static_cast<double>(random() % 800) / 8e9 : 0.0};
  };
  Player player(graph);
  for (int i = 0; i < graph.size(); ++i) player.run(TaskId{i}, length, gap);
  return player.take();
}

}  // namespace amsp
