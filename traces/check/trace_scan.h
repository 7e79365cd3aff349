#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"

namespace amsp {

/// One element of traceEvents.
struct ScannedEvent {
  std::int64_t number;  // position in traceEvents, from 0
  Json value;
  /// "ts" and "dur" as they stand in the text, where they are numbers; else empty.
  std::string ts, dur;
};

/// A trace but for its events.
struct ScannedTrace {
  Json top;                          // without the elements of traceEvents
  std::vector<std::string> keys;     // top-level keys in order
  std::string first_rank_section;    // top-level key under which the first key "rank" stands
  std::optional<std::string> error;  // "LINE:COLUMN: reason": no valid JSON, the rest is missing
};

/// Reads strict JSON whose root is an object with traceEvents, or the array of events itself, and
/// hands out the events one by one, so that memory does not grow with their number.
ScannedTrace scan_trace(std::string_view text,
                        const std::function<void(const ScannedEvent&)>& on_event);

}  // namespace amsp
