#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trace_analysis/step_windows.h"
#include "trace_reader/rank_trace.h"

namespace amsp {

/// One call of a collective, over the ranks whose traces we have.
struct Join {
  struct Member {
    int rank;   // index into the ranks
    int event;  // index into its events
  };
  std::vector<Member> members;  // by rank
  Nanoseconds joined;           // when the last of them arrived, on the clock of the first rank
  int last = 0;                 // position in `members` of that one
};

/// How far a rank's clock is ahead of the first rank's. Subtract `offset` from its times.
struct ClockEstimate {
  Nanoseconds offset;
  /// Half the distance of 10th and 90th percentile of what single collectives say.
  Nanoseconds spread;
  /// Hard bounds: no member of a collective ends before the last one has started.
  std::optional<Nanoseconds> low, high;
  int collectives = 0;  // that were compared
  std::string source;   // "one clock", "ends of collectives", "unknown", ...
};

/// Collectives over ranks.
struct Joins {
  std::vector<Join> joins;                      // of two ranks or more
  std::vector<std::vector<int>> join_of_event;  // by rank and event; -1: none
  std::vector<ClockEstimate> clocks;            // by rank
};

/// Matches collectives by group, operation, step (by ordinal) and sequence number, or where that
/// is missing by their order in the step; then estimates the clocks: the offset that makes the
/// ends of the same collectives agree in the median, over as few ranks in between as possible.
/// (Ends agree to microseconds on one host, starts differ by what ranks wait for each other.)
/// Simulated traces share one clock.
Joins join_collectives(const std::vector<RankTrace>& ranks,
                       const std::vector<RankWindows>& windows);

/// Of a collective on a rank: how long it waited for the last member, within its own span.
/// What the trace says itself if it is simulated or alone; nothing where nothing is known.
std::optional<Nanoseconds> waiting_time(const std::vector<RankTrace>& ranks, const Joins& joins,
                                        int rank, int event);

}  // namespace amsp
