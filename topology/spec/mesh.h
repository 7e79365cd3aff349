#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace amsp {

/// `s0 x s1`: s0 GPUs inside each of s1 nodes.
struct Mesh {
  int intra = 1;  // s0
  int inter = 1;  // s1

  constexpr int size() const { return intra * inter; }
  constexpr auto operator<=>(const Mesh&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// "8x4". Never fails.
std::string to_string(Mesh mesh);
/// Reads "8x4"; nothing else ("8", "8 x 4", "0x1") is accepted.
std::optional<Mesh> parse_mesh(std::string_view text);
/// True if both axes of `inner` divide those of `outer`.
constexpr bool divides(Mesh inner, Mesh outer) {
  return outer.intra % inner.intra == 0 && outer.inter % inner.inter == 0;
}

/// A rank of the data-parallel mesh: one GPU. rank = node index * dp.intra + index inside the node.
using Rank = int;

/// A number that counts from 0 (a rank, a link, a group) as a place in a vector.
constexpr std::size_t index(int number) {
  return static_cast<std::size_t>(number);
}

/// A family of sibling process groups: every group takes `shape.intra` GPUs, `stride.intra`
/// apart, in each of `shape.inter` nodes, `stride.inter` apart. A mesh a has stride 1x1; a
/// quotient a/b (the ranks that hold the same shard of b inside a) has shape a/b and stride b.
struct SubMesh {
  Mesh shape;
  Mesh stride;

  int size() const { return shape.size(); }
  auto operator<=>(const SubMesh&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// The whole of mesh a, and the quotient a/b. Requires divides(b, a).
SubMesh sub_mesh(Mesh a);
SubMesh quotient(Mesh a, Mesh b);
/// "4x1", or "2x8/4x1" (shape/stride) where the stride is not 1x1.
std::string to_string(const SubMesh& mesh);

/// All groups of a family inside `dp`, each with its ranks in group order (position inside the
/// node fastest). Groups are disjoint and cover dp; they are ordered by their first rank.
/// Requires that shape * stride divides dp on both axes.
std::vector<std::vector<Rank>> process_groups(const SubMesh& mesh, Mesh dp);
/// Index into process_groups(mesh, dp) of the group that holds `rank`, and its position there.
struct GroupPosition {
  int group;
  int position;
};
GroupPosition group_position(const SubMesh& mesh, Mesh dp, Rank rank);

}  // namespace amsp
