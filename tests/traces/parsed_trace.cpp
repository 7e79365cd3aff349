#include "tests/traces/parsed_trace.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace amsp {
namespace {

Nanoseconds ns(const Json& microseconds) {
  return {std::llround(microseconds.get<double>() * 1000)};
}

}  // namespace

Nanoseconds start_of(const Json& event) {
  return ns(event.at("ts"));
}

Nanoseconds end_of(const Json& event) {
  return ns(event.at("ts")) + ns(event.at("dur"));
}

ParsedRank parse_rank(const Json& trace, Rank rank) {
  ParsedRank parsed{std::numeric_limits<Nanoseconds>::max(), {}, {}};
  for (const Json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    if (event.at("cat") == "user_annotation" && event.at("pid") == 20000 + rank) {
      parsed.begin = std::min(parsed.begin, start_of(event));
      parsed.end = std::max(parsed.end, end_of(event));
    }
    if (event.at("cat") == "kernel" && event.at("pid") == 10000 + rank)
      parsed.events[event.at("args").at("correlation").get<std::int64_t>()] = event;
  }
  return parsed;
}

RankBreakdown break_down(const ParsedRank& rank) {
  std::vector<ClassifiedEvent> events;
  for (const auto& [correlation, event] : rank.events) {
    const Json& args = event.at("args");
    const std::string traffic =
        traffic_class(args.at("phase").get<std::string>(), args.at("op").get<std::string>());
    const Nanoseconds wait{traffic.empty() ? 0 : args.at("wait_ns").get<std::int64_t>()};
    events.push_back({start_of(event), end_of(event), wait, traffic});
  }
  return break_down(events, rank.begin, rank.end);
}

}  // namespace amsp
