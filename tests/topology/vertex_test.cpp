#include "topology/spec/vertex.h"

#include <gtest/gtest.h>

namespace amsp {
namespace {

std::string parsed(const char* text) {
  const auto vertices = parse_vertices(text, 100);
  if (!vertices) return "refused";
  std::string names;
  for (const Vertex& vertex : *vertices) names += (names.empty() ? "" : " ") + to_string(vertex);
  return names;
}

TEST(ParseVertices, ReadsNamesAndRanges) {
  EXPECT_EQ(parsed("leaf3"), "leaf3");
  EXPECT_EQ(parsed("gpu[0-2]"), "gpu0 gpu1 gpu2");
  EXPECT_EQ(parsed("core[0,4-5]"), "core0 core4 core5");
  EXPECT_EQ(parsed("node7/nic1"), "node7/nic1");
  EXPECT_EQ(parsed("node[0-1]/nic[2-3]"), "node0/nic2 node0/nic3 node1/nic2 node1/nic3");
  EXPECT_EQ(parsed("nvswitch0"), "nvswitch0");
  EXPECT_EQ(parsed("switch12"), "switch12");
}

TEST(ParseVertices, RefusesEverythingElse) {
  for (const char* text :
       {"", "leaf", "leaf-1", "leaf1x", "leaf[1", "leaf[]", "leaf[3-1]", "leaf[1-]", "hub0",
        "node0", "node0/", "node0/leaf1", "node/nic0", "Leaf0", "leaf 0", "leaf99999999999",
        "leaf[0-100]", "node[0-10]/nic[0-10]"})
    EXPECT_EQ(parsed(text), "refused") << text;
}

TEST(Vertex, NamesReadBackAsThemselves) {
  for (int kind = 0; kind < kVertexKinds; ++kind) {
    Vertex vertex{static_cast<VertexKind>(kind), -1, 5};
    if (is_inside_node(vertex.kind)) vertex.node = 3;
    const auto back = parse_vertices(to_string(vertex), 1);
    ASSERT_TRUE(back) << to_string(vertex);
    EXPECT_EQ(back->front(), vertex);
  }
}

}  // namespace
}  // namespace amsp
