#include "topology/nccl/trees.h"

#include <bit>

namespace amsp::nccl {

std::vector<int> binary_tree(int size) {
  std::vector<int> parents{-1};
  for (int rank = 1; rank < size; ++rank) {
    const int bit = rank & -rank;
    const int up = (rank ^ bit) | (bit << 1);
    parents.push_back(up < size ? up : rank ^ bit);
  }
  return parents;
}

DoubleTree double_tree(int size) {
  DoubleTree trees{binary_tree(size), std::vector<int>(static_cast<std::size_t>(size))};
  const auto other = [size](int rank) {
    if (rank < 0) return rank;
    return size % 2 == 0 ? size - 1 - rank : (rank + 1) % size;
  };
  for (int rank = 0; rank < size; ++rank)
    trees.second[static_cast<std::size_t>(other(rank))] =
        other(trees.first[static_cast<std::size_t>(rank)]);
  return trees;
}

std::vector<int> pat_pieces(int size) {
  std::vector<int> pieces;
  for (int offset = 1; offset < size; ++offset) {
    const auto step = static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(offset)));
    if (pieces.size() <= step) pieces.resize(step + 1);
    ++pieces[step];
  }
  return pieces;
}

}  // namespace amsp::nccl
