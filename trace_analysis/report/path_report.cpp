#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/json/json.h"
#include "core/text_table.h"
#include "core/utf8.h"
#include "trace_analysis/align_events.h"
#include "trace_analysis/report/report_text.h"
#include "trace_analysis/report/summary.h"
#include "trace_analysis/trace_path.h"

namespace amsp {
namespace {

constexpr std::size_t kMostLayers = 12;
constexpr std::size_t kMostPieces = 10;

std::string time_text(Nanoseconds time) {
  return short_time(static_cast<double>(time.value));
}

std::string share(Nanoseconds part, Nanoseconds whole) {
  return percent_of(static_cast<double>(part.value), static_cast<double>(whole.value));
}

std::size_t most_steps(const Analysis& analysis) {
  std::size_t steps = 0;
  for (const RankWindows& windows : analysis.windows) steps = std::max(steps, windows.steps.size());
  return steps;
}

/// As the traces number it; all ranks have the same.
int number_of(const Analysis& analysis, std::size_t step) {
  for (const RankWindows& windows : analysis.windows)
    if (step < windows.steps.size()) return static_cast<int>(windows.steps[step].number);
  throw InternalError("no rank has a step at this place");
}

Nanoseconds inferred_time(const std::vector<PathPiece>& path) {
  Nanoseconds sum;
  for (const PathPiece& piece : path) sum += piece.inferred ? piece.end - piece.start : 0_ns;
  return sum;
}

void add_sums(std::string& text, const char* head, const std::map<std::string, Nanoseconds>& sums,
              Nanoseconds whole) {
  std::vector<std::pair<std::string, Nanoseconds>> rows(sums.begin(), sums.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  TextTable table({head, "time", "share"});
  Nanoseconds rest;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i < kMostLayers)
      table.add({rows[i].first, time_text(rows[i].second), share(rows[i].second, whole)});
    else
      rest += rows[i].second;
  }
  if (rest > 0_ns)
    table.add(
        {fmt::format("{} others", rows.size() - kMostLayers), time_text(rest), share(rest, whole)});
  text += table.str() + '\n';
}

OrderedJson sums_json(const std::map<std::string, Nanoseconds>& sums) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [name, time] : sums) json[name] = time.value;
  return json;
}

std::string name_of(const Analysis& analysis, const PathPiece& piece) {
  if (piece.event < 0) return "-";
  return describe_event(analysis.rank(static_cast<std::size_t>(piece.rank)), piece.event);
}

void add_longest(std::string& text, const Analysis& analysis, std::vector<PathPiece> path,
                 Nanoseconds whole) {
  std::stable_sort(path.begin(), path.end(), [](const PathPiece& a, const PathPiece& b) {
    return a.end - a.start > b.end - b.start;
  });
  TextTable table({"longest pieces", "rank", "time", "share", "kind"});
  table.align_left(4);
  for (std::size_t i = 0; i < std::min(path.size(), kMostPieces); ++i) {
    const RankTrace& trace = analysis.rank(static_cast<std::size_t>(path[i].rank));
    table.add({shorten(name_of(analysis, path[i]), 50),
               trace.rank ? std::to_string(*trace.rank) : "?",
               time_text(path[i].end - path[i].start), share(path[i].end - path[i].start, whole),
               path[i].kind + (path[i].inferred ? " (inferred)" : "")});
  }
  text += table.str();
}

}  // namespace

std::string path_text(const Analysis& analysis) {
  std::string text = provenance_text(analysis);
  for (std::size_t step = 0; step < most_steps(analysis); ++step) {
    const std::vector<PathPiece> path = trace_path(analysis, step);
    if (path.empty()) continue;
    const Nanoseconds whole = path.back().end - path.front().start;
    text +=
        fmt::format("\nstep {}: {} in {} pieces; {} by inference\n\n", number_of(analysis, step),
                    time_text(whole), path.size(), share(inferred_time(path), whole));
    add_sums(text, "kind", path_by_kind(path), whole);
    const auto layers = path_by_layer(path);
    if (layers.size() > 1) add_sums(text, "layer", layers, whole);
    add_longest(text, analysis, path, whole);
  }
  return text;
}

OrderedJson path_json(const Analysis& analysis) {
  OrderedJson json;
  json["schema"] = "amsp.trace-path/1";
  json["read"] = provenance_json(analysis);
  json["steps"] = OrderedJson::array();
  for (std::size_t step = 0; step < most_steps(analysis); ++step) {
    const std::vector<PathPiece> path = trace_path(analysis, step);
    if (path.empty()) continue;
    OrderedJson entry;
    entry["step"] = number_of(analysis, step);
    entry["length_ns"] = (path.back().end - path.front().start).value;
    entry["inferred_ns"] = inferred_time(path).value;
    entry["by_kind_ns"] = sums_json(path_by_kind(path));
    entry["by_layer_ns"] = sums_json(path_by_layer(path));
    entry["pieces"] = OrderedJson::array();
    for (const PathPiece& piece : path) {
      const RankTrace& trace = analysis.rank(static_cast<std::size_t>(piece.rank));
      entry["pieces"].push_back({{"rank", trace.rank ? OrderedJson(*trace.rank) : OrderedJson()},
                                 {"what", name_of(analysis, piece)},
                                 {"kind", piece.kind},
                                 {"layer", piece.layer},
                                 {"start_ns", (piece.start - path.front().start).value},
                                 {"length_ns", (piece.end - piece.start).value},
                                 {"inferred", piece.inferred}});
    }
    json["steps"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace amsp
