#include "schedule/task_key.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

namespace amsp {

const char* to_string(Phase phase) {
  switch (phase) {
    case Phase::kForward:
      return "fwd";
    case Phase::kRecompute:
      return "recompute";
    case Phase::kBackward:
      return "bwd";
    case Phase::kGradSync:
      return "grad_sync";
    case Phase::kOptimizer:
      return "opt";
    case Phase::kUpdate:
      return "update";
    case Phase::kMark:
      return "mark";
  }
  return "?";
}

const char* to_string(Op op) {
  switch (op) {
    case Op::kForward:
      return "forward";
    case Op::kBackward:
      return "backward";
    case Op::kWgrad:
      return "wgrad";
    case Op::kDgrad:
      return "dgrad";
    case Op::kAllGather:
      return "all_gather";
    case Op::kReduceScatter:
      return "reduce_scatter";
    case Op::kAllReduce:
      return "all_reduce";
    case Op::kBroadcast:
      return "broadcast";
    case Op::kNorm:
      return "norm";
    case Op::kStep:
      return "step";
    case Op::kStepBegin:
      return "step_begin";
  }
  return "?";
}

namespace {

std::string block_name(int block, int layers) {
  if (block < 0) return "-";
  if (block == 0) return "emb";
  return block <= layers ? fmt::format("L{}", block - 1) : "head";
}

std::string module_name(const TaskKey& key) {
  if (key.bucket >= 0) return fmt::format("bucket{}", key.bucket);
  if (key.module != Module::kNone) return to_string(key.module);
  return key.block >= 0 ? "params" : "-";
}

/// A non-negative whole number that fills the text.
std::optional<int> whole(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<int> prefixed(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return whole(text.substr(prefix.size()));
}

}  // namespace

std::string to_string(const TaskKey& key, int layers, const SubMesh* mesh) {
  const std::string micro_batch =
      key.micro_batch < 0 ? std::string("-") : fmt::format("mb{}", key.micro_batch);
  std::string text =
      fmt::format("s{}/{}/{}/{}/{}/{}", key.step, micro_batch, to_string(key.phase),
                  block_name(key.block, layers), module_name(key), to_string(key.op));
  if (mesh != nullptr) text += fmt::format("@{}", to_string(*mesh));
  return text;
}

std::optional<TaskKeyText> parse_task_key(std::string_view text) {
  TaskKeyText key{};
  const std::size_t at = text.find('@');
  if (at != std::string_view::npos) {
    key.mesh = text.substr(at + 1);
    if (key.mesh.empty()) return std::nullopt;
    text = text.substr(0, at);
  }
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find('/', begin);
    parts.push_back(text.substr(begin, end - begin));
    if (parts.back().empty()) return std::nullopt;
    if (end == std::string_view::npos) break;
    begin = end + 1;
  }
  if (parts.size() != 6) return std::nullopt;
  const auto step = prefixed(parts[0], "s");
  const auto micro_batch = parts[1] == "-" ? std::optional<int>(-1) : prefixed(parts[1], "mb");
  const bool block_ok =
      parts[3] == "-" || parts[3] == "emb" || parts[3] == "head" || prefixed(parts[3], "L");
  if (!step || !micro_batch || !block_ok) return std::nullopt;
  key.step = *step;
  key.micro_batch = *micro_batch;
  key.phase = parts[2];
  key.layer = parts[3];
  key.module = parts[4];
  key.op = parts[5];
  return key;
}

}  // namespace amsp
