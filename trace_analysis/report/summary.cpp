#include "trace_analysis/report/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/json/json.h"
#include "core/text_table.h"
#include "core/utf8.h"
#include "trace_analysis/report/report_text.h"

namespace amsp {
namespace {

constexpr std::size_t kMostRows = 16;  // of steps and ranks, each in a table of its own

double ns(Nanoseconds time) {
  return static_cast<double>(time.value);
}

void add_steps(std::string& text, const Analysis& analysis) {
  TextTable table({"us", "window", "compute", "exposed", "memory", "idle", "overlap", "comm"});
  std::size_t rows = 0, hidden = 0;
  for (std::size_t i = 0; i < analysis.ranks(); ++i)
    for (std::size_t s = 0; s < analysis.parts[i].size(); ++s) {
      if (rows == kMostRows) {
        ++hidden;
        continue;
      }
      ++rows;
      const StepParts& parts = analysis.parts[i][s];
      table.add(
          {fmt::format("{} step {}", analysis.rank(i).rank ? analysis.rank(i).label() : "rank ?",
                       analysis.windows[i].steps[s].number),
           exact_us(parts.window), exact_us(parts.compute), exact_us(parts.exposed),
           exact_us(parts.memory_only), exact_us(parts.idle), exact_us(parts.overlapped),
           exact_us(parts.communication)});
    }
  text += table.str();
  if (hidden > 0) text += fmt::format("... and {} more (--json has all)\n", hidden);
  text += "window = compute + exposed + memory + idle; comm = overlap + exposed";
  StepParts all;
  for (std::size_t i = 0; i < analysis.ranks(); ++i) all += analysis.sum(i);
  if (all.exposed != all.without_compute())
    text += fmt::format(" + {} beside copies", exact_us(all.without_compute() - all.exposed));
  text += '\n';
  if (all.compute_sum != all.compute)
    text += fmt::format("kernels overlap: sum of compute {} us, busy {} us\n",
                        exact_us(all.compute_sum), exact_us(all.compute));
}

void add_traffic(std::string& text, const char* head,
                 const std::map<std::string, TrafficShare>& shares, Nanoseconds window) {
  if (shares.empty()) return;
  TextTable table({head, "calls", "in all", "waiting", "exposed", "of it waiting", "of step"});
  for (const auto& [name, share] : shares)
    table.add({shorten(name, 30), std::to_string(share.calls), short_time(ns(share.total)),
               share.known_waits > 0 ? short_time(ns(share.waiting)) : "-",
               short_time(ns(share.exposed())),
               share.known_waits > 0 ? short_time(ns(share.exposed_wait)) : "-",
               percent_of(ns(share.exposed()), ns(window))});
  text += '\n' + table.str();
}

void add_names(std::string& text, const char* head, const std::vector<NameTime>& names) {
  if (names.empty()) return;
  text += fmt::format("{}\n", head);
  for (std::size_t i = 0; i < std::min(names.size(), kMostRows); ++i)
    text += fmt::format("  {:>10} {:>7} x  {}\n", short_time(ns(names[i].time)), names[i].calls,
                        shorten(names[i].name, 74));
}

void add_classification(std::string& text, const Analysis& analysis) {
  const Classification found = classification(analysis);
  if (!found.communication.empty()) {
    std::vector<std::string> parts;
    for (const auto& [evidence, time] : found.communication)
      parts.push_back(fmt::format("{} {}", to_string(evidence), short_time(ns(time))));
    text += fmt::format("\ncommunication known by: {}\n", fmt::join(parts, ", "));
  }
  add_names(text, "communication by name only, not NCCL's:", found.by_name);
  Nanoseconds unclassified;
  for (const NameTime& entry : found.unclassified) unclassified += entry.time;
  text += fmt::format("unclassified: {}\n", short_time(ns(unclassified)));
  add_names(text, "counted as compute, but called like communication (--rules settles it):",
            found.unclassified);
}

void add_stragglers(std::string& text, const Analysis& analysis) {
  if (analysis.joins.joins.empty()) return;
  TextTable table({"straggler", "came last", "others waited"});
  bool any = false;
  for (const Straggler& straggler : stragglers(analysis)) {
    if (straggler.last == 0) continue;
    any = true;
    table.add({analysis.rank(static_cast<std::size_t>(straggler.rank)).label(),
               fmt::format("{} of {}", straggler.last, analysis.joins.joins.size()),
               short_time(ns(straggler.others_waited))});
  }
  if (any) text += '\n' + table.str();
}

}  // namespace

std::string summary_text(const Analysis& analysis) {
  std::string text = provenance_text(analysis) + '\n';
  add_steps(text, analysis);
  StepParts all;
  for (std::size_t i = 0; i < analysis.ranks(); ++i) all += analysis.sum(i);
  add_traffic(text, "kind", all.by_kind, all.window);
  add_traffic(text, "group", all.by_group, all.window);
  add_classification(text, analysis);
  add_stragglers(text, analysis);
  return text;
}

namespace {

OrderedJson traffic_json(const std::map<std::string, TrafficShare>& shares) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [name, share] : shares)
    json[name] = {{"calls", share.calls},
                  {"calls_with_known_wait", share.known_waits},
                  {"total_ns", share.total.value},
                  {"waiting_ns", share.waiting.value},
                  {"exposed_transfer_ns", share.exposed_transfer.value},
                  {"exposed_wait_ns", share.exposed_wait.value}};
  return json;
}

OrderedJson names_json(const std::vector<NameTime>& names) {
  OrderedJson json = OrderedJson::array();
  for (const NameTime& entry : names)
    json.push_back({{"name", entry.name}, {"calls", entry.calls}, {"time_ns", entry.time.value}});
  return json;
}

}  // namespace

OrderedJson parts_json(const StepParts& parts) {
  OrderedJson json;
  json["window_ns"] = parts.window.value;
  json["compute_ns"] = parts.compute.value;
  json["exposed_ns"] = parts.exposed.value;
  json["memory_only_ns"] = parts.memory_only.value;
  json["idle_ns"] = parts.idle.value;
  json["communication_ns"] = parts.communication.value;
  json["overlapped_ns"] = parts.overlapped.value;
  json["communication_without_compute_ns"] = parts.without_compute().value;
  json["memory_ns"] = parts.memory.value;
  json["compute_sum_ns"] = parts.compute_sum.value;
  json["by_kind"] = traffic_json(parts.by_kind);
  json["by_group"] = traffic_json(parts.by_group);
  return json;
}

OrderedJson summary_json(const Analysis& analysis) {
  OrderedJson json;
  json["schema"] = "amsp.trace-summary/1";
  json["read"] = provenance_json(analysis);
  json["steps"] = OrderedJson::array();
  for (std::size_t i = 0; i < analysis.ranks(); ++i)
    for (std::size_t s = 0; s < analysis.parts[i].size(); ++s) {
      OrderedJson step;
      step["rank"] = analysis.rank(i).rank ? OrderedJson(*analysis.rank(i).rank) : OrderedJson();
      step["step"] = analysis.windows[i].steps[s].number;
      step.update(parts_json(analysis.parts[i][s]));
      json["steps"].push_back(std::move(step));
    }
  const Classification found = classification(analysis);
  json["communication_known_by"] = OrderedJson::object();
  for (const auto& [evidence, time] : found.communication)
    json["communication_known_by"][to_string(evidence)] = time.value;
  json["communication_by_name_only"] = names_json(found.by_name);
  json["unclassified"] = names_json(found.unclassified);
  json["stragglers"] = OrderedJson::array();
  for (const Straggler& straggler : stragglers(analysis)) {
    const RankTrace& trace = analysis.rank(static_cast<std::size_t>(straggler.rank));
    json["stragglers"].push_back({{"rank", trace.rank ? OrderedJson(*trace.rank) : OrderedJson()},
                                  {"came_last", straggler.last},
                                  {"others_waited_ns", straggler.others_waited.value}});
  }
  json["collectives_over_ranks"] = analysis.joins.joins.size();
  return json;
}

}  // namespace amsp
