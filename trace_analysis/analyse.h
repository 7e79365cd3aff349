#pragma once

#include <map>
#include <string>
#include <vector>

#include "trace_analysis/joins.h"
#include "trace_analysis/step_parts.h"
#include "trace_analysis/step_windows.h"
#include "trace_reader/rank_trace.h"

namespace amsp {

/// The ranks of a run with their steps, clocks, collectives over ranks and breakdowns: what all
/// reports are made of.
struct Analysis {
  TraceSet set;
  std::vector<RankWindows> windows;  // by rank
  Joins joins;
  std::vector<std::vector<StepParts>> parts;  // by rank and step

  const RankTrace& rank(std::size_t i) const { return set.ranks[i]; }
  std::size_t ranks() const { return set.ranks.size(); }
  /// Sum over the steps of a rank.
  StepParts sum(std::size_t rank) const;
};

/// Throws ConfigError if no rank has any GPU event.
Analysis analyse(TraceSet set, WindowChoice choice);

/// Kernels by name.
struct NameTime {
  std::string name;
  std::int64_t calls = 0;
  Nanoseconds time;
};

/// How kernels were told apart, in time.
struct Classification {
  std::map<Evidence, Nanoseconds> communication;  // by what told that it was
  std::vector<NameTime> by_name;       // communication known by name or rule only, not NCCL's
  std::vector<NameTime> unclassified;  // counted as compute, but called like communication
};
Classification classification(const Analysis& analysis);

/// Who came last to collectives of at least two traced ranks.
struct Straggler {
  int rank;  // index
  int last = 0;
  Nanoseconds others_waited;  // sum over the other members
};
/// By rank; only waits larger than the uncertainty of both clocks count.
std::vector<Straggler> stragglers(const Analysis& analysis);

}  // namespace amsp
