#pragma once

#include <string>
#include <vector>

#include "core/json/json.h"
#include "scenario/scenario.h"
#include "topology/profile/profile_writer.h"
#include "trace_analysis/analyse.h"

namespace amsp {

/// A profile ("amsp.profile/1") from traces of a program of ours, for `cluster.profile`.
struct Calibration {
  OrderedJson profile;
  std::vector<std::string> notes;  // what it rests on, what is left out and why
};

/// `scenario` is what the traced run executed: it gives the shapes behind the task keys, and the
/// hardware that the times belong to. Times are medians of what ran alone on its rank (95 % and
/// more of its time); where nothing did, the 10th percentile, with a note. Collectives count from
/// the last member's arrival.
/// Throws ConfigError if the traces have no task keys, or hold none of the scenario's tasks.
/// `measured`: collectives timed by themselves, beside those of the traces.
Calibration calibrate(const Scenario& scenario, const Analysis& analysis, const std::string& name,
                      const std::vector<MeasuredTable>& measured = {});

}  // namespace amsp
