#include "core/error.h"
#include "core/json/json.h"
#include "scenario/readers.h"

namespace amsp {
namespace {

/// A two-valued switch; `first` and `second` are its values by name.
template <class Enum>
void read_switch(ObjectReader& engine, const std::string& key, const char* first_name, Enum first,
                 const char* second_name, Enum second, Enum& value) {
  if (engine.has(key))
    value = engine.choice(key, {first_name, second_name}) == first_name ? first : second;
}

void read_overlap(ObjectReader overlap, EnginePolicy& policy) {
  policy.overlap_gather = overlap.boolean_or("gather", policy.overlap_gather);
  policy.overlap_all_reduce = overlap.boolean_or("all_reduce", policy.overlap_all_reduce);
  policy.overlap_broadcast = overlap.boolean_or("broadcast", policy.overlap_broadcast);
  overlap.finish();
}

void read_limits(ObjectReader& engine, EnginePolicy& policy) {
  constexpr int kMostPrefetch = 4096;
  constexpr int kMostPending = 1 << 20;
  constexpr int kMostCopies = 16;
  policy.decoupled_reduce_scatter =
      engine.boolean_or("decoupled_reduce_scatter", policy.decoupled_reduce_scatter);
  policy.prefetch_layers = static_cast<int>(
      engine.integer_or("prefetch_layers", 0, kMostPrefetch, policy.prefetch_layers));
  policy.bucket = engine.bytes_or("bucket", policy.bucket);
  if (policy.bucket < 1_B) engine.fail("bucket", "must be at least one byte");
  policy.max_pending_reduce = static_cast<int>(
      engine.integer_or("max_pending_reduce", 1, kMostPending, policy.max_pending_reduce));
  policy.gather_copies =
      static_cast<int>(engine.integer_or("gather_copies", 0, kMostCopies, policy.gather_copies));
  policy.reduce_copies =
      static_cast<int>(engine.integer_or("reduce_copies", 0, kMostCopies, policy.reduce_copies));
}

void read_switches(ObjectReader& engine, EnginePolicy& policy) {
  read_switch(engine, "communicators", "shared", Communicators::kShared, "separate",
              Communicators::kSeparate, policy.communicators);
  read_switch(engine, "gather_unit", "module", GatherUnit::kModule, "block", GatherUnit::kBlock,
              policy.gather_unit);
  read_switch(engine, "reduce_unit", "module", GatherUnit::kModule, "block", GatherUnit::kBlock,
              policy.reduce_unit);
  read_switch(engine, "grad_reduction", "all_reduce", GradReduction::kAllReduce, "reduce_scatter",
              GradReduction::kReduceScatter, policy.grad_reduction);
  read_switch(engine, "param_update", "broadcast", ParamUpdate::kBroadcast, "all_gather",
              ParamUpdate::kAllGather, policy.param_update);
  read_switch(engine, "os_sharding", "tensor", OsSharding::kTensor, "flat", OsSharding::kFlat,
              policy.os_sharding);
  read_switch(engine, "replica_sync", "last", ReplicaSync::kLast, "every", ReplicaSync::kEvery,
              policy.replica_sync);
}

}  // namespace

EnginePolicy read_engine(ObjectReader& scenario) {
  if (!scenario.has("engine")) return engine_policy("amsp");
  const Json& value = scenario.value("engine");
  if (value.is_string()) return engine_policy(scenario.choice("engine", engine_names()));
  if (!value.is_object())
    scenario.fail("engine", "must be the name of an engine or an object with switches, found " +
                                describe(value));
  ObjectReader engine = scenario.object("engine");
  EnginePolicy policy = engine_policy(engine.choice_or("preset", engine_names(), "amsp"));
  if (engine.has("overlap")) read_overlap(engine.object("overlap"), policy);
  read_limits(engine, policy);
  read_switches(engine, policy);
  engine.finish();
  return policy;
}

}  // namespace amsp
