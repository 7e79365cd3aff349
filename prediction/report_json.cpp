#include "core/json/json.h"
#include "prediction/predict.h"

namespace amsp {

namespace {

double seconds(Nanoseconds time) {
  return to_seconds(time).value;
}

OrderedJson by_class(const std::map<std::string, Nanoseconds>& times) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [name, time] : times) json[name + "_s"] = seconds(time);
  return json;
}

OrderedJson memory_json(const Prediction& prediction) {
  OrderedJson parts = OrderedJson::array();
  for (const MemoryPart& part : prediction.memory.parts)
    parts.push_back({{"name", part.name}, {"bytes", part.bytes.value}, {"formula", part.formula}});
  return {{"fits", prediction.memory.fits()},
          {"allocated_bytes", prediction.memory.allocated.value},
          {"reserved_bytes", prediction.memory.reserved.value},
          {"capacity_bytes", prediction.memory.capacity.value},
          {"shard_imbalance", prediction.memory.shard_imbalance},
          {"parts", parts},
          {"advice", prediction.memory_advice}};
}

OrderedJson breakdown_json(const Prediction& prediction) {
  const RankBreakdown& parts = prediction.breakdown;
  return {
      {"rank", prediction.rank},
      {"window_s", seconds(parts.window)},
      {"compute_s", seconds(parts.compute)},
      {"communication_s", seconds(parts.communication)},
      {"overlapped_s", seconds(parts.overlapped)},
      {"exposed_s", seconds(parts.exposed)},
      {"idle_s", seconds(parts.idle)},
      {"exposed_by_class", by_class(parts.exposed_by_class)},
      {"total_by_class", by_class(parts.total_by_class)},
      {"waiting_by_class", by_class(parts.waiting_by_class)},
      {"exposed_over_ranks",
       {{"min_s", seconds(prediction.exposed_min)}, {"max_s", seconds(prediction.exposed_max)}}}};
}

OrderedJson closed_form_json(const Prediction& prediction) {
  OrderedJson communication = OrderedJson::object();
  for (const auto& [name, time] : prediction.exact.communication)
    communication[name + "_s"] = time.value;
  return {{"exact",
           {{"total_s", prediction.exact.total.value},
            {"compute_s", prediction.exact.compute.value},
            {"communication", communication}}},
          {"paper",
           {{"t_p_s", prediction.paper.t_p.value},
            {"t_g_s", prediction.paper.t_g.value},
            {"t_os0_s", prediction.paper.t_os0.value},
            {"t_os1_s", prediction.paper.t_os1.value},
            {"t_comm_s", prediction.paper.total().value}}}};
}

}  // namespace

OrderedJson json_report(const Scenario& scenario, const Prediction& prediction) {
  OrderedJson json;
  json["schema"] = "amsp.prediction/1";
  json["scenario"] = scenario.name;
  json["model"] = {{"name", scenario.model.name}, {"parameters", parameter_count(scenario.model)}};
  json["cluster"] = {{"name", scenario.cluster.name},
                     {"nodes", scenario.cluster.nodes},
                     {"gpus", scenario.cluster.gpus()},
                     {"profile", scenario.cluster.profile}};
  json["placement"] = to_string(scenario.placement.kind);
  json["plan"] = {{"name", scenario.plan_name},
                  {"p", to_string(scenario.plan.p)},
                  {"g", to_string(scenario.plan.g)},
                  {"os", to_string(scenario.plan.os)},
                  {"dp", to_string(scenario.plan.dp)}};
  if (scenario.plan.p2) json["plan"]["p2"] = to_string(*scenario.plan.p2);
  json["stack"] = {{"name", scenario.training.stack.name}, {"assumed", scenario.stack_is_assumed}};
  if (prediction.gain_of_compiling)
    json["stack"]["compiling_saves_s"] = prediction.gain_of_compiling->value;
  json["kernels"] = prediction.kernel_source;
  json["micro_batches"] = scenario.training.micro_batches;
  json["global_batch"] = scenario.global_batch();
  json["step_time_s"] = prediction.step_time.value;
  json["step_time_80_percent_s"] = {prediction.band.low.value, prediction.band.high.value};
  json["tokens_per_gpu_second"] = prediction.tokens_per_gpu_second;
  json["mfu"] = prediction.mfu;
  json["flop_per_token"] = prediction.flop_per_token.value;
  const MatrixPeak peak = matrix_peak(scenario);
  json["peak_flop_per_s"] = peak.rate.value;
  json["peak_type"] = peak.given ? peak.type : "bf16";
  json["memory"] = memory_json(prediction);
  json["breakdown"] = breakdown_json(prediction);
  json["critical_path"] = by_class(prediction.critical_path);
  json["links"] = OrderedJson::array();
  for (const LinkUsage& usage : prediction.links)
    json["links"].push_back(
        {{"link", usage.link}, {"bytes", usage.bytes}, {"utilisation", usage.utilisation}});
  json["closed_form"] = closed_form_json(prediction);
  json["unmeasured"] = prediction.unmeasured;
  json["simulation"] = {{"tasks", prediction.tasks},
                        {"activities", prediction.activities},
                        {"rank_classes", prediction.rank_classes},
                        {"micro_batches", prediction.batches_played}};
  if (prediction.samples) {
    const StepSamples& samples = *prediction.samples;
    const Conditions::Jitter& jitter = *scenario.conditions.jitter;
    json["jitter"] = {{"sigma", jitter.sigma},
                      {"seed", jitter.seed},
                      {"ranks", jitter.ranks},
                      {"samples", samples.times.size()},
                      {"mean_s", samples.mean().value},
                      {"p50_s", samples.quantile(0.5).value},
                      {"p95_s", samples.quantile(0.95).value},
                      {"p99_s", samples.quantile(0.99).value}};
    for (const Seconds time : samples.times) json["jitter"]["step_times_s"].push_back(time.value);
  }
  if (prediction.run) {
    json["run"] = {{"tokens", *scenario.report.token_budget},
                   {"days", prediction.run->days},
                   {"gpu_hours", prediction.run->gpu_hours}};
    if (prediction.run->price) {
      json["run"]["price"] = *prediction.run->price;
      json["run"]["currency"] = scenario.report.currency;
    }
  }
  return json;
}

}  // namespace amsp
