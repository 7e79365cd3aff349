#pragma once

#include <vector>

#include "topology/spec/mesh.h"

namespace amsp {

/// All meshes shape/stride that tile `dp`.
inline std::vector<SubMesh> all_meshes(Mesh dp) {
  std::vector<SubMesh> meshes;
  for (int a = 1; a <= dp.intra; ++a)
    for (int s = 1; a * s <= dp.intra; ++s)
      for (int b = 1; b <= dp.inter; ++b)
        for (int t = 1; b * t <= dp.inter; ++t)
          if (divides({a * s, b * t}, dp)) meshes.push_back({{a, b}, {s, t}});
  return meshes;
}

}  // namespace amsp
