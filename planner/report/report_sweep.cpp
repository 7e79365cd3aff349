#include <fmt/format.h>

#include <algorithm>

#include "core/quantity.h"
#include "core/text_lines.h"
#include "core/text_table.h"
#include "planner/report/report.h"

namespace amsp {

namespace {

/// Cases side by side in the table of winners, so that it fits 100 columns.
constexpr std::size_t kMostColumns = 6;

std::string batch_text(const TrainingSpec& training) {
  return fmt::format("{} x {}{}", training.micro_batches, training.micro_batch,
                     training.recompute == Recompute::kFull ? " r" : "");
}

/// Throughput of a case's best; by comm-time the step of the best may not have been run.
std::optional<double> best_throughput(const SweepPoint& point) {
  const Entry& best = point.result->best();
  if (!best.step.step_time) return std::nullopt;
  return throughput(best.candidate.training, *best.step.step_time);
}

void add_case(TextTable& table, const SweepPoint& point, std::optional<double> first) {
  if (!point.solved()) {
    const std::string why = !point.why_not.empty() ? "impossible"
                            : point.result         ? "nothing fits"
                                                   : "not reached";
    table.add({point.label, why});
    return;
  }
  const Entry& best = point.result->best();
  const Scenario& scenario = point.question->scenario;
  const auto tgs = best_throughput(point);
  table.add({point.label, meshes_of(best.candidate.plan), batch_text(best.candidate.training),
             tgs ? format_time(*best.step.step_time) : "-", tgs ? fmt::format("{:.0f}", *tgs) : "-",
             tgs ? fmt::format("{:.1f} %", 100 * utilisation(scenario, best.candidate.training,
                                                             *best.step.step_time))
                 : "-",
             tgs && first ? fmt::format("{:.1f} %", 100 * *tgs / *first) : "-",
             format_bytes_binary(best.memory), fmt::format("{}", fmt::join(best.names, ", "))});
}

/// What a winner of one case costs in another: "3.1 %", with * where it wins, "-" where it is
/// impossible.
std::string cost_of(const ShardingPlan& winner, const SweepPoint& point) {
  if (!point.solved()) return "-  ";
  ShardingPlan plan = winner;
  plan.dp = point.question->scenario.plan.dp;
  const auto place = point.result->place(plan);
  if (!place) return "-  ";
  const Entry& entry = point.result->entries[point.result->ranking()[*place]];
  return fmt::format("{:.1f} %{}", 100 * point.result->slower(entry), *place == 0 ? " *" : "  ");
}

}  // namespace

std::string sweep_text(const Sweep& sweep, Objective objective) {
  std::string text =
      fmt::format("best by {}\n\n", objective == Objective::kStepTime ? "step time, simulated"
                                                                      : "the paper's T_comm");
  TextTable table({"", "p g os", "M x b", "step", "TGS", "MFU", "of first", "memory", "known as"});
  table.align_left(1);
  table.align_left(8);
  std::optional<double> first;
  for (const SweepPoint& point : sweep.points) {
    if (!first && point.solved()) first = best_throughput(point);
    add_case(table, point, first);
  }
  text += table.str();
  for (const SweepPoint& point : sweep.points)
    if (!point.why_not.empty()) text += wrapped(point.why_not, point.label + ": ", "    ");
  text +=
      "TGS: tokens per GPU and second; 'of first' compares it with the first case (efficiency)\n";
  const std::vector<ShardingPlan> winners = sweep.winners();
  for (std::size_t begin = 0; begin < sweep.points.size(); begin += kMostColumns) {
    const std::size_t end = std::min(begin + kMostColumns, sweep.points.size());
    std::vector<std::string> header = {"every winner everywhere"};
    for (std::size_t i = begin; i < end; ++i) header.push_back(sweep.points[i].label);
    TextTable costs(header);
    for (const ShardingPlan& winner : winners) {
      std::vector<std::string> row = {meshes_of(winner)};
      for (std::size_t i = begin; i < end; ++i) row.push_back(cost_of(winner, sweep.points[i]));
      costs.add(std::move(row));
    }
    text += "\n" + costs.str();
  }
  text +=
      "slower than the fastest there; *: the best, ties within 1 % going to lower memory;\n"
      "-: impossible or doesn't fit\n";
  return text;
}

std::string sensitivity_text(const Sensitivity& sensitivity) {
  std::string text =
      fmt::format("what if: today's winner is {}\n\n", meshes_of(sensitivity.winner.plan));
  TextTable table({"figure", "change", "best", "M x b", "time", "keeping today's", "regret"});
  table.align_left(2);
  for (const SensitivityRow& row : sensitivity.rows) {
    const std::string change = fmt::format("{:+.0f} %", 100 * row.change);
    if (!row.best) {
      table.add({row.what, change, "nothing fits"});
      continue;
    }
    table.add({row.what, change, row.same ? "the same" : meshes_of(row.best->plan),
               batch_text(row.best->training), format_time(row.time),
               row.keeping ? format_time(*row.keeping) : "doesn't fit",
               row.regret() ? fmt::format("{:.1f} %", 100 * *row.regret()) : "-"});
  }
  return text + table.str();
}

}  // namespace amsp
