#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace amsp {

/// kPcie is a PCIe switch, or stands for all of a node's switches and host bridges; kCpu is a CPU
/// socket with its host bridge. kSwitch is a switch of a fabric without levels.
enum class VertexKind { kGpu, kNvswitch, kPcie, kCpu, kNic, kLeaf, kSpine, kCore, kSwitch };
inline constexpr int kVertexKinds = 9;

/// "node3/gpu5", "node3/nvswitch0", "node3/pcie0", "node3/cpu1", "node3/nic2", "leaf1", "spine0",
/// "core0", "switch7".
struct Vertex {
  VertexKind kind;
  int node = -1;  // -1 for switches of the fabric
  int index = 0;  // inside the node; of the switch

  auto operator<=>(const Vertex&) const = default;  // NOLINT(modernize-use-nullptr)
};
std::string to_string(const Vertex& vertex);
/// "gpu", "nvswitch", ..., as in the names above.
const char* to_string(VertexKind kind);
/// Whether it is inside a node.
bool is_inside_node(VertexKind kind);

/// Reads names in bulk: each number may be a list of ranges in brackets, "node[0-3]/nic[0,2-4]",
/// "leaf[0-1]". All combinations, in that order. Names without "node.../" are of node -1, those
/// of a node's parts too: "gpu[0-7]". std::nullopt for anything else, and for more than `most`.
std::optional<std::vector<Vertex>> parse_vertices(std::string_view text, std::size_t most);

}  // namespace amsp
