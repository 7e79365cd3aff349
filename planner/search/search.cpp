#include "planner/search/search.h"

#include <algorithm>

#include "core/error.h"
#include "core/process_pool.h"
#include "planner/search/ranking.h"
#include "prediction/predict.h"

namespace amsp {

namespace {

/// In a worker: step time, the sum of all tasks, and the step time's bands.
std::vector<double> run_one(const Scenario& scenario, std::shared_ptr<const Machine> machine,
                            const Play& play) {
  const Setup setup(scenario, std::move(machine));
  const Playback playback = play(setup.lowering());
  const Seconds step = playback.timeline.step_time();
  const RankBreakdown parts = break_down(playback.timeline, 0);
  const ErrorBand band = error_band(setup.lowering(), 0, parts, step);
  const PlanBand plans = band_among_plans(parts, step);
  return {step.value,
          exact_cost(setup.lowering()).total.value,
          band.low.value,
          band.high.value,
          plans.least.low.value,
          plans.least.high.value,
          plans.most.low.value,
          plans.most.high.value};
}

StepCost step_cost(const JobOutcome& outcome, bool screened) {
  StepCost cost;
  cost.screened = screened;
  if (outcome.kind == JobOutcome::Kind::kValues) {
    cost.step_time = Seconds{outcome.values[0]};
    cost.alone = Seconds{outcome.values[1]};
    const auto band = [&](std::size_t at) {
      return ErrorBand{Seconds{outcome.values[at]}, Seconds{outcome.values[at + 1]}};
    };
    cost.band = band(2);
    cost.among_plans = {band(4), band(6)};
  } else {
    cost.failure = outcome.message;
    cost.internal = outcome.kind == JobOutcome::Kind::kInternal;
  }
  return cost;
}

}  // namespace

bool run_candidates(ClosedForms& forms, const std::vector<Run>& runs, const Runner& runner,
                    const std::function<void(std::size_t, const StepCost&)>& known) {
  // built before the workers are, which then share them
  const auto machine = [&](const Run& run) {
    return run.screened ? forms.screening_machine(run.candidate.plan)
                        : forms.machine(run.candidate.plan);
  };
  for (const Run& run : runs) machine(run);
  const auto job = [&](std::size_t i) {
    return run_one(scenario_of(forms.scenario(), runs[i].candidate), machine(runs[i]), runner.play);
  };
  const auto done = [&](std::size_t i, const JobOutcome& outcome) {
    known(i, step_cost(outcome, runs[i].screened));
  };
  const auto proceed = [&](std::size_t ended) { return runner.proceed(ended, runs.size()); };
  return run_jobs(runs.size(), runner.workers, job, done, proceed) == runs.size();
}

Seconds SearchResult::fastest() const {
  Seconds least = time(best());
  for (const std::size_t i : ranking()) least = std::min(least, time(entries[i]));
  return least;
}

std::optional<std::size_t> SearchResult::place(const ShardingPlan& plan) const {
  const auto found = std::find_if(ranking().begin(), ranking().end(),
                                  [&](std::size_t i) { return entries[i].candidate.plan == plan; });
  if (found == ranking().end()) return std::nullopt;
  return static_cast<std::size_t>(found - ranking().begin());
}

namespace {

std::vector<std::size_t> ranked(const std::vector<Entry>& entries, auto time_of) {
  std::vector<std::size_t> known;
  std::vector<Rated> rated;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::optional<Seconds> time = time_of(entries[i]);
    if (!entries[i].fits || !time) continue;
    known.push_back(i);
    rated.push_back({*time, entries[i].memory});
  }
  std::vector<std::size_t> order = rank(rated);
  for (std::size_t& i : order) i = known[i];
  return order;
}

/// A question of one plan is no search, but its entries have the same form.
void name_entries(SearchResult& result, const PlanningCase& question) {
  for (Entry& entry : result.entries) {
    for (const Baseline& baseline : result.baselines)
      if (baseline.plan == entry.candidate.plan) entry.names.push_back(baseline.name);
    if (question.today == entry.candidate.plan &&
        question.scenario.training.micro_batch == entry.candidate.training.micro_batch &&
        question.scenario.training.recompute == entry.candidate.training.recompute)
      entry.names.push_back("today");
  }
}

void evaluate_closed_forms(SearchResult& result, ClosedForms& forms,
                           const std::vector<Candidate>& all) {
  for (const Candidate& candidate : all) {
    const MemoryEstimate memory = forms.memory(candidate);
    Entry entry{candidate, memory.reserved, memory.fits(), std::nullopt, {}, {}, ""};
    result.capacity = memory.capacity;
    if (const auto obstacle = engine_obstacle(forms.scenario().engine, candidate.plan)) {
      entry.fits = false;
      entry.obstacle = *obstacle;
    }
    if (entry.fits) try {
        entry.t_comm = forms.t_comm(candidate).total();
      } catch (const ConfigError& error) {
        entry.step.failure = error.what();
      }
    result.entries.push_back(std::move(entry));
  }
}

void take_times(SearchResult& result, const SearchResult& other) {
  for (std::size_t i = 0; i < result.entries.size() && i < other.entries.size(); ++i)
    if (result.entries[i].candidate == other.entries[i].candidate)
      result.entries[i].step = other.entries[i].step;
}

/// Gradients' own mesh has a part in the schedule of micro-batches before the last only, if they
/// are not reduced over all replicas anyway.
bool same_schedule(const EnginePolicy& engine, const Candidate& a, const Candidate& b) {
  if (a == b) return true;
  if (a.training.micro_batches > 1 && engine.replica_sync == ReplicaSync::kLast) return false;
  Candidate other = b;
  other.plan.g = a.plan.g;
  return a == other;
}

/// Broadcasts over nodes load links by root. Where parameters are gathered over the same links
/// meanwhile, every node behaves in a way of its own: LLaMA-30B on 1,024 GPUs with p 2x1, os 8x128
/// is 3 million activities, with even broadcasts 35,000.
bool folds_badly(const EnginePolicy& engine, const ShardingPlan& plan) {
  const bool shares_links = plan.p != Mesh{1, 1} && plan.p != Mesh{plan.dp.intra, 1};
  return engine.param_update == ParamUpdate::kBroadcast && shares_links && plan.os.inter > 1 &&
         plan.os != plan.p;
}

/// Runs what is asked for, in rounds.
class Rounds {
 public:
  Rounds(SearchResult& result, ClosedForms& forms, const SearchOptions& options,
         const Runner& runner, const KnownEntry& known)
      : result_(result), forms_(forms), options_(options), runner_(runner), known_(known) {}

  /// Returns false if interrupted.
  bool run_all() {
    std::vector<std::size_t> wanted;
    if (result_.objective == Objective::kStepTime)
      for (std::size_t i = 0; i < result_.entries.size(); ++i) wanted.push_back(i);
    if (!run(wanted, true)) return false;
    while (true) {
      rank_entries(result_);
      wanted = to_be_exact();
      if (wanted.empty()) return true;
      if (!run(wanted, false)) return false;
    }
  }

 private:
  const EnginePolicy& engine() const { return forms_.scenario().engine; }

  std::vector<std::size_t> to_be_exact() const {
    std::vector<std::size_t> wanted;
    const auto want = [&](std::size_t i) {
      const Entry& entry = result_.entries[i];
      if (entry.fits && entry.step.failure.empty() &&
          (!entry.step.step_time || entry.step.screened))
        wanted.push_back(i);
    };
    const auto& ranking = result_.ranking();
    for (std::size_t i = 0; i < std::min(options_.top, ranking.size()); ++i) want(ranking[i]);
    // distances are from the fastest, which a tie may have put further down
    const auto fastest = std::min_element(ranking.begin(), ranking.end(), [&](auto a, auto b) {
      return result_.time(result_.entries[a]) < result_.time(result_.entries[b]);
    });
    if (fastest != ranking.end() && options_.top > 0) want(*fastest);
    for (std::size_t i = 0; i < result_.entries.size(); ++i) {
      const Entry& entry = result_.entries[i];
      if ((options_.baselines && !entry.names.empty()) || options_.keep == entry.candidate) want(i);
    }
    return wanted;
  }

  /// One of each set of entries with the same schedule. Returns false if interrupted.
  bool run(const std::vector<std::size_t>& wanted, bool screen) {
    std::vector<std::vector<std::size_t>> alike;
    std::vector<Run> runs;
    for (const std::size_t i : wanted) {
      const Entry& entry = result_.entries[i];
      if (!entry.fits || !entry.step.failure.empty()) continue;
      if (entry.step.step_time && (screen || !entry.step.screened)) continue;
      const auto same = std::find_if(runs.begin(), runs.end(), [&](const Run& run) {
        return same_schedule(engine(), run.candidate, entry.candidate);
      });
      if (same != runs.end()) {
        auto& others = alike[static_cast<std::size_t>(same - runs.begin())];
        if (std::find(others.begin(), others.end(), i) == others.end()) others.push_back(i);
        continue;
      }
      runs.push_back({entry.candidate, screen && folds_badly(engine(), entry.candidate.plan)});
      alike.push_back({i});
    }
    return run_candidates(forms_, runs, runner_, [&](std::size_t run, const StepCost& cost) {
      for (const std::size_t i : alike[run]) {
        result_.entries[i].step = cost;
        known_(result_.entries[i]);
      }
    });
  }

  SearchResult& result_;
  ClosedForms& forms_;
  const SearchOptions& options_;
  const Runner& runner_;
  const KnownEntry& known_;
};

}  // namespace

namespace {

/// Baselines as their systems run them. Returns false if interrupted.
bool run_own_engines(SearchResult& result, const PlanningCase& question, const HardwareScale& scale,
                     const Runner& runner) {
  for (const std::string& engine : engine_names()) {
    if (engine == question.scenario.engine.name) continue;
    Scenario scenario = question.scenario;
    scenario.engine = engine_policy(engine);
    ClosedForms forms(scenario, scale);
    std::vector<Run> runs;
    std::vector<std::size_t> places;
    for (const Baseline& baseline : result.baselines) {
      if (baseline.engine != engine || !baseline.plan) continue;
      const Candidate candidate{*baseline.plan, scenario.training};
      const MemoryEstimate memory = forms.memory(candidate);
      result.own_engines.push_back(
          {baseline.name, engine, memory.reserved, memory.fits(), StepCost{}});
      if (!memory.fits()) continue;
      places.push_back(result.own_engines.size() - 1);
      runs.push_back({candidate, false});
    }
    const bool all = run_candidates(forms, runs, runner, [&](std::size_t i, const StepCost& cost) {
      result.own_engines[places[i]].step = cost;
    });
    if (!all) return false;
  }
  return true;
}

}  // namespace

void rank_entries(SearchResult& result) {
  result.by_step_time =
      ranked(result.entries, [](const Entry& entry) { return entry.step.step_time; });
  result.by_comm_time = ranked(result.entries, [](const Entry& entry) { return entry.t_comm; });
}

SearchResult search(const PlanningCase& question, const SearchOptions& options,
                    const Runner& runner, const KnownEntry& known, const HardwareScale& scale,
                    const SearchResult* same_times) {
  if (options.objective == Objective::kCommTime && options.axes.recompute)
    throw ConfigError(
        "--objective comm-time: doesn't see what recomputing costs; search recompute by step-time");
  SearchResult result;
  result.objective = options.objective;
  result.axes = options.axes;
  ClosedForms forms(question.scenario, scale);
  forms.machine(question.scenario.plan);  // what is wrong with the cluster is wrong for all
  result.space = enumerate_plans(question.scenario.plan.dp);
  result.baselines = baselines(question.scenario, [&](const ShardingPlan& plan) {
    return forms.memory({plan, question.scenario.training}).fits();
  });
  std::vector<ShardingPlan> extra;
  for (const Baseline& baseline : result.baselines)
    if (baseline.plan) extra.push_back(*baseline.plan);
  if (question.today) extra.push_back(*question.today);
  evaluate_closed_forms(result, forms,
                        candidates(question.scenario, result.space, options.axes, extra));
  name_entries(result, question);
  if (same_times != nullptr) take_times(result, *same_times);
  rank_entries(result);

  result.interrupted = !Rounds(result, forms, options, runner, known).run_all();
  rank_entries(result);
  if (options.baselines && !result.interrupted)
    result.interrupted = !run_own_engines(result, question, scale, runner);
  return result;
}

}  // namespace amsp
