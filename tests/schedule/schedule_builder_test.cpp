#include "schedule/schedule_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/schedule/small_model.h"
#include "tests/schedule/task_order.h"

namespace amsp {
namespace {

constexpr Mesh kOne{1, 1};

struct ScheduleCase {
  const char* name;
  ShardingPlan plan;
  int micro_batches = 1;
  Recompute recompute = Recompute::kNone;
  EnginePolicy engine = {};
};

std::vector<ScheduleCase> cases() {
  const Mesh dp{2, 2};
  std::vector<ScheduleCase> result;
  const std::vector<std::pair<std::string, ShardingPlan>> plans = {
      {"ddp", {kOne, kOne, kOne, dp, {}}},      {"zero1", {kOne, kOne, dp, dp, {}}},
      {"zero2", {kOne, dp, dp, dp, {}}},        {"zero3", {dp, dp, dp, dp, {}}},
      {"zeropp", {dp, dp, dp, dp, Mesh{2, 1}}}, {"mics2", {{2, 1}, {2, 1}, {2, 1}, dp, {}}},
      {"amsp", {{2, 1}, {2, 1}, dp, dp, {}}},   {"amsp_g_os", {{2, 1}, dp, dp, dp, {}}},
  };
  for (const auto& [name, plan] : plans)
    for (const int m : {1, 3})
      for (const Recompute recompute : {Recompute::kNone, Recompute::kFull})
        for (const bool overlap : {true, false})
          for (const GatherUnit unit : {GatherUnit::kModule, GatherUnit::kBlock}) {
            for (const GatherUnit reduce : {GatherUnit::kModule, GatherUnit::kBlock}) {
              EnginePolicy engine;
              engine.overlap_gather = engine.overlap_all_reduce = engine.overlap_broadcast =
                  overlap;
              engine.gather_unit = unit;
              engine.reduce_unit = reduce;
              engine.bucket = Bytes{600};
              result.push_back({name.c_str(), plan, m, recompute, engine});
            }
          }
  return result;
}

TaskGraph graph_of(const ScheduleCase& c) {
  TrainingSpec training = small_training(c.micro_batches);
  training.recompute = c.recompute;
  return build_schedule(small_model(), training, c.plan, c.engine);
}

TEST(Schedule, RecomputesTheShareOfLayersEvenlySpread) {
  ModelSpec model = small_model();
  model.layers = 5;
  TrainingSpec training = small_training(2);
  training.recompute = Recompute::kFull;
  const ShardingPlan zero3{{2, 1}, {2, 1}, {2, 1}, {2, 1}, {}};
  const auto again = [&](double share) {
    training.recompute_share = share;
    const TaskGraph graph = build_schedule(model, training, zero3, {});
    std::set<int> blocks;
    for (int i = 0; i < graph.size(); ++i) {
      const Task& task = graph[static_cast<TaskId>(i)];
      if (task.key.phase == Phase::kRecompute && task.kind == WorkKind::kCompute)
        blocks.insert(task.key.block);
    }
    return blocks;
  };
  EXPECT_EQ(again(1), (std::set<int>{1, 2, 3, 4, 5}));
  EXPECT_EQ(again(0.4), (std::set<int>{3, 5}));
  EXPECT_EQ(again(0.2), (std::set<int>{5}));
  EXPECT_EQ(again(2.0 / 3), (std::set<int>{2, 3, 5}));
}

TEST(Schedule, KeysAreUnique) {
  for (const ScheduleCase& c : cases()) {
    const TaskGraph graph = graph_of(c);
    EXPECT_EQ(static_cast<int>(by_key(graph).size()), graph.size()) << to_string(c.plan);
  }
}

/// The paper's equations of T_p, T_g and T_os, in bytes: what the tasks of one step move, by (kind,
/// mesh).
TEST(Schedule, BytesAreThoseOfTheFormulas) {
  constexpr std::int64_t kPhi = 1448;
  constexpr std::int64_t kEmbedding = 160;
  for (const ScheduleCase& c : cases()) {
    const TaskGraph graph = graph_of(c);
    std::map<std::pair<std::string, std::string>, std::int64_t> moved;
    for (const Task& task : graph.tasks())
      if (task.kind == WorkKind::kCollective && task.key.step == 1 &&
          task.key.phase != Phase::kOptimizer) {
        const CollectiveCall& call = graph.collective(task).call;
        moved[{to_string(call.kind), to_string(call.mesh)}] += call.bytes.value;
      }
    std::map<std::pair<std::string, std::string>, std::int64_t> expected;
    const std::int64_t m = c.micro_batches;
    const int s_p = c.plan.p.size();
    if (s_p > 1) {
      const std::string p = to_string(sub_mesh(c.plan.p));
      const std::string second = c.plan.p2 ? to_string(sub_mesh(*c.plan.p2)) : p;
      expected[{"all_gather", p}] += m * 2 * kPhi;
      expected[{"all_gather", second}] += m * 2 * (kPhi - kEmbedding);
      expected[{"reduce_scatter", p}] += m * 2 * kPhi;
    }
    const std::int64_t local = 2 * kPhi / s_p;  // all slices are whole
    if (c.plan.g != c.plan.p)
      if (m > 1)
        expected[{"all_reduce", to_string(quotient(c.plan.g, c.plan.p))}] += (m - 1) * local;
    if (c.plan.dp != c.plan.p)
      expected[{"all_reduce", to_string(quotient(c.plan.dp, c.plan.p))}] += local;
    if (c.plan.os != c.plan.p)
      expected[{"broadcast", to_string(quotient(c.plan.os, c.plan.p))}] += local;
    EXPECT_EQ(moved, expected) << to_string(c.plan) << " M " << m;
  }
}

TEST(Schedule, EveryComputeWaitsForItsParameters) {
  for (const ScheduleCase& c : cases()) {
    const TaskGraph graph = graph_of(c);
    const auto keys = by_key(graph);
    for (const auto& [key, id] : keys) {
      const Task& task = graph[id];
      if (task.kind != WorkKind::kCollective || task.key.op != Op::kAllGather ||
          task.key.module == Module::kNone || task.key.phase != Phase::kForward)
        continue;
      const std::string user = key.substr(0, key.rfind('/')) + "/forward";
      EXPECT_TRUE(must_precede(graph, id, keys.at(user))) << key;
    }
  }
}

TEST(Schedule, OptimizerWaitsForAllGradientWork) {
  for (const ScheduleCase& c : cases()) {
    const TaskGraph graph = graph_of(c);
    const TaskId step = by_key(graph).at("s1/-/opt/-/-/step");
    for (int i = 0; i < static_cast<int>(index(step)); ++i)
      EXPECT_TRUE(must_precede(graph, static_cast<TaskId>(i), step) ||
                  graph[static_cast<TaskId>(i)].key.step == 0)
          << graph.key(static_cast<TaskId>(i));
  }
}

TEST(Schedule, WithoutOverlapEverythingIsOneChain) {
  for (const ScheduleCase& c : cases()) {
    if (c.engine.overlap_gather) continue;
    const TaskGraph graph = graph_of(c);
    // The length of the longest chain is the number of tasks.
    std::vector<int> depth(static_cast<std::size_t>(graph.size()), 1);
    for (int i = 0; i < graph.size(); ++i) {
      const auto id = static_cast<TaskId>(i);
      const auto after = [&](TaskId dep) {
        if (dep != TaskId{-1}) depth[index(id)] = std::max(depth[index(id)], depth[index(dep)] + 1);
      };
      after(graph.stream_predecessor(id));
      for (const TaskId dep : graph.deps(id)) after(dep);
    }
    EXPECT_EQ(depth.back(), graph.size()) << to_string(c.plan) << " " << c.name;
  }
}

class Overlap : public testing::Test {
 protected:
  ScheduleCase case_{"amsp", {{2, 1}, {2, 1}, {2, 2}, {2, 2}, {}}};
};

TEST_F(Overlap, ForwardPrefetchesTheNextLayerAtTheStartOfThisOne) {
  const TaskGraph graph = graph_of(case_);
  const auto keys = by_key(graph);
  const TaskId gather = keys.at("s1/mb0/fwd/L1/q/all_gather@2x1");
  EXPECT_TRUE(must_precede(graph, keys.at("s1/mb0/fwd/emb/embedding/forward"), gather));
  EXPECT_FALSE(must_precede(graph, keys.at("s1/mb0/fwd/L0/attn_norm/forward"), gather));
}

TEST_F(Overlap, BackwardPrefetchesOneModule) {
  const TaskGraph graph = graph_of(case_);
  const auto keys = by_key(graph);
  // Before L1/up in backward order comes L1/down: its start lets the gather go.
  const TaskId gather = keys.at("s1/mb0/bwd/L1/up/all_gather@2x1");
  EXPECT_TRUE(must_precede(graph, keys.at("s1/mb0/bwd/head/final_norm/backward"), gather));
  EXPECT_FALSE(must_precede(graph, keys.at("s1/mb0/bwd/L1/down/wgrad"), gather));
}

TEST_F(Overlap, DecoupledReduceScatterHoldsNothingUp) {
  const auto blocks = [&](bool decoupled) {
    case_.engine.decoupled_reduce_scatter = decoupled;
    const TaskGraph graph = graph_of(case_);
    const auto keys = by_key(graph);
    return must_precede(graph, keys.at("s1/mb0/bwd/L1/down/reduce_scatter@2x1"),
                        keys.at("s1/mb0/bwd/L1/down/dgrad"));
  };
  EXPECT_FALSE(blocks(true));
  EXPECT_TRUE(blocks(false));
}

TEST_F(Overlap, PendingReductionsAreBounded) {
  case_.engine.max_pending_reduce = 1;
  const TaskGraph graph = graph_of(case_);
  const auto keys = by_key(graph);
  EXPECT_TRUE(must_precede(graph, keys.at("s1/mb0/bwd/L1/down/reduce_scatter@2x1"),
                           keys.at("s1/mb0/bwd/L1/up/wgrad")));
}

TEST_F(Overlap, BroadcastsGateOnlyTheirOwnLayer) {
  const TaskGraph graph = graph_of(case_);
  const auto keys = by_key(graph);
  const TaskId last = keys.at("s0/-/update/head/params/broadcast@1x2/2x1");
  EXPECT_FALSE(must_precede(graph, last, keys.at("s1/mb0/fwd/L1/down/forward")));
  EXPECT_TRUE(must_precede(graph, last, keys.at("s1/mb0/fwd/head/head/forward")));
  EXPECT_TRUE(must_precede(graph, keys.at("s0/-/update/L0/params/broadcast@1x2/2x1"),
                           keys.at("s1/mb0/fwd/L0/q/all_gather@2x1")));
}

TEST_F(Overlap, SharedCommunicatorsSerialiseGatherAndScatter) {
  case_.engine.communicators = Communicators::kShared;
  const TaskGraph graph = graph_of(case_);
  const auto keys = by_key(graph);
  EXPECT_EQ(graph[keys.at("s1/mb0/bwd/L1/up/all_gather@2x1")].stream,
            graph[keys.at("s1/mb0/bwd/L1/down/reduce_scatter@2x1")].stream);
}

TEST(Schedule, TiedGradientWaitsForTheEmbedding) {
  ModelSpec model = small_model();
  model.tied_embeddings = true;
  const TaskGraph graph =
      build_schedule(model, small_training(), {kOne, kOne, kOne, {2, 1}, {}}, {});
  const auto keys = by_key(graph);
  EXPECT_TRUE(must_precede(graph, keys.at("s1/mb0/bwd/emb/embedding/backward"),
                           keys.at("s1/mb0/grad_sync/-/bucket0/all_reduce@2x1")));
}

TEST(Schedule, ReplicaSyncEveryReducesInEachMicroBatch) {
  ScheduleCase c{"mics", {{2, 1}, {2, 1}, {2, 1}, {2, 2}, {}}, 3};
  const auto reductions = [&] {
    const TaskGraph graph = graph_of(c);
    return std::count_if(graph.tasks().begin(), graph.tasks().end(), [](const Task& task) {
      return task.key.phase == Phase::kGradSync && task.key.step == 1;
    });
  };
  EXPECT_EQ(reductions(), 1);
  c.engine.replica_sync = ReplicaSync::kEvery;
  EXPECT_EQ(reductions(), 3);
}

TEST(Schedule, ReduceScatterThenAllReduceMovesOwnedPartsOnly) {
  ScheduleCase c{"amsp", {kOne, kOne, {2, 1}, {2, 2}, {}}};
  c.engine.grad_reduction = GradReduction::kReduceScatter;
  const TaskGraph graph = graph_of(c);
  const auto keys = by_key(graph);
  const TaskId scatter = keys.at("s1/mb0/grad_sync/-/bucket0/reduce_scatter@2x1");
  const TaskId reduce = keys.at("s1/mb0/grad_sync/-/bucket0/all_reduce@1x2/2x1");
  EXPECT_EQ(graph.collective(graph[scatter]).call.bytes.value, 2 * 1448);
  EXPECT_EQ(graph.collective(graph[reduce]).call.bytes.value, 1448);
  EXPECT_TRUE(must_precede(graph, scatter, reduce));
}

TEST(Schedule, GrowsLinearlyInMicroBatches) {
  const auto size = [](int m) {
    return graph_of({"zero3", {{2, 2}, {2, 2}, {2, 2}, {2, 2}, {}}, m}).size();
  };
  EXPECT_EQ(size(3) - size(2), size(2) - size(1));
}

}  // namespace
}  // namespace amsp
