#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "executor/interface/communicator.h"

namespace amsp {

/// A message whose parts lie in pieces, with gaps, in memory of its own.
class ScatteredMessage {
 public:
  /// counts[i]: elements of part i. `pieces`: segments a part, some of them empty.
  ScatteredMessage(CollectiveKind kind, DType type, std::vector<std::int64_t> counts, int pieces);

  const Message& message() const { return message_; }
  std::int64_t count(std::size_t part) const { return counts_[part]; }
  void fill(std::size_t part, const std::function<double(std::int64_t)>& value);
  double at(std::size_t part, std::int64_t i) const;
  /// The bytes of a part, in order.
  std::vector<std::byte> bytes(std::size_t part) const;
  /// True if nobody wrote between the pieces.
  bool gaps_are_whole() const;

 private:
  std::byte* address(std::size_t part, std::int64_t i) const;

  std::vector<std::int64_t> counts_;
  std::vector<std::byte> memory_;
  std::vector<bool> gap_;
  Message message_;
};

/// Numbers of elements a member, for groups of n.
struct Sizes {
  std::string name;
  std::vector<std::int64_t> (*counts)(int n);
};
/// Even, uneven, all in one member, one element, none, ...; `large` ones take many chunks.
std::vector<Sizes> all_sizes();

const std::vector<CollectiveKind>& all_kinds();

/// Runs every kind with every size on `communicator`, as one of its members, with integers as
/// values; differences from the serial result are failures of the test.
void expect_right_collectives(Communicator& communicator, DType type);

/// Enqueues all-reduces of three meshes of 2x2 ranks on three streams, without waiting in between.
void expect_independent_communicators(Fabric& fabric);

/// The bytes that a member has after reductions of random reals.
std::vector<std::byte> random_reductions(Communicator& communicator, DType type);

}  // namespace amsp
