#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "traces/check/json_member.h"
#include "traces/check/trace_scan.h"
#include "traces/check/violations.h"

namespace amsp {

/// What holds for GPU events: where they ran, which call launched them, what they did.
class KernelRules {
 public:
  explicit KernelRules(Violations& violations) : violations_(violations) {}

  /// Takes every complete event; looks only at what is its business. Members may be missing or
  /// of any type.
  void add(const ScannedEvent& event);
  /// At the end of the trace.
  void finish();

 private:
  void add_launch(const ScannedEvent& event, const Json& args);
  void add_kernel(const ScannedEvent& event, const Json& args);
  std::optional<std::uint32_t> id(const ScannedEvent& event, const Json& args, const char* key,
                                  std::uint32_t low);

  struct Occurrence {
    std::int64_t event;
    std::string ts;
  };

  Violations& violations_;
  std::unordered_map<std::uint32_t, Occurrence> launches_;  // by correlation
  std::unordered_map<std::uint32_t, Occurrence> kernels_;   // by correlation
};

/// The arguments that say which task of the schedule a kernel was, and for communication what it
/// moved.
void check_semantic_args(const ScannedEvent& kernel, const Json& args, Violations& violations);

}  // namespace amsp
