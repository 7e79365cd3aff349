#pragma once

#include <optional>

#include "schedule/repetition.h"
#include "sim/expansion.h"
#include "traces/timeline/timeline.h"

namespace amsp {

/// From micro-batch `batch` on, everything repeats after `seconds`, until the last micro-batches
/// and what follows them come into sight.
struct Period {
  int batch = 0;
  double seconds = 0;
};

/// Looks for a period in the times of an excerpt without some micro-batches; docs/folding.md says
/// what is asked for, and why the micro-batches left out then repeat it too.
std::optional<Period> find_period(const TaskGraph& graph, const Repetition& repetition,
                                  const Excerpt& excerpt, const Expansion& expansion,
                                  const ActivityTimes& times);

/// The timeline of the whole graph: tasks of micro-batches left out get the times of
/// `period.batch`, whole periods later; what comes after them moves back.
/// Without a period, `excerpt` is the whole graph.
Timeline make_timeline(const TaskGraph& graph, const Repetition& repetition, const Excerpt& excerpt,
                       const std::optional<Period>& period, const Expansion& expansion,
                       const ActivityTimes& times);

}  // namespace amsp
