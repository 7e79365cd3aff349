#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "executor/program/program_context.h"

namespace amsp {

/// Tensors lie one after the other at multiples of this many bytes, so that kernels can load whole
/// vectors and neighbours of common sizes form one run.
constexpr std::int64_t align_tensor(std::int64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

/// A message before buffers have addresses.
class MessagePlan {
 public:
  MessagePlan(CollectiveKind kind, DType type, int members)
      : kind_(kind), type_(type), parts_(static_cast<std::size_t>(members)) {}

  /// Empty runs are left out.
  void add(int member, Ref ref, std::int64_t count) {
    if (count > 0) parts_[static_cast<std::size_t>(member)].emplace_back(ref, count);
  }
  Message at(const Addresses& addresses) const {
    Message message{kind_, type_, std::vector<std::vector<Segment>>(parts_.size())};
    for (std::size_t i = 0; i < parts_.size(); ++i)
      for (const auto& [ref, count] : parts_[i])
        message.parts[i].push_back({addresses(ref), count});
    return message;
  }

 private:
  CollectiveKind kind_;
  DType type_;
  std::vector<std::vector<std::pair<Ref, std::int64_t>>> parts_;
};

}  // namespace amsp
