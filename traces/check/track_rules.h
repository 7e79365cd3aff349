#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/units.h"
#include "traces/check/violations.h"

namespace amsp {

/// A thread of a process.
using TrackId = std::pair<std::uint32_t, std::uint32_t>;  // pid, tid

/// An event with a valid time and place.
struct PlacedEvent {
  std::int64_t number;
  TrackId track;
  Nanoseconds ts;
};

/// How complete slices (ph X) must lie on their tracks, intervals half-open: nested or disjoint,
/// parents first. Events come in order of time.
class SliceRules {
 public:
  explicit SliceRules(Violations& violations) : violations_(violations) {}

  void add(const PlacedEvent& slice, Nanoseconds duration);
  /// Whether a slice written so far is open at this event.
  bool inside_slice(const PlacedEvent& event);

 private:
  struct Slice {
    std::int64_t number;
    Nanoseconds start, end;
  };
  struct Track {
    std::vector<Slice> open;  // outermost first
    Slice last;
  };
  static void close_before(Track& track, Nanoseconds now);

  Violations& violations_;
  std::map<TrackId, Track> tracks_;
};

/// How flows (ph s, t, f) must be paired: one start for an id, then steps, then one end, each on
/// a slice.
class FlowRules {
 public:
  FlowRules(Violations& violations, SliceRules& slices)
      : violations_(violations), slices_(slices) {}

  /// `binds_enclosing`: the event has "bp": "e".
  void add(const PlacedEvent& event, char phase, std::int64_t id, const std::string& category,
           const std::string& name, bool binds_enclosing);
  /// At the end of the trace.
  void finish();

 private:
  struct Flow {
    std::int64_t start;
    bool ended;
  };

  Violations& violations_;
  SliceRules& slices_;
  std::map<std::tuple<std::int64_t, std::string, std::string>, Flow> flows_;
};

}  // namespace amsp
