#pragma once

#include <string>
#include <vector>

#include "topology/spec/mesh.h"

namespace amsp {

/// The ranks of a run: who they are, and small talk between them. Not for data.
class World {
 public:
  virtual ~World() = default;
  virtual Rank rank() const = 0;
  virtual int size() const = 0;
  /// Every rank's text, by rank. All ranks call it; it is a barrier as well. Throws DeviceError if
  /// a rank is lost.
  virtual std::vector<std::string> exchange(const std::string& text) = 0;
};

}  // namespace amsp
