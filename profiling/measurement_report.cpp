#include <fmt/format.h>

#include <algorithm>

#include "core/json/json.h"
#include "core/quantity.h"
#include "core/text_table.h"
#include "profiling/measurement_plan.h"

namespace amsp {
namespace {

std::string kernel_table(const MeasurementPlan& plan) {
  TextTable table({"kernel", "a step", "known", "time", "repeat", "cost"});
  for (const KernelNeed& need : plan.kernels)
    table.add({need.name, std::to_string(need.per_step), to_string(need.coverage),
               format_time(need.time), std::to_string(need.repetitions), format_time(need.cost)});
  return table.str();
}

/// "3", or "3 + 4": those that the step uses, and those beside them.
std::string count_sizes(const CollectiveNeed& need) {
  const auto used = std::count_if(need.sizes.begin(), need.sizes.end(),
                                  [](const SizeNeed& size) { return size.per_step > 0; });
  const auto beside = static_cast<std::ptrdiff_t>(need.sizes.size()) - used;
  return beside > 0 ? fmt::format("{} + {}", used, beside) : fmt::format("{}", used);
}

std::string collective_table(const MeasurementPlan& plan) {
  TextTable table(
      {"collective", "mesh", "groups", "sizes", "from", "to", "a step", "known", "cost"});
  for (const CollectiveNeed& need : plan.collectives)
    table.add({to_string(need.kind), to_string(need.mesh),
               fmt::format("{} of {}", need.together ? need.groups : 1, need.groups),
               count_sizes(need), format_bytes(need.sizes.front().bytes),
               format_bytes(need.sizes.back().bytes), std::to_string(need.per_step()),
               to_string(need.coverage()), format_time(plan.cost(need))});
  return table.str();
}

int most_gpus(const MeasurementPlan& plan) {
  int most = 1;
  for (const CollectiveNeed& need : plan.collectives) most = std::max(most, need.gpus());
  return most;
}

OrderedJson work_json(const ComputeWork& work) {
  if (const GemmWork* gemm = work.gemm())
    return {{"kind", "gemm"}, {"m", gemm->m}, {"k", gemm->k}, {"n", gemm->n}};
  if (const AttentionWork* core = work.attention())
    return {{"kind", "attention"},  {"seq", core->sequence},      {"batch", core->batch},
            {"heads", core->heads}, {"kv_heads", core->kv_heads}, {"head_dim", core->head_dim}};
  return {{"kind", "memory"}, {"bytes", work.bytes}};
}

const char* pass_name(Pass pass) {
  switch (pass) {
    case Pass::kForward:
      return "forward";
    case Pass::kDataGradient:
      return "data_gradient";
    case Pass::kWeightGradient:
      return "weight_gradient";
    case Pass::kBackward:
      break;
  }
  return "backward";
}

OrderedJson kernel_json(const KernelNeed& need) {
  OrderedJson json;
  json["name"] = need.name;
  json["work"] = work_json(need.work);
  json["pass"] = pass_name(need.pass);
  json["per_step"] = need.per_step;
  json["coverage"] = to_string(need.coverage);
  json["time_s"] = need.time.value;
  json["repetitions"] = need.repetitions;
  json["cost_s"] = need.cost.value;
  return json;
}

OrderedJson collective_json(const MeasurementPlan& plan, const CollectiveNeed& need) {
  OrderedJson json;
  json["op"] = to_string(need.kind);
  json["mesh"] = to_string(need.mesh);
  json["groups"] = need.groups;
  json["together"] = need.together;
  json["gpus"] = need.gpus();
  json["per_step"] = need.per_step();
  json["coverage"] = to_string(need.coverage());
  json["in_profile"] = need.in_profile;
  json["sizes"] = OrderedJson::array();
  for (const SizeNeed& size : need.sizes)
    json["sizes"].push_back({{"bytes", size.bytes.value},
                             {"element_bytes", size.element_bytes},
                             {"per_step", size.per_step},
                             {"coverage", to_string(size.coverage)},
                             {"time_s", size.time.value},
                             {"repetitions", size.repetitions},
                             {"cost_s", size.cost.value}});
  json["cost_s"] = plan.cost(need).value;
  return json;
}

}  // namespace

std::string measurements_text(const MeasurementPlan& plan) {
  std::string text =
      fmt::format("{}\n  times     {}\n\n", plan.scenario,
                  plan.profile.empty() ? "modelled (no profile)" : "profile " + plan.profile);
  if (plan.kernels.empty() && plan.collectives.empty())
    return text + "nothing is missing: all that a profile has a place for was measured\n";
  if (!plan.kernels.empty()) text += kernel_table(plan) + "\n";
  if (!plan.collectives.empty()) text += collective_table(plan) + "\n";
  const MeasuringRules& rules = plan.rules;
  text += fmt::format("cost     {} of kernels on 1 GPU, {} of collectives on up to {} GPUs",
                      format_time(plan.kernel_cost()), format_time(plan.collective_cost()),
                      most_gpus(plan));
  text += fmt::format(": {:.3g} GPU-hours\n", plan.gpu_seconds() / 3600);
  text += fmt::format(
      "         ({} runs to warm up, then {} to {}, {} of them if that is within; assumed:\n"
      "         {} to set up a kernel, {} a communicator)\n",
      rules.warm_up, rules.least_repetitions, rules.most_repetitions, format_time(rules.enough),
      format_time(rules.kernel_set_up), format_time(rules.communicator_set_up));
  return text;
}

OrderedJson measurements_json(const MeasurementPlan& plan) {
  OrderedJson json;
  json["schema"] = "amsp.measurements/1";
  json["scenario"] = plan.scenario;
  json["profile"] = plan.profile.empty() ? OrderedJson() : OrderedJson(plan.profile);
  json["rules"] = {{"warm_up", plan.rules.warm_up},
                   {"least_repetitions", plan.rules.least_repetitions},
                   {"most_repetitions", plan.rules.most_repetitions},
                   {"enough_s", plan.rules.enough.value},
                   {"kernel_set_up_s", plan.rules.kernel_set_up.value},
                   {"communicator_set_up_s", plan.rules.communicator_set_up.value}};
  json["kernels"] = OrderedJson::array();
  for (const KernelNeed& need : plan.kernels) json["kernels"].push_back(kernel_json(need));
  json["collectives"] = OrderedJson::array();
  for (const CollectiveNeed& need : plan.collectives)
    json["collectives"].push_back(collective_json(plan, need));
  json["total"] = {{"kernels_s", plan.kernel_cost().value},
                   {"collectives_s", plan.collective_cost().value},
                   {"gpu_hours", plan.gpu_seconds() / 3600}};
  return json;
}

}  // namespace amsp
