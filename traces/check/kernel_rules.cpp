#include "traces/check/kernel_rules.h"

#include <fmt/core.h>

#include "traces/terms/trace_text.h"

namespace amsp {

void KernelRules::add(const ScannedEvent& event) {
  const Json& args = member(event.value, "args");
  const Json& category = member(event.value, "cat");
  if (category == "cuda_runtime" || category == "cuda_driver") add_launch(event, args);
  if (category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset") {
    if (!args.is_object()) {
      violations_.add(event.number, "a GPU event needs args");
      return;
    }
    add_kernel(event, args);
    if (category == "kernel") check_semantic_args(event, args, violations_);
  }
}

std::optional<std::uint32_t> KernelRules::id(const ScannedEvent& event, const Json& args,
                                             const char* key, std::uint32_t low) {
  const auto result = whole_id(member(args, key), low);
  if (!result)
    violations_.add(event.number,
                    fmt::format("args.{} must be a whole number from {} to 4294967295, found {}",
                                key, low, amsp::found(args, key)));
  return result;
}

void KernelRules::add_launch(const ScannedEvent& event, const Json& args) {
  if (!args.is_object() || !args.contains("correlation")) return;
  const auto correlation = id(event, args, "correlation", 1);
  if (!correlation) return;
  const auto [found, is_new] =
      launches_.try_emplace(*correlation, Occurrence{event.number, event.ts});
  if (!is_new)
    violations_.add(event.number, fmt::format("correlation {} is also that of event {}",
                                              *correlation, found->second.event));
}

void KernelRules::add_kernel(const ScannedEvent& event, const Json& args) {
  id(event, args, "device", 0);
  id(event, args, "context", 0);
  id(event, args, "stream", 1);
  const auto correlation = id(event, args, "correlation", 1);
  if (!correlation) return;
  const auto [found, is_new] =
      kernels_.try_emplace(*correlation, Occurrence{event.number, event.ts});
  if (!is_new)
    violations_.add(event.number, fmt::format("correlation {} is also that of event {}",
                                              *correlation, found->second.event));
}

void KernelRules::finish() {
  for (const auto& [correlation, kernel] : kernels_) {
    const auto launch = launches_.find(correlation);
    if (launch == launches_.end()) {
      violations_.add(kernel.event,
                      fmt::format("no cudaLaunchKernel has its correlation {}", correlation));
      continue;
    }
    const auto start = parse_us(kernel.ts);
    const auto launched = parse_us(launch->second.ts);
    if (start && launched && *launched > *start)
      violations_.add(kernel.event,
                      fmt::format("starts before its launch, event {}", launch->second.event));
  }
}

}  // namespace amsp
