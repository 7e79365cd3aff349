#include "topology/read/presets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topology/graph/cluster_graph.h"
#include "topology/read/cluster_reader.h"

namespace amsp {
namespace {

/// Dotted paths of everything in `json` that is no object, without names and choices.
void collect_figures(const Json& json, const std::string& path, std::vector<std::string>& figures) {
  for (const auto& [key, value] : json.items()) {
    const std::string below = path.empty() ? key : path + "." + key;
    if (value.is_object())
      collect_figures(value, below, figures);
    else if (below != "name" && below != "gpu" && below != "profile" && below != "node.nvlink.kind")
      figures.push_back(below);
  }
}

TEST(Presets, EveryFigureHasASourceOfAKnownKind) {
  for (const Presets* presets : {&gpu_presets(), &cluster_presets()})
    for (const auto& [name, preset] : *presets) {
      SCOPED_TRACE(name);
      std::vector<std::string> figures;
      collect_figures(preset.description, "", figures);
      std::vector<std::string> sources;
      for (const auto& [figure, text] : preset.sources) {
        sources.push_back(figure);
        EXPECT_THAT(text, testing::MatchesRegex("(datasheet|measured|modelled|assumed|paper): .+"));
      }
      EXPECT_THAT(sources, testing::UnorderedElementsAreArray(figures));
    }
}

TEST(Presets, AreTheOnesPeopleAskFor) {
  EXPECT_THAT(names(cluster_presets()),
              testing::ElementsAre("a800-amsp-testbed", "dgx-a100", "dgx-a100-40gb", "dgx-b200",
                                   "dgx-h100", "gb200-nvl72", "hgx-h200", "hgx-h800", "l40s-pcie"));
  EXPECT_THAT(names(gpu_presets()),
              testing::ElementsAre(
                  "A100-PCIe-40GB", "A100-PCIe-80GB", "A100-SXM4-40GB", "A100-SXM4-80GB",
                  "A10G-PCIe-24GB", "A800-SXM4-80GB", "B200-SXM-180GB", "B300-SXM-288GB",
                  "GB200-186GB", "GB300-288GB", "H100-PCIe-80GB", "H100-SXM5-80GB", "H20-SXM-96GB",
                  "H200-SXM5-141GB", "H800-SXM5-80GB", "L4-PCIe-24GB", "L40S-PCIe-48GB",
                  "MI300X-192GB", "RTX-4090-24GB", "RTX-PRO-6000-Server-96GB", "V100-SXM2-32GB"));
}

ClusterSpec read(const char* text) {
  const Json json = Json::parse(text);
  return read_cluster(ObjectReader(json, "s.json#/cluster"));
}

TEST(Presets, TestbedIsThePapers) {
  const ClusterSpec spec = read(R"({"preset": "a800-amsp-testbed"})");
  EXPECT_EQ(spec.name, "a800-amsp-testbed");
  EXPECT_EQ(spec.gpus(), 1024);
  EXPECT_EQ(spec.gpu.name, "A800-SXM4-80GB");
  EXPECT_EQ(spec.gpu.peak_bf16.value, 312e12);
  EXPECT_EQ(spec.gpu.memory, 80_GiB);
  EXPECT_EQ(spec.node.nvlink_bandwidth, 200_GBps);
  EXPECT_EQ(spec.node.nics, 4);
  EXPECT_EQ(spec.node.nic_bandwidth, 25_GBps);
  EXPECT_EQ(spec.node.nic_of_gpu, (std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(spec.node.comm_sms_intra, 16);
  EXPECT_EQ(spec.node.comm_sms_inter, 8);
  EXPECT_EQ(spec.profile, "a800-4xhdr");
  // non-blocking: a leaf's 4 x 4 NICs of 25 GB/s equal its 16 links to spines
  EXPECT_EQ(spec.fabric.nodes_per_leaf * spec.node.nics, spec.fabric.spines);
  EXPECT_EQ(spec.fabric.leaf_spine_bandwidth, spec.node.nic_bandwidth);
}

TEST(Presets, DgxHasNoProfileAndAsksForTheNumberOfNodes) {
  const ClusterSpec spec = read(R"({"preset": "dgx-a100", "nodes": 3})");
  EXPECT_EQ(spec.gpus(), 24);
  EXPECT_EQ(spec.profile, "");
  EXPECT_EQ(spec.node.nics, 8);
  EXPECT_EQ(spec.node.nvlink_capacity, 235_GBps);
  EXPECT_EQ(read(R"({"preset": "dgx-a100-40gb", "nodes": 1})").gpu.memory, 40_GiB);
}

TEST(Presets, EveryClusterMakesAGraph) {
  for (const std::string& name : names(cluster_presets())) {
    const Json json{{"preset", name}, {"nodes", 9}};
    const ClusterGraph graph(read_cluster(ObjectReader(json, "s.json#/cluster")));
    EXPECT_FALSE(graph.route(graph.gpu(0, 0), graph.gpu(8, 7)).empty()) << name;
  }
}

}  // namespace
}  // namespace amsp
