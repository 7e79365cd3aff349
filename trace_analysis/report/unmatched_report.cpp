#include "trace_analysis/report/unmatched_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/json/json.h"
#include "core/utf8.h"
#include "trace_analysis/report/report_text.h"

namespace amsp {
namespace {

constexpr std::size_t kMostGroups = 4;
constexpr std::size_t kMostEvents = 3;

using Events = std::vector<const Unmatched*>;  // longest first

std::map<std::size_t, Events> by_rank(const std::vector<Unmatched>& list) {
  std::map<std::size_t, Events> ranks;
  for (const Unmatched& event : list) ranks[event.rank].push_back(&event);
  return ranks;
}

Nanoseconds sum(const Events& events) {
  Nanoseconds time;
  for (const Unmatched* event : events) time += event->time;
  return time;
}

/// Ranks that lack the same events, whatever these took.
struct Group {
  std::vector<std::size_t> ranks;
  Events events;  // of the first rank
};

std::vector<Group> groups(const std::vector<Unmatched>& list) {
  std::vector<Group> result;
  std::map<std::vector<std::tuple<std::string, std::int64_t, std::string>>, std::size_t> known;
  for (const auto& [rank, events] : by_rank(list)) {
    std::vector<std::tuple<std::string, std::int64_t, std::string>> same;
    for (const Unmatched* event : events)
      same.emplace_back(event->what, event->step, event->reason);
    std::sort(same.begin(), same.end());
    const auto [found, is_new] = known.try_emplace(std::move(same), result.size());
    if (is_new) result.push_back({{}, events});
    result[found->second].ranks.push_back(rank);
  }
  return result;
}

/// "rank 3", "ranks 0-3, 7".
std::string names(const std::vector<std::size_t>& ranks, const Analysis& side) {
  if (ranks.size() == 1) return side.rank(ranks[0]).label();
  std::string text = "ranks ";
  for (std::size_t i = 0; i < ranks.size();) {
    const auto number = [&](std::size_t at) { return side.rank(ranks[at]).rank.value_or(-1); };
    std::size_t last = i;
    while (last + 1 < ranks.size() && number(last + 1) == number(last) + 1) ++last;
    text += fmt::format("{}{}", i > 0 ? ", " : "", number(i));
    if (last > i) text += fmt::format("-{}", number(last));
    i = last + 1;
  }
  return shorten(text, 60);
}

std::string events_text(std::size_t count) {
  return fmt::format("{} event{}", count, count == 1 ? "" : "s");
}

}  // namespace

std::string unmatched_text(const char* name, const std::vector<Unmatched>& list,
                           const Analysis& side) {
  if (list.empty()) return "";
  const auto time = [](Nanoseconds ns) { return short_time(static_cast<double>(ns.value)); };
  Nanoseconds all;
  for (const Unmatched& event : list) all += event.time;
  std::string text = fmt::format("only in {}: {}, {}\n", name, events_text(list.size()), time(all));
  const std::vector<Group> parts = groups(list);
  for (std::size_t i = 0; i < std::min(parts.size(), kMostGroups); ++i) {
    const auto& [ranks, events] = parts[i];
    text += fmt::format(
        "  {}: {}{}, {}\n", names(ranks, side), events_text(events.size()),
        ranks.size() > 1 ? " each" : "",
        ranks.size() > 1 ? fmt::format("{} on {}", time(sum(events)), side.rank(ranks[0]).label())
                         : time(sum(events)));
    for (std::size_t k = 0; k < std::min(events.size(), kMostEvents); ++k)
      text += fmt::format("    {:>9}  {}  (step {}, {})\n", time(events[k]->time),
                          shorten(events[k]->what, 44), events[k]->step, events[k]->reason);
    if (events.size() > kMostEvents)
      text += fmt::format("               ... and {} more\n", events.size() - kMostEvents);
  }
  std::size_t left = 0;
  for (std::size_t i = kMostGroups; i < parts.size(); ++i) left += parts[i].ranks.size();
  if (left > 0) text += fmt::format("  ... and on {} more ranks (--json has all)\n", left);
  return text;
}

OrderedJson unmatched_json(const std::vector<Unmatched>& list, const Analysis& side) {
  OrderedJson json = OrderedJson::array();
  for (const Unmatched& event : list)
    json.push_back({{"what", event.what},
                    {"where", fmt::format("{} step {}", side.rank(event.rank).label(), event.step)},
                    {"reason", event.reason},
                    {"start_ns", event.start.value},
                    {"time_ns", event.time.value}});
  return json;
}

OrderedJson unmatched_by_rank_json(const std::vector<Unmatched>& list, const Analysis& side) {
  OrderedJson json = OrderedJson::array();
  for (const auto& [rank, events] : by_rank(list)) {
    OrderedJson first = OrderedJson::array();
    for (std::size_t k = 0; k < std::min(events.size(), kMostEvents); ++k)
      first.push_back(events[k]->what);
    const auto& number = side.rank(rank).rank;
    json.push_back({{"rank", number ? OrderedJson(*number) : OrderedJson()},
                    {"events", events.size()},
                    {"time_ns", sum(events).value},
                    {"longest", std::move(first)}});
  }
  return json;
}

}  // namespace amsp
