#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json_fwd.h"
#include "trace_reader/rank_trace.h"

namespace amsp {

/// "all_reduce", "all_gather", "reduce_scatter", "broadcast", "all_to_all", "send_recv", "send",
/// "recv", "barrier", "reduce", "gather", "scatter" from any name that holds it (PyTorch's
/// "_allgather_base", NCCL's "ncclDevKernel_AllGather_RING_LL"); "unknown" for anything else.
std::string collective_op(std::string_view name);

/// What the name of a kernel says.
struct NameVerdict {
  Activity activity;
  std::string op;     // of communication
  std::string group;  // by a user's rule; empty: the name doesn't say
};

/// The communication kernels of NCCL and RCCL, DeepEP, vLLM, FlashInfer, NVSHMEM and multimem;
/// std::nullopt for all other names.
std::optional<NameVerdict> known_kernel(std::string_view name);
/// Whether the name of a kernel that no rule knows looks like communication.
bool smells_of_communication(std::string_view name);

/// Rules of the user, first match wins (docs/traces.md, schema "amsp.trace-rules/1").
class UserRules {
 public:
  UserRules() = default;
  /// Throws ConfigError with file and pointer for anything that isn't of the schema.
  UserRules(const Json& json, const std::string& file);
  std::optional<NameVerdict> verdict(std::string_view name) const;

 private:
  struct Rule {
    std::string name_contains;
    NameVerdict verdict;
  };
  std::vector<Rule> rules_;
};

/// Bytes of one element by the name that PyTorch gives its type; 0: unknown.
int element_bytes(std::string_view dtype);

}  // namespace amsp
