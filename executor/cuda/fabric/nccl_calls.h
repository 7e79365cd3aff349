#pragma once

#include <cstdint>
#include <vector>

#include "executor/interface/communicator.h"

namespace amsp::cuda {

/// One call of NCCL, all in place. `data` and `count` as NCCL wants them: for an all-gather and a
/// reduce-scatter the whole buffer, and the count of one member.
struct NcclCall {
  enum class Kind { kAllGather, kReduceScatter, kAllReduce, kBroadcast, kReduce };
  Kind kind;
  void* data;
  std::int64_t count;
  int root;  // of a broadcast or reduce; else -1
};

/// The calls of one group that do `message` among `size` members; none for one member. Segments
/// that follow each other in memory are one.
///   all_gather, reduce_scatter  a call for segment s of all parts, if every part has one, of the
///                               same count, and they lie back to back; else a broadcast, or a
///                               reduce, for each, rooted at the part's member
///   all_reduce                  a call per contiguous run, over the borders of parts
///   broadcast                   a call per segment, rooted at the part's member
/// All members must lay out the message alike: which segments are neighbours decides the calls, and
/// NCCL needs the same calls everywhere.
std::vector<NcclCall> nccl_calls(const Message& message, int size);

}  // namespace amsp::cuda
