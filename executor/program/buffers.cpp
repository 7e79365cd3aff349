#include "executor/program/buffers.h"

#include <algorithm>
#include <utility>

namespace amsp {

namespace {

constexpr std::int64_t kAlignment = 256;

std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

const char* to_string(MemoryUse use) {
  switch (use) {
    case MemoryUse::kParameters:
      return "parameters";
    case MemoryUse::kSecondary:
      return "secondary parameters";
    case MemoryUse::kGradients:
      return "gradients";
    case MemoryUse::kOptimizer:
      return "optimizer states";
    case MemoryUse::kActivations:
      return "activations";
    case MemoryUse::kLogits:
      return "logits";
    case MemoryUse::kGathered:
      return "gathered parameters";
    case MemoryUse::kPending:
      return "pending gradients";
    case MemoryUse::kBuckets:
      return "buckets";
    case MemoryUse::kInputs:
      return "inputs";
  }
  return "?";
}

BufferId BufferTable::persistent(MemoryUse use, std::int64_t bytes) {
  buffers_.push_back({use, bytes, true, TaskId{-1}, TaskId{-1}, {}});
  return static_cast<BufferId>(buffers_.size()) - 1;
}

BufferId BufferTable::transient(MemoryUse use, std::int64_t bytes) {
  buffers_.push_back({use, bytes, false, TaskId{-1}, TaskId{-1}, {}});
  return static_cast<BufferId>(buffers_.size()) - 1;
}

void BufferTable::touch(BufferId id, TaskId task) {
  Buffer& buffer = buffers_[static_cast<std::size_t>(id)];
  if (buffer.persistent || buffer.last == task) return;
  if (buffer.first == TaskId{-1}) buffer.first = task;
  buffer.last = task;
  const StreamId stream = (*graph_)[task].stream;
  for (TaskId& user : buffer.last_on_stream)
    if ((*graph_)[user].stream == stream) {
      user = task;
      return;
    }
  buffer.last_on_stream.push_back(task);
}

MemoryPlan plan_memory(const BufferTable& table, const HappensBefore& before) {
  const auto& buffers = table.buffers();
  MemoryPlan plan;
  plan.offsets.resize(buffers.size(), 0);
  std::map<MemoryUse, std::int64_t> held;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (!buffers[i].persistent) {
      if (buffers[i].first != TaskId{-1}) order.push_back(i);
      continue;
    }
    plan.offsets[i] = plan.persistent;
    plan.persistent += aligned(buffers[i].bytes);
    held[buffers[i].use] += buffers[i].bytes;
  }
  for (const auto& [use, bytes] : held) plan.peaks[use] = Bytes{bytes};
  plan.total = plan.persistent;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return buffers[a].first < buffers[b].first;
  });

  // First fit among the buffers that may still be in use when this one begins.
  std::vector<std::size_t> placed;  // by offset
  std::vector<std::pair<TaskId, std::size_t>> ends;
  for (const std::size_t i : order) {
    const BufferTable::Buffer& buffer = buffers[i];
    std::int64_t offset = plan.persistent;
    for (const std::size_t j : placed) {
      const bool over = std::ranges::all_of(
          buffers[j].last_on_stream, [&](TaskId user) { return before(user, buffer.first); });
      if (over) continue;
      if (plan.offsets[j] >= offset + aligned(buffer.bytes)) break;
      offset = std::max(offset, plan.offsets[j] + aligned(buffers[j].bytes));
    }
    plan.offsets[i] = offset;
    plan.total = std::max(plan.total, offset + aligned(buffer.bytes));
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                   [&](std::size_t a, std::size_t b) {
                                     return plan.offsets[a] < plan.offsets[b];
                                   }),
                  i);
  }

  std::vector<std::size_t> by_end = order;
  std::stable_sort(by_end.begin(), by_end.end(),
                   [&](std::size_t a, std::size_t b) { return buffers[a].last < buffers[b].last; });
  auto ended = by_end.begin();
  for (const std::size_t i : order) {
    for (; ended != by_end.end() && buffers[*ended].last < buffers[i].first; ++ended)
      held[buffers[*ended].use] -= buffers[*ended].bytes;
    std::int64_t& bytes = held[buffers[i].use];
    bytes += buffers[i].bytes;
    plan.peaks[buffers[i].use] = std::max(plan.peaks[buffers[i].use], Bytes{bytes});
  }
  return plan;
}

}  // namespace amsp
