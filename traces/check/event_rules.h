#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "traces/check/kernel_rules.h"
#include "traces/check/trace_rules.h"
#include "traces/check/trace_scan.h"
#include "traces/check/track_rules.h"
#include "traces/check/violations.h"

namespace amsp {

/// What holds for the elements of traceEvents. An event without a valid type, time or place is
/// reported for that and not looked at further.
class EventRules {
 public:
  EventRules(Violations& violations, RuleSet rules)
      : violations_(violations),
        ours_(rules == RuleSet::kSchema),
        slices_(violations),
        flows_(violations, slices_),
        kernels_(violations) {}

  void add(const ScannedEvent& event);
  /// At the end of the trace.
  void finish();

 private:
  void fail(const ScannedEvent& event, std::string reason);
  bool check_metadata(const ScannedEvent& event);
  std::optional<Nanoseconds> time(const ScannedEvent& event, const char* key,
                                  const std::string& text);
  std::optional<std::uint32_t> place(const ScannedEvent& event, const char* key);
  /// Time and place.
  std::optional<PlacedEvent> placed(const ScannedEvent& event, char phase);
  void check_slice(const ScannedEvent& event, const PlacedEvent& placed);
  void check_flow(const ScannedEvent& event, const PlacedEvent& placed, char phase);
  void check_counter(const ScannedEvent& event);
  void check_instant(const ScannedEvent& event);

  /// pid or tid of a trace of anyone: a number, or a text that stands for itself.
  std::optional<std::uint32_t> foreign_place(const ScannedEvent& event, const char* key);

  /// Slices in traces of others come in any order, and viewers sort them.
  struct LaterSlice {
    PlacedEvent placed;
    Nanoseconds duration;
  };

  Violations& violations_;
  bool ours_;
  std::vector<LaterSlice> later_;
  std::map<std::string, std::uint32_t> texts_;  // that stand for a pid or tid
  SliceRules slices_;
  FlowRules flows_;
  KernelRules kernels_;
  std::optional<PlacedEvent> previous_;  // the last one in order of time
  bool has_step_ = false;
};

}  // namespace amsp
