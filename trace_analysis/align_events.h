#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace_analysis/step_windows.h"
#include "trace_reader/rank_trace.h"

namespace amsp {

/// How sure a match is; the first two support claims about single operations.
enum class Confidence : std::uint8_t {
  kKey,        // the same task key
  kCall,       // the same place among the calls of one collective on one group, equally many
  kUnique,     // in order, and the signature leaves no choice
  kAmbiguous,  // in order, but another pairing would fit as well
};
const char* to_string(Confidence confidence);

struct EventMatch {
  int a, b;  // indices into the ranks' events
  Confidence confidence;
};
struct StepAlignment {
  std::vector<EventMatch> matches;  // by a
  std::vector<int> only_a, only_b;  // by time
  bool gave_up = false;             // too different to align in order
};

/// The keyed events of a rank, found by key wherever they are.
class KeyIndex {
 public:
  explicit KeyIndex(const RankTrace& trace);
  /// "STEP|rest" with the step relative to `number`; empty if the event has no key.
  std::string key(int event, std::int64_t number) const;
  /// All events with that key, in order.
  const std::vector<int>& events(const std::string& key, std::int64_t number) const;
  int occurrence(int event) const { return occurrence_[static_cast<std::size_t>(event)]; }

 private:
  const RankTrace* trace_;
  std::unordered_map<std::string, std::vector<int>> by_key_;  // steps as they stand
  std::vector<int> occurrence_;
};

/// Matches the GPU events of a step, those that touch its window on either side. Keyed events
/// are matched by key (steps counted from the window's own), though their partner may lie outside
/// its window; collectives by group, operation, bytes and place; all else per activity by a longest
/// common subsequence over names and launch shapes, then of what is left by shapes and modules
/// without names. An event whose key has no partner is never paired by guess.
/// Exchanging the sides exchanges the result; times don't matter but for their order.
StepAlignment align_step(const RankTrace& a, const KeyIndex& keys_a, const StepWindow& window_a,
                         const RankTrace& b, const KeyIndex& keys_b, const StepWindow& window_b);

/// For people: the key if there is one, else the collective or the shortened kernel name.
std::string describe_event(const RankTrace& trace, int event);

}  // namespace amsp
