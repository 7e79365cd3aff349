#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>

#include "lowering/lowering.h"
#include "schedule/schedule_builder.h"
#include "sim/simulator.h"
#include "topology/graph/conditions.h"
#include "topology/models/collective_models.h"
#include "topology/spec/node_cables.h"

namespace amsp {

/// How loads differ from those of a homogeneous cluster: as slow links and detours would make them.
enum class Skew { kNone, kOneGroup, kSomeLinks, kEverywhere };

/// The loads of another model, skewed; times are longer accordingly.
class SkewedCollectives : public CollectiveModel {
 public:
  SkewedCollectives(std::unique_ptr<CollectiveModel> model, Skew skew)
      : model_(std::move(model)), skew_(skew) {}
  CollectiveTime time(const CollectiveCall& call) const override {
    CollectiveTime time = model_->time(call);
    if (skew_ != Skew::kNone) time.time = kMost * time.time;
    return time;
  }
  std::vector<LinkLoad> loads(const CollectiveCall& call, int group) const override {
    std::vector<LinkLoad> loads = model_->loads(call, group);
    for (LinkLoad& load : loads) load.bytes *= factor(group, load.link);
    return loads;
  }
  int load_pattern(const CollectiveCall& call) const override { return model_->load_pattern(call); }

 private:
  static constexpr int kMost = 3;
  int factor(int group, LinkId link) const {
    switch (skew_) {
      case Skew::kNone:
        return 1;
      case Skew::kOneGroup:
        return group == 1 ? kMost : 1;
      case Skew::kSomeLinks:
        return link % 23 == 4 ? kMost : 1;
      case Skew::kEverywhere:
        return 1 + static_cast<int>((static_cast<std::uint32_t>(group) * 2654435761U +
                                     static_cast<std::uint32_t>(link) * 40503U) >>
                                    16) %
                       kMost;
    }
    return 1;
  }

  std::unique_ptr<CollectiveModel> model_;
  Skew skew_;
};

/// Everything that decides how alike ranks are.
struct FoldCase {
  ClusterSpec cluster;
  ShardingPlan plan;
  EnginePolicy engine;
  TrainingSpec training;
  std::string name;
  Skew skew = Skew::kNone;
  PlacementKind placement = PlacementKind::kPacked;
  Conditions conditions;
};

/// Big enough that kernels take milliseconds, so that 1e-9 of a time is more than the clock's
/// 1e-12.
inline ModelSpec fold_model() {
  ModelSpec model;
  model.name = "fold";
  model.hidden = 512;
  model.layers = 3;
  model.heads = model.kv_heads = 8;
  model.head_dim = 64;
  model.ffn = 1376;
  model.vocab = 3200;
  return model;
}

/// The case, lowered.
struct FoldSetup {
  explicit FoldSetup(const FoldCase& c)
      : cluster(c.cluster),
        placement(place(c, cluster)),
        collectives(
            std::make_unique<SkewedCollectives>(make_collectives(cluster, placement), c.skew)),
        compute(c.cluster.gpu, nullptr, nullptr),
        graph(build_schedule(fold_model(), c.training, c.plan, c.engine)),
        lowering(graph, cluster, *collectives, compute,
                 slowness(c.conditions, cluster, placement)) {}

  ClusterGraph cluster;
  Placement placement;
  std::unique_ptr<CollectiveModel> collectives;
  ComputeModel compute;
  TaskGraph graph;
  Lowering lowering;

 private:
  static Placement place(const FoldCase& c, ClusterGraph& cluster) {
    apply(c.conditions, cluster);
    return {c.cluster, c.plan.dp, c.plan.os.inter, {c.placement, {}}};
  }
};

/// Draws cases from a seed, the same everywhere.
class FoldCases {
 public:
  explicit FoldCases(std::uint32_t seed) : state_(seed * 2654435761U + 1) {}

  FoldCase next() {
    while (true) {
      FoldCase c;
      c.cluster = draw_cluster();
      c.engine = draw_engine();
      c.training = draw_training();
      if (coin()) c.skew = static_cast<Skew>(1 + draw(3));
      if (draw(3) == 0) c.placement = PlacementKind::kScattered;
      const std::string plan = draw_plan(c);
      if (plan.empty() || broken_rule(c.plan, c.cluster) || engine_obstacle(c.engine, c.plan))
        continue;
      if (draw(3) == 0) draw_conditions(c);
      const auto& [nodes, gpus] = std::pair(c.cluster.nodes, c.cluster.node.gpus);
      c.name = fmt::format(
          "{} ({}) on {} nodes of {} GPUs and {} NICs, NVLink {}, {} nodes a leaf, {} spines of "
          "{}, {} rails, {} cores, {} flows, {} + {} cables, {}; "
          "collectives {}; engine {}, overlap {}{}{}{}, {}{}{}{}{}{}{}, M {}, skew {}, {} slow "
          "GPUs, {} links",
          plan, to_string(c.plan), nodes, gpus, c.cluster.node.nics,
          static_cast<int>(c.cluster.node.nvlink), c.cluster.fabric.nodes_per_leaf,
          c.cluster.fabric.spines, c.cluster.fabric.leaf_spine_bandwidth.value,
          c.cluster.fabric.rails, c.cluster.fabric.cores, c.cluster.fabric.ecmp_flows,
          c.cluster.node.cables.size(), c.cluster.fabric.cables.size(), to_string(c.placement),
          to_string(c.cluster.gpu.architecture) + std::string(c.cluster.nccl.sharp ? " SHARP" : ""),
          c.engine.name, int{c.engine.overlap_gather}, int{c.engine.overlap_all_reduce},
          int{c.engine.overlap_broadcast}, int{c.engine.decoupled_reduce_scatter},
          c.engine.communicators == Communicators::kShared ? "shared " : "",
          c.engine.gather_unit == GatherUnit::kBlock ? "block " : "",
          c.engine.reduce_unit == GatherUnit::kBlock ? "reduced by block " : "",
          c.engine.grad_reduction == GradReduction::kReduceScatter ? "reduce_scatter " : "",
          c.engine.param_update == ParamUpdate::kAllGather ? "all_gather " : "",
          c.engine.os_sharding == OsSharding::kTensor ? "tensor " : "flat ",
          c.engine.replica_sync == ReplicaSync::kEvery ? "every" : "last", c.training.micro_batches,
          static_cast<int>(c.skew), c.conditions.slow_gpus.size(), c.conditions.links.size());
      return c;
    }
  }

 private:
  int draw(int bound) {
    state_ = state_ * 1664525 + 1013904223;
    return static_cast<int>((state_ >> 8) % static_cast<std::uint32_t>(bound));
  }
  bool coin() { return draw(2) == 0; }

  ClusterSpec draw_cluster() {
    static constexpr std::array<std::array<int, 2>, 14> kShapes = {{{1, 4},
                                                                    {1, 8},
                                                                    {2, 4},
                                                                    {4, 2},
                                                                    {3, 6},
                                                                    {4, 4},
                                                                    {5, 4},
                                                                    {6, 3},
                                                                    {7, 2},
                                                                    {8, 4},
                                                                    {4, 8},
                                                                    {5, 6},
                                                                    {8, 2},
                                                                    {9, 3}}};
    const auto [nodes, gpus] = kShapes[static_cast<std::size_t>(draw(kShapes.size()))];
    ClusterSpec cluster;
    cluster.name = "fold";
    cluster.nodes = nodes;
    cluster.gpu = {"GPU", 2_TFLOPS, 80_GiB, 50_GBps, 0.8, 0.8, 0.5, 100, "test"};
    cluster.node.gpus = gpus;
    cluster.node.nvlink = static_cast<NvlinkKind>(draw(3));
    if (gpus == 1) cluster.node.nvlink = NvlinkKind::kSwitch;
    cluster.node.nvswitches = 1 + draw(2);
    cluster.node.nvlink_bandwidth = cluster.node.nvlink_capacity = 8_GBps;
    cluster.node.pcie_bandwidth = cluster.node.pcie_capacity = 4_GBps;
    cluster.node.nics = coin() ? 1 : coin() ? gpus : std::max(1, gpus / 2);
    cluster.node.nic_bandwidth = cluster.node.nic_capacity = 1_GBps;
    for (int gpu = 0; gpu < gpus; ++gpu)  // an odd count leaves the last NIC with more GPUs
      cluster.node.nic_of_gpu.push_back(
          std::min(cluster.node.nics - 1, gpu / std::max(1, gpus / cluster.node.nics)));
    cluster.node.comm_sms_intra = 20;
    cluster.node.comm_sms_inter = 10;
    cluster.fabric.nodes_per_leaf = 1 + draw(4);
    cluster.fabric.spines = 1 + draw(3);
    cluster.fabric.leaf_spine_bandwidth = coin() ? 1_GBps : 8_GBps;
    draw_other_fabric(cluster);
    if (draw(4) == 0) draw_cables_of_node(cluster.node);
    // Rings, or what NCCL chooses by size: trees, NVLS, SHARP
    if (coin()) cluster.gpu.architecture = static_cast<GpuArchitecture>(1 + draw(4));
    if (cluster.gpu.architecture != GpuArchitecture::kUnknown && cluster.nodes > 1)
      cluster.nccl.sharp = coin();
    return cluster;
  }

  /// A slow GPU or two, some slow, shared or failed links.
  void draw_conditions(FoldCase& c) {
    for (int i = draw(3); i > 0; --i)
      c.conditions.slow_gpus.push_back(
          {to_string(Vertex{VertexKind::kGpu, draw(c.cluster.nodes), draw(c.cluster.node.gpus)}),
           coin() ? 0.5 : 0.9, "test"});
    const ClusterGraph graph(c.cluster);
    for (int i = draw(3); i > 0; --i) {
      const Link& link = graph.link(draw(graph.link_count()));
      Conditions::Links entry{graph.link_name(link.id), coin() ? 0.5 : 0.05, {}, "test"};
      if (coin()) entry.background = 0.3 * entry.share * link.capacity;
      c.conditions.links.push_back(entry);
    }
    if (coin()) return;
    const Link& link = graph.link(draw(graph.link_count()));
    c.conditions.links.push_back({graph.link_name(link.id), 0, {}, "test"});
    try {
      ClusterGraph with_failures(c.cluster);
      apply(c.conditions, with_failures);
    } catch (const ConfigError&) {  // it cut something off
      c.conditions.links.pop_back();
    }
  }

  /// Half of the fabrics are more than two plain levels.
  void draw_other_fabric(ClusterSpec& cluster) {
    FabricSpec& fabric = cluster.fabric;
    switch (draw(8)) {
      case 0:
        fabric.rails = cluster.node.nics;
        break;
      case 1:  // a core over pods of one or two leaves
        fabric.leaves_per_pod = 1 + draw(2);
        fabric.cores = fabric.spines * (1 + draw(2));
        fabric.spine_core_bandwidth = coin() ? 1_GBps : 8_GBps;
        break;
      case 2:  // unequal leaves
        for (int left = cluster.nodes; left > 0; left -= fabric.leaf_nodes.back())
          fabric.leaf_nodes.push_back(1 + draw(std::min(left, 3)));
        break;
      case 3:  // a ring of switches, by links: no two nodes need be alike
        for (int node = 0; node < cluster.nodes; ++node)
          for (int nic = 0; nic < cluster.node.nics; ++nic)
            fabric.cables.push_back({{VertexKind::kNic, node, nic},
                                     {VertexKind::kSwitch, -1, node % 3},
                                     1_GBps,
                                     1_GBps});
        for (int a = 0; a < 3; ++a)
          fabric.cables.push_back({{VertexKind::kSwitch, -1, a},
                                   {VertexKind::kSwitch, -1, (a + 1) % 3},
                                   2_GBps,
                                   a == 0 ? 1_GBps : 2_GBps});
        break;
      case 4:  // static routes
        fabric.ecmp_flows = 1 + draw(3);
        fabric.ecmp_seed = static_cast<std::uint32_t>(draw(100));
        break;
      default:
        break;
    }
  }

  /// Two CPUs, whose halves of the GPUs and NICs have a PCIe switch each; with or without NVSwitch.
  void draw_cables_of_node(NodeSpec& node) {
    const auto add = [&](VertexKind a, int i, VertexKind b, int j, BytesPerSec rate) {
      node.cables.push_back({{a, -1, i}, {b, -1, j}, rate, rate});
    };
    for (int gpu = 0; gpu < node.gpus; ++gpu) {
      add(VertexKind::kGpu, gpu, VertexKind::kPcie, 2 * gpu / node.gpus, 4_GBps);
      if (node.nvlink == NvlinkKind::kSwitch)
        add(VertexKind::kGpu, gpu, VertexKind::kNvswitch, 0, 8_GBps);
    }
    for (int nic = 0; nic < node.nics; ++nic)
      add(VertexKind::kPcie, 2 * nic / node.nics, VertexKind::kNic, nic, 4_GBps);
    for (int cpu = 0; cpu < 2; ++cpu) add(VertexKind::kPcie, cpu, VertexKind::kCpu, cpu, 4_GBps);
    add(VertexKind::kCpu, 0, VertexKind::kCpu, 1, 3_GBps);
    const std::string rule = describe_by_cables(node);
    EXPECT_EQ(rule, "");
  }

  /// One by name of three, else switches at random.
  EnginePolicy draw_engine() {
    if (draw(3) == 0) return engine_policy(engine_names()[static_cast<std::size_t>(draw(4))]);
    EnginePolicy engine;
    engine.overlap_gather = coin();
    engine.overlap_all_reduce = coin();
    engine.overlap_broadcast = coin();
    engine.decoupled_reduce_scatter = coin();
    engine.prefetch_layers = 1 + draw(2);
    engine.bucket = coin() ? 2_MiB : 64_MiB;
    engine.max_pending_reduce = 1 + draw(4);
    engine.communicators = coin() ? Communicators::kShared : Communicators::kSeparate;
    engine.gather_unit = coin() ? GatherUnit::kModule : GatherUnit::kBlock;
    engine.reduce_unit = draw(4) > 0 ? GatherUnit::kModule : GatherUnit::kBlock;
    engine.grad_reduction = coin() ? GradReduction::kAllReduce : GradReduction::kReduceScatter;
    engine.param_update = coin() ? ParamUpdate::kBroadcast : ParamUpdate::kAllGather;
    engine.os_sharding = draw(3) > 0 ? OsSharding::kTensor : OsSharding::kFlat;
    engine.replica_sync = coin() ? ReplicaSync::kLast : ReplicaSync::kEvery;
    return engine;
  }

  TrainingSpec draw_training() {
    TrainingSpec training;
    training.sequence_length = 256;
    training.micro_batches = 1 + draw(2);
    training.recompute = draw(4) == 0 ? Recompute::kFull : Recompute::kNone;
    training.optimizer = {"adam", 12, 28, "test"};
    training.clip_gradients = coin();
    return training;
  }

  /// Its name; empty if the plan doesn't exist here.
  std::string draw_plan(FoldCase& c) {
    Mesh dp{c.cluster.node.gpus, c.cluster.nodes};
    if (draw(4) == 0 && dp.inter > 1) --dp.inter;  // a node stays idle
    const auto divisor = [&](int n) {
      int d = 1 + draw(n);
      while (n % d != 0) d = 1 + draw(n);
      return d;
    };
    const Mesh group = coin() ? Mesh{divisor(dp.intra), 1} : Mesh{dp.intra, divisor(dp.inter)};
    static constexpr std::array<const char*, 10> kNames = {
        "ddp",   "zero1", "zero2",    "zero3",    "zeropp",
        "mics-", "hsdp-", "explicit", "explicit", "explicit"};
    std::string name = kNames[static_cast<std::size_t>(draw(kNames.size()))];
    if (name == "zeropp" && (dp.inter == 1 || dp.intra == 1)) return "";
    if (name == "explicit") {
      const Mesh p{divisor(group.intra), 1};
      const Mesh os = coin() ? group : dp;
      c.plan = {p, coin() ? p : os, os, dp, {}};
      return name;
    }
    if (name.ends_with('-')) name += to_string(group);
    c.plan = named_plan(name, dp, "fold", "test");
    return name;
  }

  std::uint32_t state_;
};

/// 1e-9 of the time, or the resolution of SimGrid's clock.
inline bool same_time(Seconds a, Seconds b) {
  return std::abs((a - b).value) <= 1e-9 * std::max(a.value, b.value) + 2e-12;
}

struct FoldCounts {
  std::size_t full = 0, folded = 0;  // activities
  int rank_classes = 0;
  int batches_played = 0;
};

/// Plays the case in full and folded: step time, and start and end of every task on every rank.
inline FoldCounts expect_folded_equals_full(const FoldCase& c) {
  SCOPED_TRACE(c.name);
  const FoldSetup setup(c);
  const Playback full = simulate_every_rank(setup.lowering);
  const Playback folded = simulate(setup.lowering);
  const Timeline& expected = full.timeline;
  const Timeline& found = folded.timeline;
  EXPECT_TRUE(same_time(found.step_time(), expected.step_time()))
      << found.step_time().value << " for " << expected.step_time().value;
  int wrong = 0;
  for (int i = 0; i < setup.graph.size(); ++i)
    for (Rank rank = 0; rank < setup.graph.dp.size(); ++rank) {
      const auto id = static_cast<TaskId>(i);
      const Span& a = found.span(id, rank);
      const Span& b = expected.span(id, rank);
      if (same_time(a.start, b.start) && same_time(a.end, b.end)) continue;
      if (++wrong <= 3) {
        ADD_FAILURE() << setup.graph.key(id) << " on rank " << rank << ": "
                      << fmt::format("{} to {} s for {} to {} s", a.start.value, a.end.value,
                                     b.start.value, b.end.value);
      }
    }
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(folded.activities, full.activities);
  return {full.activities, folded.activities, folded.rank_classes, folded.batches_played};
}

}  // namespace amsp
