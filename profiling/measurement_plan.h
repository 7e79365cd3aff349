#pragma once

#include <string>
#include <vector>

#include "core/json/json_fwd.h"
#include "core/units.h"
#include "scenario/scenario.h"
#include "schedule/task_graph.h"
#include "topology/collective/collective.h"

namespace amsp {

/// What the scenario's profile knows of a piece of work.
enum class Coverage {
  kMeasured,  // in the profile, or between two sizes that are
  kDerived,   // by a rule from measurements of other work, or beyond the sizes measured
  kModelled,  // nothing measured goes into it
  kMissing,   // the profile has no answer, so there is no prediction; `time` is what a model says
};
/// "measured", ...
const char* to_string(Coverage coverage);

/// How often to repeat, and what a measurement takes. The times of setting up are assumed.
struct MeasuringRules {
  int warm_up = 5;
  int least_repetitions = 20;
  int most_repetitions = 200;
  Seconds enough{0.1};             // of repetitions, within these bounds
  Seconds kernel_set_up{0.05};     // fill buffers, let the library choose a kernel
  Seconds communicator_set_up{2};  // once for each family of groups
  int repetitions(Seconds time) const;
  /// Warm-up and repetitions of work that takes `time`.
  Seconds running(Seconds time) const;
};

enum class Pass { kForward, kDataGradient, kWeightGradient, kBackward };

/// One distinct kernel of a step.
struct KernelNeed {
  std::string name;  // "gemm 4096x4096x11008 weight gradient", "swiglu forward, 180 MB"
  ComputeWork work;  // where owners differ, `bytes` are the largest
  Pass pass = Pass::kForward;
  int per_step = 0;  // runs on a rank
  Coverage coverage = Coverage::kModelled;
  Seconds time = {};  // predicted, of one run
  int repetitions = 0;
  Seconds cost = {};
};

/// One size of a collective.
struct SizeNeed {
  Bytes bytes;
  int element_bytes = 2;
  int per_step = 0;  // calls of a rank; 0: beside a size that is used
  Coverage coverage = Coverage::kModelled;
  Seconds time;
  int repetitions = 0;
  Seconds cost = {};
};

/// One operation on one family of sibling groups, by one group while the others idle, or by all at
/// once.
struct CollectiveNeed {
  CollectiveKind kind = CollectiveKind::kAllGather;
  SubMesh mesh;
  int groups = 1;               // of the family
  bool together = false;        // all at once
  bool in_profile = false;      // whether a profile has a place for it
  std::vector<SizeNeed> sizes;  // ascending

  int gpus() const { return mesh.size() * (together ? groups : 1); }
  int per_step() const;
  /// The least that is known of a size that is used.
  Coverage coverage() const;
};

/// The measurements that a scenario rests on: every distinct kernel and collective of one step of
/// a rank, in the order of their first use. What measures takes this as its input.
struct MeasurementPlan {
  std::string scenario;
  std::string profile;  // empty: none
  MeasuringRules rules;
  std::vector<KernelNeed> kernels;
  std::vector<CollectiveNeed> collectives;

  /// One after the other, setting up included.
  Seconds kernel_cost() const;
  Seconds cost(const CollectiveNeed& need) const;
  Seconds collective_cost() const;
  double gpu_seconds() const;
};

/// Sizes of a collective are those that the step uses, where several within 5 % count as the
/// largest of them, and the powers of two below and above each. Sizes up to 4 KiB stand alone:
/// there time is latency.
///
/// Times of all groups at once are those of one alone, or what the links that they share take, if
/// that is longer.
/// Throws as Machine does.
MeasurementPlan plan_measurements(const Scenario& scenario);

/// What a profile has a place for and doesn't hold as measured: kernels (a shape of a GEMM once, of
/// the directions that share it the first), sizes that are used, and the sizes beside these.
MeasurementPlan missing(const MeasurementPlan& plan);

/// For people; fits 100 columns.
std::string measurements_text(const MeasurementPlan& plan);
/// For programs: units in keys ("amsp.measurements/1").
OrderedJson measurements_json(const MeasurementPlan& plan);

}  // namespace amsp
