#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "executor/interface/communicator.h"

namespace amsp {

/// A bounded number of elements that travel at once. They lie in one or several places.
using Chunk = std::vector<Segment>;

std::int64_t count_of(std::span<const Segment> segments);

/// Cuts segments, in their order, into chunks of at most `most` elements: all of `most`, but for
/// the last. None is empty.
std::vector<Chunk> cut(std::span<const Segment> segments, std::int64_t element_bytes,
                       std::int64_t most);

/// The run of all elements of `parts`, in order, in `n` slots whose counts differ by one at most.
std::vector<std::vector<Segment>> even_slots(std::span<const std::vector<Segment>> parts,
                                             std::int64_t element_bytes, int n);

/// Copies a chunk's elements into one place, or from there.
void gather(const Chunk& chunk, std::int64_t element_bytes, std::byte* to);
void scatter(const Chunk& chunk, std::int64_t element_bytes, const std::byte* from);

}  // namespace amsp
