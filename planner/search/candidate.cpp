#include "planner/search/candidate.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/nearest.h"

namespace amsp {

SearchAxes parse_axes(const std::string& text) {
  static const std::vector<std::string> kAxes = {"plan", "p2", "micro_batch", "recompute"};
  SearchAxes axes;
  bool plan = false;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (word == "plan") {
      plan = true;
    } else if (word == "p2") {
      axes.secondary = true;
    } else if (word == "micro_batch") {
      axes.micro_batch = true;
    } else if (word == "recompute") {
      axes.recompute = true;
    } else {
      const auto close = nearest(word, kAxes);
      throw ConfigError(fmt::format("--search: '{}' is nothing to search{} (allowed: {})", word,
                                    close ? "; did you mean '" + *close + "'?" : "", join(kAxes)));
    }
    if (end == text.size()) break;
    begin = end + 1;
  }
  if (!plan) throw ConfigError("--search: must contain 'plan', found \"" + text + "\"");
  return axes;
}

std::string meshes_of(const ShardingPlan& plan) {
  return fmt::format("{} {} {}{}", to_string(plan.p), to_string(plan.g), to_string(plan.os),
                     plan.p2 ? " / " + to_string(*plan.p2) : "");
}

Scenario scenario_of(const Scenario& base, const Candidate& candidate) {
  Scenario result = base;
  result.plan = candidate.plan;
  result.plan_name = "explicit";
  result.training = candidate.training;
  return result;
}

namespace {

/// Sequences of a GPU in a step, cut into micro-batches of every size that divides them.
std::vector<TrainingSpec> batches(const TrainingSpec& training, const SearchAxes& axes) {
  std::vector<TrainingSpec> result;
  if (axes.micro_batch) {
    const std::int64_t sequences = std::int64_t{training.micro_batch} * training.micro_batches;
    const std::int64_t most = std::min(sequences, kMostMicroBatchTokens / training.sequence_length);
    for (std::int64_t size = 1; size <= most; ++size) {
      if (sequences % size != 0 || sequences / size > kMostMicroBatches) continue;
      result.push_back(training);
      result.back().micro_batch = static_cast<int>(size);
      result.back().micro_batches = static_cast<int>(sequences / size);
    }
  } else {
    result.push_back(training);
  }
  if (!axes.recompute) return result;
  std::vector<TrainingSpec> both;
  for (const TrainingSpec& batch : result)
    for (const Recompute recompute : {Recompute::kNone, Recompute::kFull}) {
      both.push_back(batch);
      both.back().recompute = recompute;
      both.back().recompute_share = 1;
    }
  return both;
}

}  // namespace

std::vector<Candidate> candidates(const Scenario& scenario, const PlanSpace& space,
                                  const SearchAxes& axes, const std::vector<ShardingPlan>& extra) {
  std::vector<ShardingPlan> plans;
  for (const ShardingPlan& plan : space.plans) {
    plans.push_back(plan);
    if (!axes.secondary) continue;
    const auto more = with_secondary(plan);
    plans.insert(plans.end(), more.begin(), more.end());
  }
  for (const ShardingPlan& plan : extra)
    if (std::find(plans.begin(), plans.end(), plan) == plans.end()) plans.push_back(plan);
  const std::vector<TrainingSpec> trainings = batches(scenario.training, axes);
  std::vector<Candidate> result;
  for (const ShardingPlan& plan : plans)
    for (const TrainingSpec& training : trainings) result.push_back({plan, training});
  return result;
}

}  // namespace amsp
