#pragma once

#include <memory>

#include "lowering/lowering.h"
#include "schedule/schedule_builder.h"
#include "tests/schedule/small_model.h"
#include "topology/models/collective_models.h"

namespace amsp {

/// Two GPUs and one NIC in each of `nodes` nodes.
inline ClusterSpec small_cluster(int nodes) {
  ClusterSpec cluster;
  cluster.name = "small";
  cluster.nodes = nodes;
  cluster.gpu = {"GPU", 100_TFLOPS, 80_GiB, 1000_GBps, 0.8, 0.8, 0.5, 100, "test"};
  cluster.node.gpus = 2;
  cluster.node.nvlink_bandwidth = cluster.node.nvlink_capacity = 100_GBps;
  cluster.node.pcie_bandwidth = cluster.node.pcie_capacity = 50_GBps;
  cluster.node.nics = 1;
  cluster.node.nic_bandwidth = cluster.node.nic_capacity = 10_GBps;
  cluster.node.nic_of_gpu = {0, 0};
  cluster.node.comm_sms_intra = 20;
  cluster.node.comm_sms_inter = 10;
  cluster.fabric = {.nodes_per_leaf = nodes, .spines = 1, .leaf_spine_bandwidth = 100_GBps};
  return cluster;
}

/// The small model on it, everything built.
struct SmallCase {
  explicit SmallCase(const ShardingPlan& plan, const EnginePolicy& engine = {},
                     const TrainingSpec& training = small_training())
      : SmallCase(plan, engine, small_cluster(plan.dp.inter), training) {}
  SmallCase(const ShardingPlan& plan, const EnginePolicy& engine, const ClusterSpec& spec,
            const TrainingSpec& training = small_training())
      : cluster(spec),
        placement(cluster.spec(), plan.dp, plan.os.inter),
        collectives(make_collectives(cluster, placement)),
        compute(cluster.spec().gpu, nullptr, nullptr),
        graph(build_schedule(small_model(), training, plan, engine)),
        lowering(graph, cluster, *collectives, compute) {}

  ClusterGraph cluster;
  Placement placement;
  std::unique_ptr<CollectiveModel> collectives;
  ComputeModel compute;
  TaskGraph graph;
  Lowering lowering;
};

}  // namespace amsp
