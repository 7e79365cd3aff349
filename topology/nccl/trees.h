#pragma once

#include <vector>

namespace amsp::nccl {

/// Parents in a binary tree over 0 .. size-1 in which odd ranks are leaves; -1 for the root, rank
/// 0, which has one child. The parent of a rank differs from it in its lowest set bit and the next.
std::vector<int> binary_tree(int size);

/// Two such trees whose inner ranks differ, so that each carries half of the message: the second is
/// the first one mirrored (even size) or shifted by one (odd). Sanders, Speck and Traeff, "Two-tree
/// algorithms for full bandwidth broadcast, reduction and scan", 2009.
struct DoubleTree {
  std::vector<int> first, second;  // parents
};
DoubleTree double_tree(int size);

/// Parallel aggregated trees: every rank's piece travels down a binomial tree that starts at it,
/// the farthest hop first, and all ranks' pieces for one distance go in one message. Of size - 1
/// pieces that a rank sends, entry k goes to the rank 2^k further on.
std::vector<int> pat_pieces(int size);

}  // namespace amsp::nccl
