#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/units.h"
#include "training/plan.h"

namespace amsp {

enum class Communicators { kShared, kSeparate };
enum class GatherUnit { kModule, kBlock };
enum class GradReduction { kAllReduce, kReduceScatter };
enum class ParamUpdate { kBroadcast, kAllGather };
enum class OsSharding { kTensor, kFlat };
enum class ReplicaSync { kLast, kEvery };

/// What a training system does with its communication, switch by switch (docs/engines.md). The
/// defaults are AMSP's.
struct EnginePolicy {
  std::string name = "amsp";
  bool overlap_gather = true;            // all-gather and reduce-scatter of parameter shards
  bool overlap_all_reduce = true;        // gradient buckets with the backward
  bool overlap_broadcast = true;         // parameter update with the next step's forward
  bool decoupled_reduce_scatter = true;  // else the compute after a gradient waits for its RS
  int prefetch_layers = 1;               // forward: layers gathered ahead; backward: modules ahead
  Bytes bucket = 512_MiB;                // U: bytes of the local shard
  int max_pending_reduce = 4;            // unreduced gradients of modules (or blocks) in flight
  Communicators communicators = Communicators::kSeparate;
  GatherUnit gather_unit = GatherUnit::kModule;
  GatherUnit reduce_unit = GatherUnit::kModule;  // of reduce-scatters; block: of buckets as well
  GradReduction grad_reduction = GradReduction::kAllReduce;
  ParamUpdate param_update = ParamUpdate::kBroadcast;
  OsSharding os_sharding = OsSharding::kTensor;
  ReplicaSync replica_sync = ReplicaSync::kLast;
  // Passes over HBM (one read, one write) that the engine makes of what it communicates:
  int gather_copies = 0;  // of every gathered parameter, before its module computes
  int reduce_copies = 2;  // of every gradient: into a bucket before, out of it after
};

/// amsp, deepspeed, fsdp2, ddp.
const std::vector<std::string>& engine_names();
/// The switches of a training system by its name, each with its source in engine_policy.cpp.
EnginePolicy engine_policy(const std::string& name);

/// Why the system that the engine is named after can't run the plan at all; std::nullopt if it can.
std::optional<std::string> engine_obstacle(const EnginePolicy& engine, const ShardingPlan& plan);

}  // namespace amsp
