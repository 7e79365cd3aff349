#pragma once

#include <vector>

#include "lowering/lowering.h"

namespace amsp {

/// Which collectives load links alike. Loads are proportional to the bytes that a rank sends, so
/// all works of one mesh without roots share a pattern, and broadcasts with the same roots do. The
/// loads of one example then stand for hundreds of works.
class LoadPatterns {
 public:
  /// Keeps a reference to the lowering. Works that no task does have no pattern.
  explicit LoadPatterns(const Lowering& lowering);

  int count() const { return static_cast<int>(examples_.size()); }
  const SubMesh& mesh(int pattern) const;
  /// Of the pattern's example, by one process group; ordered by link.
  std::vector<LinkLoad> loads(int pattern, int group) const {
    return lowering_.loads(examples_[static_cast<std::size_t>(pattern)], group);
  }

  /// How a collective work loads links: as the example of `pattern`, times `factor`.
  struct Share {
    int pattern = -1;  // -1: loads nothing
    double factor = 0;
  };
  const Share& share(std::int32_t work) const { return shares_[static_cast<std::size_t>(work)]; }

 private:
  const Lowering& lowering_;
  std::vector<Task> examples_;  // by pattern
  std::vector<Share> shares_;   // by collective work
};

}  // namespace amsp
