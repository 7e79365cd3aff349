#include "planner/search/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/error.h"
#include "core/json/object_reader.h"
#include "topology/read/cluster_reader.h"

namespace amsp {

namespace {

/// "8,16,...,1024".
std::vector<std::int64_t> parse_list(const std::string& text, const char* option,
                                     std::int64_t most) {
  const auto bad = [&](const std::string& why) {
    return ConfigError(fmt::format("{}: {}, found \"{}\"", option, why, text));
  };
  std::vector<std::int64_t> result;
  bool series = false;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (word == "...") {
      if (series || result.size() < 2 || end == text.size() ||
          result[result.size() - 1] % result[result.size() - 2] != 0)
        throw bad(
            "'...' must stand between two growing numbers, one a multiple of the other, "
            "and the last, such as 8,16,...,1024");
      series = true;
    } else {
      std::int64_t value = 0;
      const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (error != std::errc{} || stop != word.data() + word.size() || value < 1 || value > most)
        throw bad(fmt::format("must be whole numbers from 1 to {} such as 8,16,...,1024", most));
      if (!result.empty() && value <= result.back()) throw bad("must grow from number to number");
      if (series) {
        const std::int64_t ratio = result.back() / result[result.size() - 2];
        while (result.back() * ratio < value) result.push_back(result.back() * ratio);
        if (result.back() * ratio != value)
          throw bad(fmt::format("'...' goes from {} to {} and misses {}", result.back(),
                                result.back() * ratio, value));
        series = false;
      }
      result.push_back(value);
    }
    if (end == text.size()) return result;
    begin = end + 1;
  }
}

/// With the global batch in place of the number of micro-batches.
void fix_global_batch(Json& json, const Scenario& scenario) {
  json["training"].erase("micro_batches");
  json["training"]["global_batch"] = scenario.global_batch();
}

void check_no_dp(const PlanningCase& base, const char* option) {
  const auto plan = base.json.find("plan");
  if (plan != base.json.end() && plan->is_object() && plan->contains("dp"))
    throw ConfigError(fmt::format(
        "{}: {}#/plan/dp: fixes the GPUs; leave it out to vary their number", option, base.file));
}

/// Today's plan may be impossible elsewhere, which only means that nothing is marked. What else is
/// impossible makes the case so.
SweepCase make_case(const Json& json, const std::string& file, const std::string& label) {
  SweepCase result{label, std::nullopt, ""};
  try {
    Json open = json;
    open.erase("plan");
    result.question = read_planning_case(open, file);
  } catch (const InfeasibleError& error) {
    result.why_not = error.what();
    return result;
  }
  try {
    result.question = read_planning_case(json, file);
  } catch (const ConfigError&) {
  } catch (const InfeasibleError&) {
  }
  return result;
}

}  // namespace

std::vector<SweepCase> gpu_cases(const PlanningCase& base, const std::string& list) {
  check_no_dp(base, "--gpus");
  const int per_node = base.scenario.cluster.node.gpus;
  std::vector<SweepCase> cases;
  for (const std::int64_t gpus : parse_list(list, "--gpus", std::int64_t{1} << 30)) {
    if (gpus % per_node != 0)
      throw ConfigError(fmt::format("--gpus: {} GPUs don't fill nodes of {}", gpus, per_node));
    Json json = base.json;
    json["cluster"]["nodes"] = gpus / per_node;
    fix_global_batch(json, base.scenario);
    cases.push_back(make_case(json, base.file, fmt::format("{} GPUs", gpus)));
  }
  return cases;
}

std::vector<SweepCase> micro_batch_cases(const PlanningCase& base, const std::string& list) {
  std::vector<SweepCase> cases;
  for (const std::int64_t count : parse_list(list, "--micro-batches", 1 << 20)) {
    Json json = base.json;
    json["training"].erase("global_batch");
    json["training"]["micro_batches"] = count;
    cases.push_back(make_case(json, base.file, fmt::format("M = {}", count)));
  }
  return cases;
}

std::vector<SweepCase> cluster_cases(const PlanningCase& base,
                                     const std::vector<std::string>& files) {
  check_no_dp(base, "--compare");
  std::vector<SweepCase> cases;
  for (const std::string& file : files) {
    Json json = base.json;
    json["cluster"] = read_json_file(file);
    const ClusterSpec cluster = read_cluster(ObjectReader(json["cluster"], file + "#"));
    fix_global_batch(json, base.scenario);
    cases.push_back(make_case(json, base.file, cluster.name));
  }
  return cases;
}

std::vector<ShardingPlan> Sweep::winners() const {
  std::vector<ShardingPlan> result;
  for (const SweepPoint& point : points) {
    if (!point.solved()) continue;
    const ShardingPlan& best = point.result->best().candidate.plan;
    // the same plan on another dp
    const auto alike = [&](const ShardingPlan& plan) {
      return plan.p == best.p && plan.g == best.g && plan.os == best.os && plan.p2 == best.p2;
    };
    if (std::none_of(result.begin(), result.end(), alike)) result.push_back(best);
  }
  return result;
}

Sweep sweep(std::vector<SweepCase> cases, const SearchOptions& options, const Runner& runner,
            const std::function<void(std::size_t, std::size_t)>& begin,
            const std::function<void(const SweepPoint&)>& known) {
  Sweep result;
  const std::size_t count = cases.size();
  for (SweepCase& one : cases) {
    begin(result.points.size() + 1, count);
    SweepPoint point{one.label, one.why_not, std::move(one.question), std::nullopt};
    if (point.question && !result.interrupted) {
      point.result = search(*point.question, options, runner);
      result.interrupted = point.result->interrupted;
    }
    result.points.push_back(std::move(point));
    known(result.points.back());
    if (result.interrupted) break;
  }
  return result;
}

}  // namespace amsp
