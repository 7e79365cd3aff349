#include <fmt/format.h>

#include <algorithm>

#include "core/json/json.h"
#include "core/quantity.h"
#include "core/text_table.h"
#include "core/utf8.h"
#include "trace_analysis/report/report_text.h"
#include "trace_analysis/report/summary.h"

namespace amsp {
namespace {

constexpr std::size_t kMostRanks = 8;  // that are listed, if nothing is odd about them

std::string us(Nanoseconds time) {
  return exact_us(time) + " us";
}

void add_notes(std::string& text, const char* what, const Notes& notes) {
  for (const auto& [kind, note] : notes.by_kind()) {
    text += fmt::format("  {}: {} x {}\n", what, note.count, kind);
    for (const std::string& example : note.examples)
      text += fmt::format("      {}\n", shorten(example, 92));
  }
}

/// "2 x KIND, 1 x OTHER"; empty if there is nothing.
std::string counts_text(const std::map<std::string, std::int64_t>& counts) {
  std::string text;
  for (const auto& [kind, count] : counts)
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", count, kind);
  return text;
}

OrderedJson notes_json(const Notes& notes) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [kind, note] : notes.by_kind())
    json[kind] = {{"count", note.count}, {"examples", note.examples}};
  return json;
}

}  // namespace

std::string provenance_text(const Analysis& analysis) {
  std::string text;
  for (const FileReport& file : analysis.set.files) {
    text += fmt::format("{}: {}{} events, {}\n", file.path, file.floor ? "at least " : "",
                        file.events, format_bytes(Bytes{static_cast<std::int64_t>(file.bytes)}));
    if (file.floor) text += fmt::format("  incomplete: {}\n", file.incomplete);
    add_notes(text, "repaired", file.repairs);
    add_notes(text, "skipped", file.rejected);
  }
  std::size_t alike = 0;  // ranks that have nothing to say for themselves
  for (std::size_t i = 0; i < analysis.ranks(); ++i) {
    const RankTrace& trace = analysis.rank(i);
    const RankWindows& windows = analysis.windows[i];
    const bool plain = windows.excluded.empty() && trace.quarantined.total() == 0 &&
                       trace.doubts.total() == 0 && !trace.launches.empty();
    if (plain && i >= kMostRanks) {
      ++alike;
      continue;
    }
    text += fmt::format(
        "{}: {} step{}, window: {}\n",
        trace.rank ? fmt::format("{} (by {})", trace.label(), trace.rank_source) : "rank unknown",
        windows.steps.size(), windows.steps.size() == 1 ? "" : "s", windows.kind);
    if (trace.launches.empty()) text += "  no launches in the trace: host metrics are n/a\n";
    for (const std::string& why : windows.excluded) text += fmt::format("  excluded: {}\n", why);
    add_notes(text, "set aside", trace.quarantined);
    add_notes(text, "doubtful", trace.doubts);
  }
  if (alike > 0) text += fmt::format("... and {} more ranks\n", alike);
  const bool one_clock =
      std::all_of(analysis.joins.clocks.begin(), analysis.joins.clocks.end(),
                  [](const ClockEstimate& clock) { return clock.source == "one clock"; });
  if (analysis.ranks() > 1 && one_clock) text += "all ranks have one clock\n";
  if (analysis.ranks() > 1 && !one_clock) {
    TextTable table({"clock", "offset", "+-", "bounds by causality", "from"});
    table.align_left(4);
    for (std::size_t i = 0; i < analysis.ranks(); ++i) {
      const ClockEstimate& clock = analysis.joins.clocks[i];
      table.add({analysis.rank(i).label(), us(clock.offset), us(clock.spread),
                 clock.low ? fmt::format("{} .. {}", us(*clock.low), us(*clock.high)) : "-",
                 clock.collectives > 0 ? fmt::format("{} ({})", clock.source, clock.collectives)
                                       : clock.source});
    }
    text += table.str();
  }
  return text;
}

OrderedJson provenance_json(const Analysis& analysis) {
  OrderedJson json;
  json["files"] = OrderedJson::array();
  for (const FileReport& file : analysis.set.files)
    json["files"].push_back({{"path", file.path},
                             {"bytes", file.bytes},
                             {"events", file.events},
                             {"incomplete", file.incomplete},
                             {"repairs", notes_json(file.repairs)},
                             {"skipped", notes_json(file.rejected)}});
  json["ranks"] = OrderedJson::array();
  for (std::size_t i = 0; i < analysis.ranks(); ++i) {
    const RankTrace& trace = analysis.rank(i);
    const ClockEstimate& clock = analysis.joins.clocks[i];
    OrderedJson rank;
    rank["rank"] = trace.rank ? OrderedJson(*trace.rank) : OrderedJson();
    rank["rank_source"] = trace.rank_source;
    rank["file"] = trace.file;
    rank["window"] = analysis.windows[i].kind;
    rank["excluded"] = analysis.windows[i].excluded;
    rank["set_aside"] = notes_json(trace.quarantined);
    rank["doubts"] = notes_json(trace.doubts);
    rank["clock"] = {{"offset_ns", clock.offset.value},
                     {"uncertainty_ns", clock.spread.value},
                     {"low_ns", clock.low ? OrderedJson(clock.low->value) : OrderedJson()},
                     {"high_ns", clock.high ? OrderedJson(clock.high->value) : OrderedJson()},
                     {"collectives", clock.collectives},
                     {"source", clock.source}};
    json["ranks"].push_back(std::move(rank));
  }
  return json;
}

std::vector<std::string> fault_lines(const Analysis& analysis) {
  std::vector<std::string> lines;
  std::map<std::string, std::int64_t> repaired, skipped, set_aside, doubtful;
  const auto add = [](std::map<std::string, std::int64_t>& counts, const Notes& notes) {
    for (const auto& [kind, note] : notes.by_kind()) counts[kind] += note.count;
  };
  for (const FileReport& file : analysis.set.files) {
    if (file.floor) lines.push_back(fmt::format("incomplete: {}: {}", file.path, file.incomplete));
    add(repaired, file.repairs);
    add(skipped, file.rejected);
  }
  for (const RankTrace& trace : analysis.set.ranks) {
    add(set_aside, trace.quarantined);
    add(doubtful, trace.doubts);
  }
  for (const auto& [what, counts] : {std::pair{"repaired", &repaired},
                                     {"events skipped", &skipped},
                                     {"events set aside", &set_aside},
                                     {"events in doubt", &doubtful}})
    if (!counts->empty()) lines.push_back(fmt::format("{}: {}", what, counts_text(*counts)));
  return lines;
}

}  // namespace amsp
