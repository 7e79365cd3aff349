#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace amsp {

/// Collects what is wrong with a trace.
class Violations {
 public:
  /// Of the event at this position in traceEvents.
  void add(std::int64_t event, std::string reason) {
    entries_.emplace_back(event, std::move(reason));
  }
  /// Of the trace as a whole.
  void add(std::string reason) { add(kTrace, std::move(reason)); }
  /// "trace: REASON" first, then "event N: REASON" by number.
  std::vector<std::string> lines() const;

 private:
  static constexpr std::int64_t kTrace = -1;

  std::vector<std::pair<std::int64_t, std::string>> entries_;
};

}  // namespace amsp
