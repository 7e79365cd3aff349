#include "core/json/json.h"
#include "planner/report/report.h"

namespace amsp {

namespace {

OrderedJson plan_json(const ShardingPlan& plan) {
  OrderedJson json = {{"p", to_string(plan.p)},
                      {"g", to_string(plan.g)},
                      {"os", to_string(plan.os)},
                      {"dp", to_string(plan.dp)}};
  if (plan.p2) json["p2"] = to_string(*plan.p2);
  return json;
}

OrderedJson recompute_json(const TrainingSpec& training) {
  if (training.recompute_share < 1) return {{"share", training.recompute_share}};
  return training.recompute == Recompute::kFull ? "full" : "none";
}

OrderedJson candidate_json(const Candidate& candidate) {
  return {{"plan", plan_json(candidate.plan)},
          {"micro_batch", candidate.training.micro_batch},
          {"micro_batches", candidate.training.micro_batches},
          {"recompute", recompute_json(candidate.training)}};
}

const char* name_of(Objective objective) {
  return objective == Objective::kStepTime ? "step-time" : "comm-time";
}

OrderedJson seconds_or_null(const std::optional<Seconds>& time) {
  return time ? OrderedJson(time->value) : OrderedJson(nullptr);
}

void add_step(OrderedJson& json, const Scenario& scenario, const Entry& entry) {
  json["step_time_s"] = seconds_or_null(entry.step.step_time);
  if (!entry.step.step_time) return;
  const TrainingSpec& training = entry.candidate.training;
  json["step_time_80_percent_s"] = {entry.step.band.low.value, entry.step.band.high.value};
  json["screened"] = entry.step.screened;
  json["alone_s"] = seconds_or_null(entry.step.alone);
  json["tokens_per_gpu_second"] = throughput(training, *entry.step.step_time);
  json["mfu"] = utilisation(scenario, training, *entry.step.step_time);
}

OrderedJson entry_body(const Scenario& scenario, const Entry& entry) {
  OrderedJson json = candidate_json(entry.candidate);
  json["memory_bytes"] = entry.memory.value;
  json["fits"] = entry.fits;
  json["t_comm_s"] = seconds_or_null(entry.t_comm);
  add_step(json, scenario, entry);
  if (!entry.step.failure.empty()) json["failure"] = entry.step.failure;
  json["known_as"] = entry.names;
  return json;
}

OrderedJson line(const char* kind, OrderedJson body) {
  OrderedJson json = {{"schema", "amsp.plan/1"}, {"kind", kind}};
  json.update(body);
  return json;
}

OrderedJson ranking_body(const PlanningCase& question, const SearchResult& result) {
  OrderedJson ranking = OrderedJson::array();
  for (std::size_t i = 0; i < result.ranking().size(); ++i) {
    const Entry& entry = result.entries[result.ranking()[i]];
    OrderedJson place = {{"rank", i + 1}};
    place.update(entry_body(question.scenario, entry));
    place["slower"] = result.slower(entry);
    ranking.push_back(std::move(place));
  }
  OrderedJson known = OrderedJson::array();
  std::vector<Baseline> all = result.baselines;
  if (question.today) all.push_back({"today", question.scenario.engine.name, question.today, ""});
  for (const Baseline& baseline : all) {
    OrderedJson json = {{"name", baseline.name}};
    if (baseline.plan) json["plan"] = plan_json(*baseline.plan);
    if (!baseline.plan) json["why_not"] = baseline.why_not;
    const auto place = baseline.plan ? result.place(*baseline.plan) : std::nullopt;
    for (const OwnEngine& own : result.own_engines)
      if (own.baseline == baseline.name)
        json["own_engine"] = {{"engine", own.engine},
                              {"memory_bytes", own.memory.value},
                              {"fits", own.fits},
                              {"step_time_s", seconds_or_null(own.step.step_time)}};
    json["rank"] = place ? OrderedJson(*place + 1) : OrderedJson(nullptr);
    known.push_back(std::move(json));
  }
  return {{"objective", name_of(result.objective)},
          {"interrupted", result.interrupted},
          {"ranking", ranking},
          {"baselines", known}};
}

}  // namespace

OrderedJson space_json(const PlanningCase& question, const SearchResult& result) {
  OrderedJson removed = OrderedJson::array();
  for (const Removed& rule : result.space.removed)
    removed.push_back({{"rule", rule.rule}, {"tuples", rule.tuples}});
  OrderedJson rejected = OrderedJson::array();
  for (const Rejection& rejection : rejections(result))
    rejected.push_back({{"candidates", rejection.count}, {"reason", rejection.reason}});
  return line("space", {{"scenario", question.scenario.name},
                        {"model", question.scenario.model.name},
                        {"cluster", question.scenario.cluster.name},
                        {"gpus", question.scenario.plan.dp.size()},
                        {"global_batch", question.scenario.global_batch()},
                        {"tuples", result.space.tuples},
                        {"removed", removed},
                        {"plans", result.space.plans.size()},
                        {"candidates", result.entries.size()},
                        {"capacity_bytes", result.capacity.value},
                        {"rejected", rejected}});
}

OrderedJson entry_json(const PlanningCase& question, const Entry& entry) {
  return line("candidate", entry_body(question.scenario, entry));
}

OrderedJson ranking_json(const PlanningCase& question, const SearchResult& result) {
  return line("ranking", ranking_body(question, result));
}

OrderedJson sweep_json(const SweepPoint& point) {
  OrderedJson json = {{"label", point.label}};
  if (!point.why_not.empty()) json["why_not"] = point.why_not;
  if (point.result) {
    json["cluster"] = point.question->scenario.cluster.name;
    json["gpus"] = point.question->scenario.plan.dp.size();
    json["global_batch"] = point.question->scenario.global_batch();
    json.update(ranking_body(*point.question, *point.result));
  }
  return line("case", std::move(json));
}

OrderedJson sensitivity_json(const SensitivityRow& row) {
  OrderedJson json = {{"figure", row.what}, {"change", row.change}, {"same", row.same}};
  json["best"] = row.best ? candidate_json(*row.best) : OrderedJson(nullptr);
  json["time_s"] = row.best ? OrderedJson(row.time.value) : OrderedJson(nullptr);
  json["keeping_s"] = seconds_or_null(row.keeping);
  json["regret"] = row.regret() ? OrderedJson(*row.regret()) : OrderedJson(nullptr);
  return line("sensitivity", std::move(json));
}

}  // namespace amsp
