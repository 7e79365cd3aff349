#include "topology/read/cluster_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/json/json.h"

namespace amsp {
namespace {

/// A whole description; tests change it by a JSON patch.
const char* const kLab = R"({
  "name": "lab", "nodes": 8,
  "gpu": {"name": "A1", "peak_bf16": "100TFLOPS", "memory": "40GiB", "hbm_bandwidth": "1000GBps",
          "hbm_efficiency": 0.8, "gemm_efficiency": 0.7, "attention_efficiency": 0.5, "sms": 100},
  "node": {"gpus": 8,
           "nvlink": {"kind": "switch", "switches": 6, "bandwidth": "200GBps", "capacity": "177GBps"},
           "pcie": {"bandwidth": "32GBps", "capacity": "26GBps"},
           "nics": {"count": 4, "bandwidth": "200Gbps", "capacity": "24.3GBps",
                    "gpu_affinity": [0, 0, 1, 1, 2, 2, 3, 3]},
           "comm_sms": {"intra": 16, "inter": 8}},
  "fabric": {"nodes_per_leaf": 4, "spines": 16, "leaf_spine_bandwidth": "200Gbps"},
  "profile": "none"})";

ClusterSpec read(const Json& json) {
  return read_cluster(ObjectReader(json, "s.json#/cluster"));
}

/// The description above after the operations of `patch` (RFC 6902).
Json lab(const char* patch = "[]") {
  return Json::parse(kLab).patch(Json::parse(patch));
}

TEST(ReadCluster, ReadsAWholeDescription) {
  const ClusterSpec spec = read(lab());
  EXPECT_EQ(spec.name, "lab");
  EXPECT_EQ(spec.nodes, 8);
  EXPECT_EQ(spec.gpus(), 64);
  EXPECT_EQ(spec.gpu.name, "A1");
  EXPECT_EQ(spec.gpu.peak_bf16, 100_TFLOPS);
  EXPECT_EQ(spec.gpu.memory, 40_GiB);
  EXPECT_EQ(spec.gpu.hbm_bandwidth, 1000_GBps);
  EXPECT_EQ(spec.gpu.hbm_efficiency, 0.8);
  EXPECT_EQ(spec.gpu.gemm_efficiency, 0.7);
  EXPECT_EQ(spec.gpu.attention_efficiency, 0.5);
  EXPECT_EQ(spec.gpu.sms, 100);
  EXPECT_EQ(spec.node.gpus, 8);
  EXPECT_EQ(spec.node.nvlink, NvlinkKind::kSwitch);
  EXPECT_EQ(spec.node.nvswitches, 6);
  EXPECT_EQ(spec.node.nvlink_bandwidth, 200_GBps);
  EXPECT_EQ(spec.node.nvlink_capacity, 177_GBps);
  EXPECT_EQ(spec.node.pcie_bandwidth, 32_GBps);
  EXPECT_EQ(spec.node.pcie_capacity, 26_GBps);
  EXPECT_EQ(spec.node.nics, 4);
  EXPECT_EQ(spec.node.nic_bandwidth, 25_GBps);
  EXPECT_EQ(spec.node.nic_capacity.value, 24.3e9);
  EXPECT_EQ(spec.node.nic_of_gpu, (std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(spec.node.comm_sms_intra, 16);
  EXPECT_EQ(spec.node.comm_sms_inter, 8);
  EXPECT_EQ(spec.fabric.nodes_per_leaf, 4);
  EXPECT_EQ(spec.fabric.spines, 16);
  EXPECT_EQ(spec.fabric.leaf_spine_bandwidth, 25_GBps);
  EXPECT_EQ(spec.profile, "");
  EXPECT_FALSE(spec.profile_strict);
}

TEST(ReadCluster, CapacityIsTheBandwidthUnlessGiven) {
  const ClusterSpec spec = read(lab(R"([
    {"op": "remove", "path": "/node/nvlink/capacity"},
    {"op": "remove", "path": "/node/pcie/capacity"},
    {"op": "remove", "path": "/node/nics/capacity"}])"));
  EXPECT_EQ(spec.node.nvlink_capacity, 200_GBps);
  EXPECT_EQ(spec.node.pcie_capacity, 32_GBps);
  EXPECT_EQ(spec.node.nic_capacity, 25_GBps);
}

TEST(ReadCluster, SpreadsGpusOverNicsUnlessTold) {
  const auto affinity = [](int gpus, int nics) {
    Json json = lab(R"([{"op": "remove", "path": "/node/nics/gpu_affinity"}])");
    json["node"]["gpus"] = gpus;
    json["node"]["nics"]["count"] = nics;
    return read(json).node.nic_of_gpu;
  };
  EXPECT_EQ(affinity(8, 4), (std::vector<int>{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(affinity(8, 8), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(affinity(8, 3), (std::vector<int>{0, 0, 0, 1, 1, 1, 2, 2}));
  EXPECT_EQ(affinity(1, 1), (std::vector<int>{0}));
}

TEST(ReadCluster, OtherKindsOfNvlinkAndOneBareNode) {
  const ClusterSpec direct = read(lab(R"([
    {"op": "replace", "path": "/node/nvlink", "value": {"kind": "direct", "bandwidth": "150GBps"}}])"));
  EXPECT_EQ(direct.node.nvlink, NvlinkKind::kDirect);
  EXPECT_EQ(direct.node.nvswitches, 0);
  EXPECT_EQ(direct.node.nvlink_capacity, 150_GBps);

  const ClusterSpec none =
      read(lab(R"([{"op": "replace", "path": "/node/nvlink", "value": {"kind": "none"}}])"));
  EXPECT_EQ(none.node.nvlink, NvlinkKind::kNone);
  EXPECT_EQ(none.node.nvlink_bandwidth.value, 0);

  const ClusterSpec bare = read(lab(R"([
    {"op": "replace", "path": "/nodes", "value": 1},
    {"op": "remove", "path": "/node/nics"},
    {"op": "remove", "path": "/node/pcie"},
    {"op": "remove", "path": "/node/comm_sms/inter"},
    {"op": "remove", "path": "/fabric"}])"));
  EXPECT_EQ(bare.node.nics, 0);
  EXPECT_TRUE(bare.node.nic_of_gpu.empty());
  EXPECT_EQ(bare.fabric.nodes_per_leaf, 0);
}

TEST(ReadCluster, OneLeafNeedsNoSpines) {
  const ClusterSpec spec = read(lab(
      R"([{"op": "replace", "path": "/fabric", "value": {"nodes_per_leaf": 8, "spines": 0}}])"));
  EXPECT_EQ(spec.fabric.spines, 0);
  EXPECT_EQ(spec.fabric.leaf_spine_bandwidth.value, 0);
}

TEST(ReadCluster, RecordsTheProfile) {
  const ClusterSpec spec = read(lab(R"([
    {"op": "replace", "path": "/profile", "value": "a800-4xhdr"},
    {"op": "add", "path": "/profile_policy", "value": "strict"}])"));
  EXPECT_EQ(spec.profile, "a800-4xhdr");
  EXPECT_TRUE(spec.profile_strict);
}

TEST(ReadCluster, NamesTheSourcesOfTheGpu) {
  EXPECT_EQ(read(lab()).gpu.source,
            "attention_efficiency: given by the scenario; gemm_efficiency: given by the scenario; "
            "hbm_bandwidth: given by the scenario; hbm_efficiency: given by the scenario; "
            "memory: given by the scenario; peak_bf16: given by the scenario; "
            "sms: given by the scenario");
  const ClusterSpec preset =
      read(lab(R"([{"op": "replace", "path": "/gpu", "value": "A800-SXM4-80GB"}])"));
  EXPECT_EQ(preset.gpu.gemm_efficiency, 0.735);
  EXPECT_THAT(preset.gpu.source, testing::HasSubstr("sms: datasheet: NVIDIA A100"));
}

TEST(ClusterPreset, AnyKeyCanBeOverriddenAtAnyDepth) {
  const ClusterSpec spec = read(Json::parse(R"({
    "preset": "a800-amsp-testbed", "name": "half", "nodes": 16,
    "gpu": {"memory": "40GiB"},
    "node": {"gpus": 4, "nics": {"count": 2}, "comm_sms": {"inter": 4}},
    "fabric": {"spines": 4}, "profile": "none", "profile_policy": "strict"})"));
  EXPECT_EQ(spec.name, "half");
  EXPECT_EQ(spec.gpus(), 64);
  EXPECT_EQ(spec.gpu.name, "A800-SXM4-80GB");
  EXPECT_EQ(spec.gpu.memory, 40_GiB);
  EXPECT_EQ(spec.gpu.sms, 108);
  EXPECT_THAT(spec.gpu.source, testing::HasSubstr("memory: given by the scenario; "));
  EXPECT_THAT(spec.gpu.source, testing::HasSubstr("sms: datasheet"));
  EXPECT_EQ(spec.node.nic_of_gpu, (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(spec.node.nic_bandwidth, 25_GBps);
  EXPECT_EQ(spec.node.comm_sms_intra, 16);
  EXPECT_EQ(spec.node.comm_sms_inter, 4);
  EXPECT_EQ(spec.fabric.nodes_per_leaf, 4);
  EXPECT_EQ(spec.fabric.spines, 4);
  EXPECT_EQ(spec.profile, "");
  EXPECT_TRUE(spec.profile_strict);
}

TEST(ClusterPreset, ANewBandwidthComesWithItsCapacity) {
  const ClusterSpec spec = read(Json::parse(R"({
    "preset": "a800-amsp-testbed",
    "node": {"pcie": {"bandwidth": "64GBps", "capacity": "55GBps"},
             "nics": {"bandwidth": "400Gbps", "capacity": "48.5GBps"}}})"));
  EXPECT_EQ(spec.node.nic_bandwidth, 50_GBps);
  EXPECT_EQ(spec.node.nic_capacity.value, 48.5e9);
  // the preset's own bandwidth may be repeated
  EXPECT_EQ(read(Json::parse(R"({"preset": "dgx-a100", "nodes": 2,
                                 "node": {"nics": {"bandwidth": "200Gbps"}}})"))
                .node.nic_capacity.value,
            24.3e9);
}

TEST(ClusterPreset, AnotherGpuOrKindOfNvlinkReplacesThePresets) {
  const ClusterSpec spec = read(Json::parse(R"({
    "preset": "dgx-a100", "nodes": 2, "gpu": "A800-SXM4-80GB",
    "node": {"nvlink": {"kind": "none"}}})"));
  EXPECT_EQ(spec.gpu.gemm_efficiency, 0.735);
  EXPECT_EQ(spec.node.nvlink, NvlinkKind::kNone);
  EXPECT_EQ(read(Json::parse(R"({"preset": "dgx-a100", "nodes": 2,
                                 "node": {"nvlink": {"kind": "switch", "switches": 2}}})"))
                .node.nvlink_capacity,
            235_GBps);
}

struct BadCluster {
  const char* path;  // of the key that is replaced or added; "-/key" removes it
  const char* value;
  const char* message;  // the whole message without "s.json#/cluster"
};

Json spoil(Json json, const BadCluster& bad) {
  const std::string path = bad.path;
  if (path.starts_with("-")) return json.patch({{{"op", "remove"}, {"path", path.substr(1)}}});
  json[Json::json_pointer(path)] = Json::parse(bad.value);
  return json;
}

void expect_refused(const Json& base, const BadCluster& bad) {
  SCOPED_TRACE(testing::Message() << bad.path << " " << bad.value);
  try {
    read(spoil(base, bad));
    ADD_FAILURE() << "was accepted";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.what(), std::string("s.json#/cluster") + bad.message);
  }
}

TEST(ReadCluster, RefusesBadInputAndSaysWhere) {
  const BadCluster kBad[] = {
      // top level
      {"-/name", "", "/name: is missing"},
      {"-/nodes", "", "/nodes: is missing"},
      {"/nodes", "0", "/nodes: must be a whole number from 1 to 1048576, found 0"},
      {"/nodes", "\"8\"", "/nodes: must be a whole number from 1 to 1048576, found \"8\""},
      {"/noodes", "8",
       "/noodes: is not a known key; did you mean 'nodes'? (allowed: collectives, fabric, gpu, "
       "name, node, "
       "nodes, preset, profile, profile_policy)"},
      {"/preset", "\"dgx-a10\"",
       "/preset: must be one of a800-amsp-testbed, dgx-a100, dgx-a100-40gb, dgx-b200, "
       "dgx-h100, gb200-nvl72, hgx-h200, hgx-h800, l40s-pcie; found \"dgx-a10\"; did "
       "you mean 'dgx-a100'?"},
      {"-/profile", "", "/profile: is missing"},
      {"/profile", "\"a800-4xhd\"",
       "/profile: must be one of none, a800-4xhdr; found \"a800-4xhd\"; did you mean "
       "'a800-4xhdr'?"},
      {"/profile_policy", "\"loose\"",
       "/profile_policy: must be one of derive, strict; found \"loose\""},
      // gpu
      {"-/gpu", "", "/gpu: is missing"},
      {"/gpu", "\"A800-SXM4-80G\"",
       "/gpu: must be one of A100-PCIe-40GB, A100-PCIe-80GB, A100-SXM4-40GB, A100-SXM4-80GB, "
       "A10G-PCIe-24GB, A800-SXM4-80GB, B200-SXM-180GB, B300-SXM-288GB, GB200-186GB, GB300-288GB, "
       "H100-PCIe-80GB, H100-SXM5-80GB, H20-SXM-96GB, H200-SXM5-141GB, H800-SXM5-80GB, "
       "L4-PCIe-24GB, L40S-PCIe-48GB, MI300X-192GB, RTX-4090-24GB, RTX-PRO-6000-Server-96GB, "
       "V100-SXM2-32GB; found "
       "\"A800-SXM4-80G\"; did you mean "
       "'A800-SXM4-80GB'?"},
      {"-/gpu/sms", "", "/gpu/sms: is missing"},
      {"/gpu/tensor_cores", "4",
       "/gpu/tensor_cores: is not a known key (allowed: architecture, attention_efficiency, "
       "gemm_efficiency, "
       "hbm_bandwidth, hbm_efficiency, memory, name, peak_bf16, peak_fp32, "
       "peak_tf32, sms, sustained)"},
      {"/gpu/peak_bf16", "312",
       "/gpu/peak_bf16: must be a flop rate with a unit such as \"312TFLOPS\" or \"1PFLOP/s\", "
       "found 312"},
      {"/gpu/peak_bf16", "\"312000PFLOPS\"",
       "/gpu/peak_bf16: \"312000PFLOPS\" is too much for one GPU (1 EFLOP/s or more)"},
      {"/gpu/memory", "\"0GiB\"", "/gpu/memory: must be above 0"},
      {"/gpu/hbm_bandwidth", "\"0GBps\"", "/gpu/hbm_bandwidth: must be above 0"},
      {"/gpu/hbm_efficiency", "79", "/gpu/hbm_efficiency: must be a number from 0 to 1, found 79"},
      {"/gpu/gemm_efficiency", "0", "/gpu/gemm_efficiency: must be above 0"},
      // nvlink
      {"-/node", "", "/node: is missing"},
      {"/node/gpus", "0", "/node/gpus: must be a whole number from 1 to 1024, found 0"},
      {"-/node/nvlink", "", "/node/nvlink: is missing"},
      {"/node/nvlink/kind", "\"swich\"",
       "/node/nvlink/kind: must be one of switch, direct, none; found \"swich\"; did you mean "
       "'switch'?"},
      {"-/node/nvlink/switches", "", "/node/nvlink/switches: is missing"},
      {"/node/nvlink/kind", "\"none\"",
       "/node/nvlink/bandwidth: is not a known key (allowed: kind)"},
      {"/node/nvlink/bandwidth", "200",
       "/node/nvlink/bandwidth: must be a bandwidth with a unit such as \"200Gbps\" or "
       "\"25GBps\", found 200"},
      {"/node/nvlink/bandwidth", "\"200MBps\"",
       "/node/nvlink/bandwidth: \"200MBps\" is too little for NVLink (below 1.00 GB/s); did you "
       "mean \"200GBps\"?"},
      {"/node/nvlink/bandwidth", "\"200TBps\"",
       "/node/nvlink/bandwidth: \"200TBps\" is too much for NVLink (10.0 TB/s or more); did you "
       "mean \"200GBps\"?"},
      {"/node/nvlink/capacity", "\"201GBps\"",
       "/node/nvlink/capacity: \"201GBps\" is more than the bandwidth of \"200GBps\""},
      // pcie
      {"-/node/pcie", "", "/node/pcie: is missing"},
      {"/node/pcie/bandwidth", "\"0GBps\"", "/node/pcie/bandwidth: must be above 0"},
      {"/node/pcie/bandwidth", "\"4000GB/s\"",
       "/node/pcie/bandwidth: \"4000GB/s\" is too much for PCIe (512 GB/s or more); did you mean "
       "\"4000Gbps\"?"},
      // nics
      {"-/node/nics", "", "/node/nics: is missing; 8 nodes have no other way to talk"},
      {"/node/nics/count", "0", "/node/nics/count: must be a whole number from 1 to 1024, found 0"},
      {"/node/nics/count", "16",
       "/node/nics/count: 16 NICs for 8 GPUs: a GPU uses one NIC, the others would carry nothing; "
       "describe the NICs of a GPU as a single one"},
      {"/node/nics/bandwidth", "\"400GBps\"",
       "/node/nics/bandwidth: \"400GBps\" is too much for one NIC (400 GB/s or more); did you "
       "mean \"400Gbps\"?"},
      {"/node/nics/bandwidth", "\"4000Gbps\"",
       "/node/nics/bandwidth: \"4000Gbps\" is too much for one NIC (400 GB/s or more)"},
      {"/node/nics/capacity", "\"25.1GBps\"",
       "/node/nics/capacity: \"25.1GBps\" is more than the bandwidth of \"200Gbps\""},
      {"/node/nics", R"({"count": 4, "bandwidth": "200GBps"})",
       "/node/nics/bandwidth: \"200GBps\" is more than the 26.0 GB/s that a NIC's PCIe slot "
       "carries; did you mean \"200Gbps\"?"},
      {"/node/nics", R"({"count": 4, "bandwidth": "400Gbps"})",
       "/node/nics/bandwidth: \"400Gbps\" is more than the 26.0 GB/s that a NIC's PCIe slot "
       "carries; give what fits as 'capacity'"},
      {"/node/nics/gpu_affinity", "4",
       "/node/nics/gpu_affinity: must be a list with the NIC of every GPU, found 4"},
      {"/node/nics/gpu_affinity", "[0, 1, 2, 3]",
       "/node/nics/gpu_affinity: must have one entry for each of 8 GPUs, has 4"},
      {"/node/nics/gpu_affinity", "[0, 0, 1, 1, 2, 2, 3, 4]",
       "/node/nics/gpu_affinity: entry 7 must be a whole number from 0 to 3, found 4"},
      {"/node/nics/gpu_affinity", "[0, 0, 1, -1, 2, 2, 3, 3]",
       "/node/nics/gpu_affinity: entry 3 must be a whole number from 0 to 3, found -1"},
      {"/node/nics/gpu_affinity", "[0, 0, 1, 1.5, 2, 2, 3, 3]",
       "/node/nics/gpu_affinity: entry 3 must be a whole number from 0 to 3, found 1.5"},
      {"/node/nics/gpu_affinity", "[0, 0, 0, 0, 2, 2, 3, 3]",
       "/node/nics/gpu_affinity: no GPU uses NIC 1; leave out NICs that carry nothing"},
      {"/node/nics/rails", "4",
       "/node/nics/rails: is not a known key (allowed: bandwidth, capacity, count, gpu_affinity)"},
      // comm_sms
      {"-/node/comm_sms", "", "/node/comm_sms: is missing"},
      {"-/node/comm_sms/inter", "", "/node/comm_sms/inter: is missing"},
      {"/node/comm_sms/intra", "100",
       "/node/comm_sms/intra: must be a whole number from 0 to 99, found 100"},
      {"/node/cpus", "2",
       "/node/cpus: is not a known key; did you mean 'gpus'? (allowed: comm_sms, gpus, links, "
       "nccl_topology, nics, nvlink, pcie)"},
      // fabric
      {"-/fabric", "", "/fabric: is missing"},
      {"/fabric/nodes_per_leaf", "0",
       "/fabric/nodes_per_leaf: must be a whole number from 1 to 1048576, found 0"},
      {"/fabric/spines", "-1", "/fabric/spines: must be a whole number from 0 to 65536, found -1"},
      {"-/fabric/leaf_spine_bandwidth", "", "/fabric/leaf_spine_bandwidth: is missing"},
      {"/fabric/leaf_spine_bandwidth", "\"20TBps\"",
       "/fabric/leaf_spine_bandwidth: \"20TBps\" is too much for a leaf-spine pair (10.0 TB/s or "
       "more); did you mean \"20GBps\"?"},
      {"/fabric/oversubscription", "2",
       "/fabric/oversubscription: says the same as 'leaf_spine_bandwidth'; give one of them"},
      {"/fabric/planes", "2",
       "/fabric/planes: is not a known key (allowed: core, ecmp, "
       "leaf_spine_bandwidth, links, nodes_per_leaf, oversubscription, rails, spines, transport)"},
  };
  for (const BadCluster& bad : kBad) expect_refused(lab(), bad);
}

TEST(ReadCluster, AFabricNeedsNics) {
  Json json = lab(R"([{"op": "remove", "path": "/node/nics"}])");
  expect_refused(json, {"/nodes", "1", "/fabric: connects NICs, of which the node has none"});
}

TEST(ClusterPreset, RefusesBadOverridesAndSaysWhere) {
  const BadCluster kBad[] = {
      {"/node", "5", "/node: must be an object, found 5"},
      {"/node", "null", "/node: must be an object, found null"},
      {"/gpu", "5",
       "/gpu: must be one of A100-PCIe-40GB, A100-PCIe-80GB, A100-SXM4-40GB, A100-SXM4-80GB, "
       "A10G-PCIe-24GB, A800-SXM4-80GB, B200-SXM-180GB, B300-SXM-288GB, GB200-186GB, GB300-288GB, "
       "H100-PCIe-80GB, H100-SXM5-80GB, H20-SXM-96GB, H200-SXM5-141GB, H800-SXM5-80GB, "
       "L4-PCIe-24GB, L40S-PCIe-48GB, MI300X-192GB, RTX-4090-24GB, RTX-PRO-6000-Server-96GB, "
       "V100-SXM2-32GB; found 5"},
      {"/gpu", R"({"memroy": "80GiB"})",
       "/gpu/memroy: is not a known key; did you mean 'memory'? (allowed: architecture, "
       "attention_efficiency, "
       "gemm_efficiency, hbm_bandwidth, hbm_efficiency, memory, name, peak_bf16, peak_fp32, "
       "peak_tf32, sms, sustained)"},
      {"/node", R"({"nics": {"bandwidth": "400Gbps"}})",
       "/node/nics/bandwidth: replaces the preset's \"200Gbps\", at which its capacity of "
       "\"24.3821GBps\" was measured; give 'capacity' as well"},
      {"/node", R"({"nvlink": {"bandwidth": "300GBps"}})",
       "/node/nvlink/bandwidth: replaces the preset's \"200GBps\", at which its capacity of "
       "\"177.0384GBps\" was measured; give 'capacity' as well"},
      {"/node", R"({"nvlink": {"kind": "direct"}})", "/node/nvlink/bandwidth: is missing"},
      {"/node", R"({"gpus": 4, "nics": {"gpu_affinity": [0, 1]}})",
       "/node/nics/gpu_affinity: must have one entry for each of 4 GPUs, has 2"},
      {"/node", R"({"nics": {"capacity": null}})",
       "/node/nics/capacity: must be a bandwidth with a unit such as \"200Gbps\" or \"25GBps\", "
       "found null"},
      {"/sources", "{}",
       "/sources: is not a known key (allowed: collectives, fabric, gpu, name, node, nodes, "
       "preset, profile, "
       "profile_policy)"},
  };
  for (const BadCluster& bad : kBad)
    expect_refused(Json::parse(R"({"preset": "a800-amsp-testbed"})"), bad);
  expect_refused(Json::parse(R"({"preset": "dgx-a100", "nodes": 1})"),
                 {"-/nodes", "", "/nodes: is missing"});
  expect_refused(Json::parse(R"({"preset": "dgx-a100"})"),
                 {"/noodes", "4",
                  "/noodes: is not a known key; did you mean 'nodes'? (allowed: collectives, "
                  "fabric, gpu, name, "
                  "node, nodes, preset, profile, profile_policy)"});
}

}  // namespace
}  // namespace amsp
