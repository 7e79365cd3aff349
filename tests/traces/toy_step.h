#pragma once

#include <cstdint>
#include <functional>

#include "traces/timeline/timeline.h"

namespace amsp {

/// One layer with one matrix product, sharded over two ranks; the ids count up from 0:
///   0 opt step   1 broadcast   2 mark s1
///   3 all-gather   4 q forward   5 attention forward   6 attention backward   7 q wgrad
///   8 reduce-scatter   9 q dgrad   10 all-reduce of the bucket   11 opt step   12 broadcast
///   13 mark s2
/// Streams: 0 compute, 1 gather 2x1 (3, 8), 2 reduce 2x1 (10), 3 update 2x1 (1, 12).
TaskGraph toy_graph();

/// Microseconds by task; where the ranks differ, of rank 0 and of rank 1.
///
///   us        0    10   30   50   60  100   110 120   130 150   160 170   180 200 205 210 220 ..
///   rank 0    opt.......BC..|AG..|q..........|att.......|att bwd..|wgrad..|dgrad......|
///   rank 1    opt..BC.......|AG..|q................|att.......|att bwd..|wgrad..|dgrad....|
///
/// reduce-scatter: ready at 170 and 180, runs 180..205; all-reduce 205..220;
/// opt 220..250 and 220..230; broadcast: ready at 250 and 230, runs 250..270; marks at 50 and 270.
Timeline toy_timeline(const TaskGraph& graph);

/// A random program of `tasks` tasks on dp 2x2 with collectives over pairs inside the node, pairs
/// across and all four, and two step marks inside; `seed` decides.
TaskGraph random_graph(std::uint32_t seed, int tasks);

/// Starts everything as soon as it may: compute when ready, a collective when its last member is.
Timeline play(const TaskGraph& graph, const std::function<Seconds(TaskId, Rank)>& duration);
/// With random durations in units of 1/8 ns, some of them zero, and random gaps before compute.
Timeline play_randomly(const TaskGraph& graph, std::uint32_t seed);

}  // namespace amsp
