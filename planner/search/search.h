#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/search/baselines.h"
#include "planner/search/candidate.h"
#include "planner/search/closed_forms.h"
#include "planner/search/planning_case.h"
#include "prediction/predict.h"

namespace amsp {

/// How candidates are run: in `workers` processes at a time.
struct Runner {
  Play play;
  int workers = 1;
  /// Called several times a second with how many of how many runs are done; false stops the search,
  /// which then returns what it knows.
  std::function<bool(std::size_t, std::size_t)> proceed = [](std::size_t, std::size_t) {
    return true;
  };
};

/// What a run says of a candidate, or why it says nothing.
struct StepCost {
  std::optional<Seconds> step_time;
  ErrorBand band;  // of the step time, if there is one
  PlanBand among_plans;
  bool screened = false;         // with even broadcasts: off by some 0.01 %
  std::optional<Seconds> alone;  // all tasks one after the other
  std::string failure;           // empty unless it failed
  bool internal = false;         // and that is a bug
};

/// A candidate to be run, with the loads that its broadcasts have or with even ones.
struct Run {
  Candidate candidate;
  bool screened = false;
};

/// Runs candidates, each in a process of its own, and calls `known` for each in order. Those not
/// reached before an interrupt are left empty. Returns whether all were reached.
bool run_candidates(ClosedForms& forms, const std::vector<Run>& runs, const Runner& runner,
                    const std::function<void(std::size_t, const StepCost&)>& known);

/// step-time: the simulated one, overlap and contention included. comm-time: the paper's T_comm.
enum class Objective { kStepTime, kCommTime };

struct SearchOptions {
  SearchAxes axes;
  Objective objective = Objective::kStepTime;
  std::size_t top = 10;           // so many of the best get exact step times,
  bool baselines = true;          // and so do all baselines,
  std::optional<Candidate> keep;  // and this one
};

/// A candidate with all that is known of it.
struct Entry {
  Candidate candidate;
  Bytes memory;  // what a GPU must have
  bool fits = false;
  std::optional<Seconds> t_comm;
  StepCost step;
  std::vector<std::string> names;  // the baselines that it is
  std::string obstacle;            // why the engine can't run it at all, if so
};

/// A baseline's plan on the system's own engine, beside the ranking.
struct OwnEngine {
  std::string baseline, engine;
  Bytes memory;
  bool fits = false;
  StepCost step;
};

struct SearchResult {
  Objective objective = Objective::kStepTime;
  SearchAxes axes;
  PlanSpace space;
  Bytes capacity;
  std::vector<Entry> entries;  // all candidates
  std::vector<Baseline> baselines;
  std::vector<OwnEngine> own_engines;  // of baselines whose engine isn't the scenario's
  /// Indices into entries of those that fit, best first, by each objective as far as it is known.
  std::vector<std::size_t> by_step_time, by_comm_time;
  bool interrupted = false;

  const std::vector<std::size_t>& ranking() const {
    return objective == Objective::kStepTime ? by_step_time : by_comm_time;
  }
  /// Nothing fits, or nothing was run before an interrupt.
  bool empty() const { return ranking().empty(); }
  const Entry& best() const { return entries[ranking().front()]; }
  /// The best entry with this plan, as an index into ranking().
  std::optional<std::size_t> place(const ShardingPlan& plan) const;
  /// The objective's time of an entry in ranking(), the least of all, and the ratio less 1.
  Seconds time(const Entry& entry) const {
    return objective == Objective::kStepTime ? *entry.step.step_time : *entry.t_comm;
  }
  Seconds fastest() const;
  double slower(const Entry& entry) const { return time(entry) / fastest() - 1; }
};

using KnownEntry = std::function<void(const Entry&)>;

/// Finds the best candidate of a case. Closed forms for all; memory decides what is possible; the
/// rest is run: by step-time everything that fits, candidates with the same schedule once,
/// and where that folds badly (groups that span nodes inside broadcasts that do) first with even
/// broadcasts, then the best as they are until the `top` of the ranking are exact. By comm-time
/// what is to be exact is run. `known` is called for each candidate as it becomes known. `scale`
/// asks what if; `same_times` is a search of the same case in which all took the same time (other
/// memory only), and what it knows isn't run again. Throws ConfigError if the objective doesn't see
/// what an axis changes.
SearchResult search(
    const PlanningCase& question, const SearchOptions& options, const Runner& runner,
    const KnownEntry& known = [](const Entry&) {}, const HardwareScale& scale = {},
    const SearchResult* same_times = nullptr);

/// Fills both rankings from the entries.
void rank_entries(SearchResult& result);

}  // namespace amsp
