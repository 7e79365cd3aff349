#include "trace_reader/name_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include "core/json/json.h"
#include "core/json/object_reader.h"

namespace amsp {
namespace {

/// Letters and digits only, in lower case.
std::string squeezed(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// In this order: a name that holds "reducescatter" holds "reduce" and "scatter" as well.
constexpr std::pair<const char*, const char*> kOps[] = {
    {"reducescatter", "reduce_scatter"},
    {"allreduce", "all_reduce"},
    {"allgather", "all_gather"},
    {"alltoall", "all_to_all"},
    {"broadcast", "broadcast"},
    {"sendrecv", "send_recv"},
    {"send", "send"},
    {"recv", "recv"},
    {"barrier", "barrier"},
    {"reduce", "reduce"},
    {"scatter", "scatter"},
    {"gather", "gather"},
};

/// Kernels of libraries that communicate without NCCL.
constexpr std::pair<const char*, const char*> kOthers[] = {
    {"deep_ep::", "all_to_all"},
    {"dpsk::ep::", "all_to_all"},
    {"cross_device_reduce", "all_reduce"},
    {"multimem_all_reduce", "all_reduce"},
    {"one_shot_all_reduce", "all_reduce"},
    {"two_shot_all_reduce", "all_reduce"},
    {"allreduce_fusion", "all_reduce"},
    {"trtllm_allreduce", "all_reduce"},
    {"nvshmem", "unknown"},
    {"mscclpp", "unknown"},
};

constexpr const char* kSmells[] = {"allreduce", "allgather", "reducescatter", "alltoall",
                                   "sendrecv",  "p2p",       "dispatch",      "combine",
                                   "ibgda",     "rccl",      "internode",     "intranode"};

}  // namespace

std::string collective_op(std::string_view name) {
  const std::string text = squeezed(name);
  for (const auto& [part, op] : kOps)
    if (contains(text, part)) return op;
  return "unknown";
}

std::optional<NameVerdict> known_kernel(std::string_view name) {
  if (name.starts_with("nccl") || name.starts_with("rccl") || contains(name, " nccl"))
    return NameVerdict{Activity::kCommunication, collective_op(name.substr(0, name.find('('))), ""};
  for (const auto& [part, op] : kOthers)
    if (contains(name, part)) return NameVerdict{Activity::kCommunication, op, ""};
  return std::nullopt;
}

bool smells_of_communication(std::string_view name) {
  const std::string text = squeezed(name);
  return std::any_of(std::begin(kSmells), std::end(kSmells),
                     [&](const char* part) { return contains(text, part); });
}

UserRules::UserRules(const Json& json, const std::string& file) {
  ObjectReader reader(json, file + "#");
  reader.choice("schema", {"amsp.trace-rules/1"});
  const Json& rules = reader.value("rules");
  if (!rules.is_array()) reader.fail("rules", "must be an array, found " + describe(rules));
  for (std::size_t i = 0; i < rules.size(); ++i) {
    ObjectReader rule(rules[i], fmt::format("{}/{}", reader.where("rules"), i));
    NameVerdict verdict{Activity::kCommunication, "", ""};
    const std::string part = rule.string("name_contains");
    if (part.empty()) rule.fail("name_contains", "must not be empty");
    const std::string activity = rule.choice("activity", {"communication", "compute", "memory"});
    if (activity == "compute") verdict.activity = Activity::kCompute;
    if (activity == "memory") verdict.activity = Activity::kMemory;
    verdict.op = rule.string_or("op", "unknown");
    verdict.group = rule.string_or("group", "");
    rule.finish();
    rules_.push_back({part, verdict});
  }
  reader.finish();
}

std::optional<NameVerdict> UserRules::verdict(std::string_view name) const {
  for (const Rule& rule : rules_)
    if (contains(name, rule.name_contains)) return rule.verdict;
  return std::nullopt;
}

int element_bytes(std::string_view dtype) {
  const std::string name = squeezed(dtype);
  constexpr std::pair<const char*, int> kSizes[] = {
      {"bfloat16", 2},       {"half", 2},    {"float16", 2}, {"float8", 1},
      {"float", 4},          {"float32", 4}, {"double", 8},  {"float64", 8},
      {"byte", 1},           {"char", 1},    {"int8", 1},    {"uint8", 1},
      {"bool", 1},           {"short", 2},   {"int16", 2},   {"int", 4},
      {"int32", 4},          {"long", 8},    {"int64", 8},   {"complexfloat", 8},
      {"complexdouble", 16},
  };
  for (const auto& [known, size] : kSizes)
    if (name == known || (name.starts_with(known) && std::string_view(known) == "float8"))
      return size;
  return 0;
}

}  // namespace amsp
