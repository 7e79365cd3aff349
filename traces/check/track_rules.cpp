#include "traces/check/track_rules.h"

#include <fmt/core.h>

#include <utility>

namespace amsp {

void SliceRules::close_before(Track& track, Nanoseconds now) {
  while (!track.open.empty() && track.open.back().end <= now) track.open.pop_back();
}

void SliceRules::add(const PlacedEvent& event, Nanoseconds duration) {
  const Slice slice{event.number, event.ts, event.ts + duration};
  const auto [found, is_new] = tracks_.try_emplace(event.track);
  Track& track = found->second;
  const Slice previous = std::exchange(track.last, slice);
  close_before(track, slice.start);
  // a bad slice does not go on the stack: viewers drop it too, and it is reported once
  if (!is_new && previous.start == slice.start && previous.end < slice.end) {
    violations_.add(event.number,
                    fmt::format("starts together with event {} on its track but is longer; "
                                "parents come first",
                                previous.number));
    return;
  }
  if (!track.open.empty() && track.open.back().end < slice.end) {
    violations_.add(event.number,
                    fmt::format("overlaps event {} on pid {} tid {} without nesting in it",
                                track.open.back().number, event.track.first, event.track.second));
    return;
  }
  track.open.push_back(slice);
}

bool SliceRules::inside_slice(const PlacedEvent& event) {
  const auto found = tracks_.find(event.track);
  if (found == tracks_.end()) return false;
  if (found->second.last.start == event.ts) return true;  // also one of no duration
  close_before(found->second, event.ts);
  return !found->second.open.empty();
}

void FlowRules::add(const PlacedEvent& event, char phase, std::int64_t id,
                    const std::string& category, const std::string& name, bool binds_enclosing) {
  if (!slices_.inside_slice(event))
    violations_.add(event.number, "the flow is not on a slice that was written before it");
  const auto key = std::tuple(id, category, name);
  const auto found = flows_.find(key);
  if (phase == 's') {
    if (found == flows_.end())
      flows_[key] = {event.number, false};
    else
      violations_.add(event.number, fmt::format("flow {} was already started by event {}", id,
                                                found->second.start));
    return;
  }
  if (phase == 'f' && !binds_enclosing)
    violations_.add(event.number,
                    R"(a flow's end needs "bp": "e", else it binds to the next slice)");
  if (found == flows_.end())
    violations_.add(event.number, fmt::format("flow {} has no start before it", id));
  else if (found->second.ended)
    violations_.add(event.number, fmt::format("flow {} has already ended", id));
  else if (phase == 'f')
    found->second.ended = true;
}

void FlowRules::finish() {
  for (const auto& [key, flow] : flows_)
    if (!flow.ended)
      violations_.add(flow.start, fmt::format("flow {} never ends", std::get<0>(key)));
}

}  // namespace amsp
