#include "trace_report/html_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "core/error.h"
#include "core/text_lines.h"
#include "trace_analysis/report/summary.h"
#include "trace_analysis/trace_diff.h"
#include "trace_analysis/trace_path.h"
#include "trace_report/assets.h"

namespace amsp {
namespace {

constexpr std::size_t kDefaultRanks = 8;
constexpr std::size_t kMostBars = 64;  // ranks in the chart of exposed communication

class Page {
 public:
  Page(const Analysis& analysis, const ReportOptions& options)
      : analysis_(analysis), options_(options) {}

  std::string write() {
    select_ranks();
    OrderedJson data;
    data["title"] = options_.title;
    data["summary"] = options_.against == nullptr ? summary_text(analysis_) : compared();
    data["timeline"] = timeline();
    data["exposed"] = exposed();
    data["waterfall"] = waterfall();
    data["path"] = path();
    data["memory"] = memory();
    data["plans"] = options_.plans ? *options_.plans : OrderedJson();
    data["names"] = names_;
    data["kinds"] = kinds_;
    std::string json = data.dump();
    // "</script>" would end the element, "<!--<script>" begin another
    for (std::size_t at = 0; (at = json.find('<', at)) != std::string::npos; at += 6)
      json.replace(at, 1, "\\u003c");
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<title>{}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n{}</style>\n</head>\n"
        "<body>\n<main id=\"page\"></main>\n"
        "<script type=\"application/json\" id=\"data\">{}</script>\n<script>{}</script>\n"
        "<script>{}</script>\n</body>\n</html>\n",
        escaped_markup(options_.title), report_style(), json, d3_script(), report_script());
  }

 private:
  void select_ranks() {
    if (options_.ranks.empty()) {
      for (std::size_t i = 0; i < std::min(kDefaultRanks, analysis_.ranks()); ++i)
        shown_.push_back(i);
      return;
    }
    for (const int wanted : options_.ranks) {
      const auto& ranks = analysis_.set.ranks;
      const auto found = std::find_if(ranks.begin(), ranks.end(),
                                      [&](const RankTrace& trace) { return trace.rank == wanted; });
      if (found == ranks.end())
        throw ConfigError(fmt::format("--ranks: rank {} is not in the traces", wanted));
      shown_.push_back(static_cast<std::size_t>(found - ranks.begin()));
    }
  }

  int id(std::vector<std::string>& list, std::map<std::string, int>& ids, const std::string& text) {
    const auto [found, is_new] = ids.try_emplace(text, static_cast<int>(list.size()));
    if (is_new) list.push_back(text);
    return found->second;
  }
  int name_id(const std::string& text) { return id(names_, name_ids_, text); }
  int kind_id(const std::string& text) { return id(kinds_, kind_ids_, text); }

  Nanoseconds corrected(std::size_t rank, Nanoseconds time) const {
    return time - analysis_.joins.clocks[rank].offset - origin_;
  }

  /// The length below which events are left out so that few enough remain.
  Nanoseconds shortest_shown() const {
    std::vector<Nanoseconds> lengths;
    for (const std::size_t rank : shown_)
      for (const GpuEvent& event : analysis_.rank(rank).events)
        lengths.push_back(event.end - event.start);
    if (lengths.size() <= options_.most_events) return {};
    const auto cut =
        lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() - options_.most_events);
    std::nth_element(lengths.begin(), cut, lengths.end());
    return *cut + 1_ns;
  }

  OrderedJson timeline() {
    bool first = true;
    for (const std::size_t rank : shown_)
      for (const GpuEvent& event : analysis_.rank(rank).events) {
        const Nanoseconds start = event.start - analysis_.joins.clocks[rank].offset;
        if (first || start < origin_) origin_ = start;
        first = false;
      }
    const Nanoseconds shortest = shortest_shown();
    std::size_t omitted = 0;
    OrderedJson json;
    json["ranks"] = OrderedJson::array();
    for (const std::size_t rank : shown_) {
      const RankTrace& trace = analysis_.rank(rank);
      std::map<std::int64_t, OrderedJson> streams;
      for (std::size_t i = 0; i < trace.events.size(); ++i) {
        const GpuEvent& event = trace.events[i];
        OrderedJson& list = streams.try_emplace(event.stream, OrderedJson::array()).first->second;
        if (event.end - event.start < shortest) {
          ++omitted;
          continue;
        }
        const std::optional<Nanoseconds> wait = waiting_time(
            analysis_.set.ranks, analysis_.joins, static_cast<int>(rank), static_cast<int>(i));
        const Collective* call = trace.collective(event);
        list.push_back({corrected(rank, event.start).value, (event.end - event.start).value,
                        name_id(label(trace, static_cast<int>(i))),
                        kind_id(call != nullptr ? call->kind : to_string(event.activity)),
                        wait.value_or(0_ns).value});
      }
      OrderedJson entry;
      entry["label"] = trace.rank ? trace.label() : "rank unknown";
      entry["streams"] = OrderedJson::array();
      for (auto& [stream, events] : streams)
        entry["streams"].push_back(
            {{"name", fmt::format("stream {}", stream)}, {"events", std::move(events)}});
      entry["steps"] = OrderedJson::array();
      for (const StepWindow& step : analysis_.windows[rank].steps)
        entry["steps"].push_back(
            {corrected(rank, step.begin).value, corrected(rank, step.end).value, step.number});
      json["ranks"].push_back(std::move(entry));
    }
    json["omitted"] = omitted;
    json["shortest_ns"] = shortest.value;
    return json;
  }

  static std::string label(const RankTrace& trace, int event) {
    return describe_event(trace, event);
  }

  OrderedJson exposed() {
    OrderedJson json = OrderedJson::array();
    for (std::size_t i = 0; i < std::min(analysis_.ranks(), kMostBars); ++i) {
      const StepParts sum = analysis_.sum(i);
      const auto steps = static_cast<double>(std::max<std::size_t>(1, analysis_.parts[i].size()));
      OrderedJson kinds = OrderedJson::array();
      for (const auto& [kind, share] : sum.by_kind)
        kinds.push_back({kind_id(kind), static_cast<double>(share.exposed().value) / steps});
      json.push_back({{"label", analysis_.rank(i).rank ? analysis_.rank(i).label() : "rank ?"},
                      {"window", static_cast<double>(sum.window.value) / steps},
                      {"kinds", kinds}});
    }
    return json;
  }

  std::string compared() const {
    return diff_text(diff_traces(*options_.against, analysis_), *options_.against, analysis_);
  }

  /// [name, length] from 0 to the step, or from one side's step to the other's.
  OrderedJson waterfall() {
    OrderedJson json;
    OrderedJson& parts = json["parts"] = OrderedJson::array();
    if (options_.against != nullptr) {
      const TraceDiff diff = diff_traces(*options_.against, analysis_);
      const auto n = static_cast<double>(diff.pairs.size());
      json["from"] = static_cast<double>(diff.step_a.value) / n;
      json["to"] = static_cast<double>(diff.step_b.value) / n;
      for (const WaterfallPart& part : diff.waterfall)
        if (part.delta() != 0_ns)
          parts.push_back({part.name, static_cast<double>(part.delta().value) / n});
      return json;
    }
    StepParts all;
    double steps = 0;
    for (std::size_t i = 0; i < analysis_.ranks(); ++i) {
      all += analysis_.sum(i);
      steps += static_cast<double>(analysis_.parts[i].size());
    }
    steps = std::max(steps, 1.0);
    const auto add = [&](const std::string& name, Nanoseconds time) {
      if (time != 0_ns) parts.push_back({name, static_cast<double>(time.value) / steps});
    };
    json["from"] = 0;
    json["to"] = static_cast<double>(all.window.value) / steps;
    add("compute", all.compute);
    for (const auto& [kind, share] : all.by_kind) {
      add("exposed " + kind + " transfer", share.exposed_transfer);
      add("exposed " + kind + " wait", share.exposed_wait);
    }
    add("memory", all.memory_only);
    add("idle", all.idle);
    return json;
  }

  OrderedJson path() {
    OrderedJson json = OrderedJson::array();
    std::size_t steps = 0;
    for (const RankWindows& windows : analysis_.windows)
      steps = std::max(steps, windows.steps.size());
    for (std::size_t step = 0; step < steps; ++step)
      for (const PathPiece& piece : trace_path(analysis_, step)) {
        const RankTrace& trace = analysis_.rank(static_cast<std::size_t>(piece.rank));
        json.push_back({(piece.start - origin_).value, (piece.end - piece.start).value,
                        name_id(piece.event < 0 ? piece.kind : label(trace, piece.event)),
                        kind_id(piece.kind), trace.rank ? OrderedJson(*trace.rank) : OrderedJson(),
                        piece.inferred ? 1 : 0});
      }
    return json;
  }

  OrderedJson memory() const {
    if (options_.memory.empty()) return {};
    OrderedJson json;
    json["capacity"] = options_.memory_capacity;
    json["parts"] = OrderedJson::array();
    for (const MemoryBar& bar : options_.memory)
      json["parts"].push_back({{"name", bar.name}, {"bytes", bar.bytes}, {"how", bar.how}});
    return json;
  }

  const Analysis& analysis_;
  const ReportOptions& options_;
  std::vector<std::size_t> shown_;
  Nanoseconds origin_;
  std::vector<std::string> names_, kinds_;
  std::map<std::string, int> name_ids_, kind_ids_;
};

}  // namespace

std::string html_report(const Analysis& analysis, const ReportOptions& options) {
  return Page(analysis, options).write();
}

}  // namespace amsp
