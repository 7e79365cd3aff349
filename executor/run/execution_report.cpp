#include "executor/run/execution_report.h"

#include <fmt/format.h>

#include "core/json/json.h"
#include "core/quantity.h"
#include "core/text_table.h"
#include "core/utf8.h"
#include "training/memory.h"

namespace amsp {

namespace {

/// Predicted parts that a host or GPU arena doesn't hold (contexts, communicator buffers) are left
/// out; so is what the arena holds and no part predicts.
struct MemoryRow {
  std::string part;
  Bytes predicted, measured;
};

std::vector<MemoryRow> memory_rows(const Scenario& scenario, const Execution& execution) {
  const MemoryEstimate estimate = estimate_memory(scenario.model, scenario.training, scenario.plan,
                                                  scenario.engine, scenario.cluster);
  std::vector<MemoryRow> rows;
  MemoryRow total{"total", {}, {}};
  for (int use = 0; use < static_cast<int>(MemoryUse::kInputs); ++use) {
    const auto found = execution.memory.find(static_cast<MemoryUse>(use));
    MemoryRow row{to_string(static_cast<MemoryUse>(use)), {}, {}};
    row.predicted = estimate.part(row.part);
    if (found != execution.memory.end()) row.measured = found->second;
    if (row.predicted.value == 0 && row.measured.value == 0) continue;
    total.predicted += row.predicted;
    total.measured += row.measured;
    rows.push_back(row);
  }
  rows.push_back(total);
  return rows;
}

double tokens_per_rank_second(const Scenario& scenario, Seconds step) {
  return static_cast<double>(scenario.training.tokens()) * scenario.training.micro_batches /
         step.value;
}

/// The longest totals, and what they leave over.
std::string kernel_table(const Execution& execution) {
  constexpr std::size_t kRows = 12;
  constexpr std::size_t kLongestName = 56;
  const KernelTotals& kernels = *execution.kernels;
  double all = 0;
  for (const KernelTotal& total : kernels.by_name) all += total.total.value;
  TextTable table(
      {fmt::format("kernel (rank 0, step {})", execution.traced_step), "runs", "in all", "of all"});
  const auto add = [&](const std::string& name, std::int64_t runs, Seconds time) {
    table.add({name, fmt::format("{}", runs), format_time(time),
               fmt::format("{:.1f} %", all > 0 ? 100 * time.value / all : 0)});
  };
  KernelTotal rest;
  const std::size_t shown = kernels.by_name.size() > kRows ? kRows - 1 : kernels.by_name.size();
  for (std::size_t i = 0; i < kernels.by_name.size(); ++i) {
    const KernelTotal& total = kernels.by_name[i];
    if (i < shown) {
      add(shorten(total.name, kLongestName), total.runs, total.total);
    } else {
      rest.runs += total.runs;
      rest.total += total.total;
    }
  }
  if (rest.runs > 0)
    add(fmt::format("{} others", kernels.by_name.size() - shown), rest.runs, rest.total);
  std::string text = "\n" + table.str();
  if (kernels.lost > 0)
    text += fmt::format("The profiler lost {} runs of kernels.\n", kernels.lost);
  if (kernels.without_task > 0)
    text += fmt::format("Of {} runs of kernels the profiler can't say which task launched them.\n",
                        kernels.without_task);
  return text;
}

}  // namespace

std::string text_report(const Scenario& scenario, const ExecutionPlace& place,
                        const Execution& execution) {
  std::string text = fmt::format(
      "{}\n  plan      {} ({}), engine {}\n  ranks     {}\n  device    {}\n  fabric    {}\n"
      "  data      {}\n\n",
      scenario.name, scenario.plan_name, to_string(scenario.plan), scenario.engine.name,
      scenario.plan.dp.size(), place.device, place.fabric, place.data);
  if (!execution.losses.empty())
    text += fmt::format("loss        {:.4f} in step 1, {:.4f} in step {}\n",
                        execution.losses.front(), execution.losses.back(), execution.losses.size());
  if (!execution.step_times.empty()) {
    const Seconds median = execution.quantile(0.5);
    text += fmt::format("step time   {} median of {} steps (p10 {}, p90 {})\n", format_time(median),
                        execution.step_times.size(), format_time(execution.quantile(0.1)),
                        format_time(execution.quantile(0.9)));
    text += fmt::format("throughput  {:.4g} tokens per rank and second\n",
                        tokens_per_rank_second(scenario, median));
  }
  if (execution.kernels) text += kernel_table(execution);
  TextTable table({"memory", "predicted", "measured peak"});
  for (const MemoryRow& row : memory_rows(scenario, execution))
    table.add({row.part, format_bytes_binary(row.predicted), format_bytes_binary(row.measured)});
  return text + "\n" + table.str() +
         fmt::format(
             "\nThe arena has {}: buffers share bytes only where the schedule orders their "
             "uses.\n",
             format_bytes_binary(execution.arena));
}

OrderedJson json_report(const Scenario& scenario, const ExecutionPlace& place,
                        const Execution& execution) {
  OrderedJson json;
  json["schema"] = "amsp.execution/1";
  json["scenario"] = scenario.name;
  json["config_hash"] = scenario.hash;
  json["plan"] = to_string(scenario.plan);
  json["engine"] = scenario.engine.name;
  json["ranks"] = scenario.plan.dp.size();
  json["device"] = place.device;
  json["fabric"] = place.fabric;
  json["data"] = place.data;
  json["steps"] = execution.losses.size();
  json["losses"] = execution.losses;
  OrderedJson times = OrderedJson::array();
  for (const Seconds time : execution.step_times) times.push_back(time.value);
  json["step_times_s"] = times;
  if (!execution.step_times.empty()) {
    const Seconds median = execution.quantile(0.5);
    json["step_time_s"] = {{"median", median.value},
                           {"p10", execution.quantile(0.1).value},
                           {"p90", execution.quantile(0.9).value}};
    json["traced_step"] = execution.traced_step;
    json["tokens_per_rank_s"] = tokens_per_rank_second(scenario, median);
  }
  if (execution.kernels) {
    OrderedJson kernels = OrderedJson::array();
    for (const KernelTotal& total : execution.kernels->by_name)
      kernels.push_back(
          {{"name", total.name}, {"runs", total.runs}, {"total_s", total.total.value}});
    json["kernels"] = kernels;
    json["kernels_lost"] = execution.kernels->lost;
    json["kernels_without_task"] = execution.kernels->without_task;
  }
  OrderedJson memory = OrderedJson::array();
  for (const MemoryRow& row : memory_rows(scenario, execution))
    memory.push_back({{"part", row.part},
                      {"predicted_bytes", row.predicted.value},
                      {"measured_bytes", row.measured.value}});
  json["memory"] = memory;
  json["arena_bytes"] = execution.arena.value;
  OrderedJson clocks = OrderedJson::array();
  for (const ClockOffset& clock : execution.clocks)
    clocks.push_back(
        {{"offset_ns", clock.offset.value}, {"uncertainty_ns", clock.uncertainty.value}});
  json["clocks"] = clocks;
  return json;
}

}  // namespace amsp
