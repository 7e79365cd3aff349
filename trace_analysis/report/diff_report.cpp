#include <fmt/format.h>

#include <algorithm>

#include "core/json/json.h"
#include "core/statistics.h"
#include "core/text_lines.h"
#include "core/text_table.h"
#include "core/utf8.h"
#include "trace_analysis/report/report_text.h"
#include "trace_analysis/report/summary.h"
#include "trace_analysis/report/unmatched_report.h"
#include "trace_analysis/trace_diff.h"

namespace amsp {
namespace {

constexpr std::size_t kMostOperations = 12;

double ns(Nanoseconds time) {
  return static_cast<double>(time.value);
}

double mean_of(Nanoseconds sum, std::size_t count) {
  return static_cast<double>(sum.value) / static_cast<double>(std::max<std::size_t>(count, 1));
}

std::string time_text(double ns) {
  return ns == 0 ? "0" : short_time(ns);
}

std::string signed_text(double ns) {
  return (ns > 0 ? "+" : "") + time_text(ns);
}

std::string percent(double part, double whole) {
  return percent_of(part, whole, true);
}

/// Whether the means differ by more than what the durations of one side scatter; nothing can be
/// said from one sample.
std::string beyond_spread(const OperationDiff& operation) {
  if (operation.a.size() < 2) return "-";
  const Nanoseconds spread =
      std::max(quantile_by_place(operation.a, 0.9) - quantile_by_place(operation.a, 0.1),
               quantile_by_place(operation.b, 0.9) - quantile_by_place(operation.b, 0.1));
  const double delta = mean_of(operation.delta(), operation.a.size());
  return std::abs(delta) > static_cast<double>(spread.value) ? "yes" : "no";
}

std::string files_of(const Analysis& side) {
  std::string text;
  for (const FileReport& file : side.set.files) text += (text.empty() ? "" : ", ") + file.path;
  return shorten(text, 80);
}

void add_head(std::string& text, const char* name, const Analysis& side) {
  text += fmt::format("{}  {}\n", name, files_of(side));
  const RankTrace& first = side.rank(0);
  text += fmt::format("   {}, {} rank{}, {} step{}, window: {}\n",
                      first.simulated ? "simulated" : "recorded", side.ranks(),
                      side.ranks() == 1 ? "" : "s", side.parts[0].size(),
                      side.parts[0].size() == 1 ? "" : "s", side.windows[0].kind);
  for (const std::string& line : fault_lines(side)) text += wrapped(line, "   ", "      ");
  for (std::size_t i = 0; i < side.ranks(); ++i)
    for (const std::string& why : side.windows[i].excluded)
      text += fmt::format("   excluded: {}: {}\n", side.rank(i).label(), why);
}

void add_waterfall(std::string& text, const TraceDiff& diff) {
  const std::size_t n = diff.pairs.size();
  TextTable table({"mean of a step", "A", "B", "B - A", "of A's step"});
  for (const WaterfallPart& part : diff.waterfall) {
    if (part.a == 0_ns && part.b == 0_ns) continue;
    table.add({part.name, time_text(mean_of(part.a, n)), time_text(mean_of(part.b, n)),
               signed_text(mean_of(part.delta(), n)), percent(ns(part.delta()), ns(diff.step_a))});
  }
  const Nanoseconds delta = diff.step_b - diff.step_a;
  table.add({"step", time_text(mean_of(diff.step_a, n)), time_text(mean_of(diff.step_b, n)),
             signed_text(mean_of(delta, n)), percent(ns(delta), ns(diff.step_a))});
  text += table.str();
  text += fmt::format("{} step{} compared; the differences add up to {} ns exactly\n\n", n,
                      n == 1 ? "" : "s", delta.value);
}

void add_coverage(std::string& text, const TraceDiff& diff) {
  TextTable table({"matched by", "of A's GPU time", "of B's"});
  const auto share = [](Nanoseconds part, Nanoseconds whole) {
    return percent_of(ns(part), ns(whole));
  };
  for (const auto& [confidence, times] : diff.coverage.matched)
    table.add({to_string(confidence), share(times.first, diff.coverage.all_a),
               share(times.second, diff.coverage.all_b)});
  if (diff.coverage.matched.empty()) table.add({"nothing", "0 %", "0 %"});
  text += table.str() + '\n';
}

void add_operations(std::string& text, const TraceDiff& diff) {
  TextTable table({"operation (matched)", "n", "A", "B", "B - A", "", "beyond spread"});
  std::size_t rows = 0;
  for (const OperationDiff& operation : diff.by_operation) {
    if (operation.delta() == 0_ns || rows == kMostOperations) break;
    ++rows;
    table.add({shorten(operation.name, 38), std::to_string(operation.a.size()),
               time_text(ns(operation.sum_a)), time_text(ns(operation.sum_b)),
               signed_text(ns(operation.delta())),
               percent(ns(operation.delta()), ns(operation.sum_a)), beyond_spread(operation)});
  }
  if (rows > 0) text += table.str();
  text += fmt::format("matched events: B - A is {}, the absolute differences add up to {}\n",
                      signed_text(ns(diff.signed_error)), time_text(ns(diff.absolute_error)));
}

OrderedJson operations_json(const std::vector<OperationDiff>& list) {
  OrderedJson json = OrderedJson::array();
  for (const OperationDiff& operation : list)
    json.push_back({{"name", operation.name},
                    {"n", operation.a.size()},
                    {"a_ns", operation.sum_a.value},
                    {"b_ns", operation.sum_b.value},
                    {"delta_ns", operation.delta().value},
                    {"a_p10_ns", quantile_by_place(operation.a, 0.1).value},
                    {"a_p90_ns", quantile_by_place(operation.a, 0.9).value},
                    {"b_p10_ns", quantile_by_place(operation.b, 0.1).value},
                    {"b_p90_ns", quantile_by_place(operation.b, 0.9).value},
                    {"beyond_spread", beyond_spread(operation)}});
  return json;
}

}  // namespace

std::string diff_text(const TraceDiff& diff, const Analysis& a, const Analysis& b) {
  std::string text;
  add_head(text, "A", a);
  add_head(text, "B", b);
  for (const std::string& what : diff.left_out) text += fmt::format("   {}\n", what);
  text += '\n';
  add_waterfall(text, diff);
  add_coverage(text, diff);
  add_operations(text, diff);
  text += unmatched_text("A", diff.only_a, a);
  text += unmatched_text("B", diff.only_b, b);
  return text;
}

OrderedJson diff_json(const TraceDiff& diff, const Analysis& a, const Analysis& b) {
  OrderedJson json;
  json["schema"] = "amsp.trace-diff/1";
  json["a"] = provenance_json(a);
  json["b"] = provenance_json(b);
  json["left_out"] = diff.left_out;
  json["steps_compared"] = diff.pairs.size();
  json["step_a_ns"] = diff.step_a.value;
  json["step_b_ns"] = diff.step_b.value;
  json["delta_ns"] = (diff.step_b - diff.step_a).value;
  json["change"] = step_change(diff);
  json["waterfall"] = OrderedJson::array();
  for (const WaterfallPart& part : diff.waterfall)
    json["waterfall"].push_back({{"part", part.name},
                                 {"a_ns", part.a.value},
                                 {"b_ns", part.b.value},
                                 {"delta_ns", part.delta().value}});
  OrderedJson& coverage = json["coverage"];
  coverage["a_ns"] = diff.coverage.all_a.value;
  coverage["b_ns"] = diff.coverage.all_b.value;
  coverage["matched"] = OrderedJson::object();
  for (const auto& [confidence, times] : diff.coverage.matched)
    coverage["matched"][to_string(confidence)] = {{"a_ns", times.first.value},
                                                  {"b_ns", times.second.value}};
  json["signed_error_ns"] = diff.signed_error.value;
  json["absolute_error_ns"] = diff.absolute_error.value;
  json["by_operation"] = operations_json(diff.by_operation);
  json["by_key"] = operations_json(diff.by_key);
  json["only_in_a"] = unmatched_json(diff.only_a, a);
  json["only_in_b"] = unmatched_json(diff.only_b, b);
  json["only_in_a_by_rank"] = unmatched_by_rank_json(diff.only_a, a);
  json["only_in_b_by_rank"] = unmatched_by_rank_json(diff.only_b, b);
  return json;
}

}  // namespace amsp
