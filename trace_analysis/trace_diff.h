#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/json/json_fwd.h"
#include "trace_analysis/align_events.h"
#include "trace_analysis/analyse.h"

namespace amsp {

/// A step of a rank on side A and the one it is compared with.
struct StepPair {
  std::size_t rank_a, rank_b;  // indices
  std::size_t step_a, step_b;
  StepAlignment alignment;
};

/// One part of the step: sums over all pairs. The parts' differences add up to the windows'.
struct WaterfallPart {
  std::string name;
  Nanoseconds a, b;
  Nanoseconds delta() const { return b - a; }
};

/// What the matched events of one operation took, over all pairs.
struct OperationDiff {
  std::string name;
  std::vector<Nanoseconds> a, b;  // durations of each match; of collectives the transfer alone
  Nanoseconds sum_a, sum_b;
  Nanoseconds delta() const { return sum_b - sum_a; }
};

struct Unmatched {
  std::string what;   // key or name
  std::size_t rank;   // index on its side
  std::int64_t step;  // as its trace numbers it
  std::string reason;
  Nanoseconds start;  // within its step
  Nanoseconds time;
};

/// GPU time of the events that were compared, by how they were matched.
struct Coverage {
  Nanoseconds all_a, all_b;
  std::map<Confidence, std::pair<Nanoseconds, Nanoseconds>> matched;  // of A and B
};

struct TraceDiff {
  std::vector<StepPair> pairs;
  std::vector<std::string> left_out;  // ranks and steps that were not compared, and why
  Nanoseconds step_a, step_b;         // sums of windows
  std::vector<WaterfallPart> waterfall;
  Coverage coverage;
  std::vector<OperationDiff> by_key;        // per key, steps and ranks together; by |delta|
  std::vector<OperationDiff> by_operation;  // layers and micro-batches together too
  std::vector<Unmatched> only_a, only_b;    // by time, longest first
  Nanoseconds signed_error;                 // sum of b - a over all matches
  Nanoseconds absolute_error;               // sum of |b - a|: what the signs hide
};

/// Ranks are paired by number (a single rank with a single rank whatever they are called), steps
/// by their order and never by number. A side with one step against several: against the one of
/// median length. Throws ConfigError if the sides have no rank in common.
TraceDiff diff_traces(const Analysis& a, const Analysis& b);

/// For people: one screen of at most 100 columns; `names` are what the sides are called.
std::string diff_text(const TraceDiff& diff, const Analysis& a, const Analysis& b);
/// For programs ("amsp.trace-diff/1"); times in nanoseconds.
OrderedJson diff_json(const TraceDiff& diff, const Analysis& a, const Analysis& b);
/// Change of step time, (b - a) / a.
double step_change(const TraceDiff& diff);

/// A Chrome trace with both sides for Perfetto: processes "A rank 0", "B rank 0", ..., every pair
/// of steps starting at the same time, `delta_us` on matched events, and a counter of how far B is
/// behind A. It keeps the viewers' rules whatever the inputs did: ids are small, overlapping
/// kernels of a stream get a thread of their own.
std::string merged_trace(const TraceDiff& diff, const Analysis& a, const Analysis& b);

}  // namespace amsp
