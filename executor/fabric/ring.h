#pragma once

#include <cstddef>
#include <vector>

#include "executor/fabric/ring_links.h"
#include "executor/interface/communicator.h"

namespace amsp {

/// Runs collectives of one member over its links. The message is cut into a slot a member: the
/// parts, or, for an all-reduce, even shares whatever the parts are. Slots travel around the ring
/// in chunks, each passed on as soon as it has come (and been added to), so that all links are
/// busy even if one member owns everything.
///
///   all_gather, broadcast  slot i starts at member i and visits all
///   reduce_scatter         slot i starts at i + 1 and ends at i; every member adds its own:
///                          ((x[i+1] + x[i+2]) + ...) + x[i], in this order everywhere
///   all_reduce             the second, then the first, without a gap between them
class Ring {
 public:
  explicit Ring(RingLinks& links) : links_(links) {}
  /// Blocks until the message is done here; others may still be at it. Throws LostRank, and then
  /// leaves `links` with transfers under way: close them.
  void run(const Message& message);

 private:
  RingLinks& links_;
  // Places for chunks that are summed or lie in several pieces, kept from call to call.
  std::vector<std::byte> received_;
  std::vector<std::byte> sent_;
};

}  // namespace amsp
