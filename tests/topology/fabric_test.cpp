// Fabrics beyond two plain levels: routes and loads that can be drawn by hand. Over 400 lines:
// every kind of fabric is described in full beside what is expected of it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/json/json.h"
#include "tests/topology/all_meshes.h"
#include "topology/collective/scaled_collectives.h"
#include "topology/models/collective_models.h"
#include "topology/read/cluster_reader.h"
#include "topology/spec/cluster_checks.h"

namespace amsp {
namespace {

/// 4 GPUs a node on an NVSwitch, one NIC each. GB/s: NVLink 200, PCIe 32, NIC 25.
Json lab(int nodes, const char* fabric) {
  Json json = Json::parse(R"({"name": "lab", "gpu": "A800-SXM4-80GB", "profile": "none", "node": {
    "gpus": 4, "nvlink": {"kind": "switch", "switches": 1, "bandwidth": "200GBps"},
    "pcie": {"bandwidth": "32GBps"}, "nics": {"count": 4, "bandwidth": "25GBps"},
    "comm_sms": {"intra": 8, "inter": 8}}})");
  json["nodes"] = nodes;
  json["fabric"] = Json::parse(fabric);
  return json;
}

ClusterSpec read(const Json& json) {
  return read_cluster(ObjectReader(json, "c.json#"));
}

struct World {
  explicit World(const ClusterSpec& spec, PlacementKind kind = PlacementKind::kPacked)
      : graph(spec),
        placement(spec, Mesh{spec.node.gpus, spec.nodes}, 1, {kind, {}}),
        rings(graph, placement),
        model(graph, placement) {}

  std::map<std::string, double> loads(const CollectiveCall& call, int group = 0) const {
    std::map<std::string, double> by_name;
    for (const auto& [link, bytes] : rings.loads(call, group))
      by_name[graph.link_name(link)] = bytes;
    return by_name;
  }
  double on(LinkKind kind, const CollectiveCall& call, int group = 0) const {
    double sum = 0;
    for (const auto& [link, bytes] : rings.loads(call, group))
      if (graph.link(link).kind == kind) sum += bytes;
    return sum;
  }
  std::map<std::string, double> route(int from, int to) const {
    const int gpus = graph.spec().node.gpus;
    std::map<std::string, double> by_name;
    for (const RouteShare& share :
         graph.route(graph.gpu(from / gpus, from % gpus), graph.gpu(to / gpus, to % gpus)))
      by_name[graph.link_name(share.link)] = share.fraction;
    return by_name;
  }

  ClusterGraph graph;
  Placement placement;
  RingNetwork rings;
  RingCollectives model;
};

using Route = std::map<std::string, double>;

TEST(Rails, OneLeafForEachNicIndex) {
  const World world(read(lab(6, R"({"nodes_per_leaf": 4, "rails": 4, "spines": 1,
                                    "leaf_spine_bandwidth": "100GBps"})")));
  // nodes 0-3 under leaves 0-3, nodes 4-5 under leaves 4-7
  EXPECT_EQ(count_switches(world.graph.spec()).leaves, 8);
  EXPECT_EQ(world.route(1, 3 * 4 + 1), (Route{{"node0/gpu1 -> node0/nic1", 1},
                                              {"node0/nic1 -> leaf1", 1},
                                              {"leaf1 -> node3/nic1", 1},
                                              {"node3/nic1 -> node3/gpu1", 1}}));
  // another rail, and another group of nodes: over the spine
  EXPECT_EQ(world.route(1, 3 * 4 + 2).size(), 6U);
  EXPECT_EQ(world.route(1, 3 * 4 + 2).count("leaf1 -> spine0"), 1U);
  EXPECT_EQ(world.route(1, 3 * 4 + 2).count("spine0 -> leaf2"), 1U);
  EXPECT_EQ(world.route(1, 5 * 4 + 1).count("spine0 -> leaf5"), 1U);
}

TEST(Rails, RingsOverAnEvenNumberOfNodesNeedNoSpine) {
  const char* rail = R"({"nodes_per_leaf": 4, "rails": 4, "spines": 2,
                         "leaf_spine_bandwidth": "50GBps"})";
  const char* plain = R"({"nodes_per_leaf": 1, "spines": 2, "leaf_spine_bandwidth": "50GBps"})";
  const CollectiveCall call{CollectiveKind::kAllReduce, sub_mesh({4, 4}), 1600_B, {}};
  const World with_rails(read(lab(4, rail))), without(read(lab(4, plain)));
  EXPECT_EQ(with_rails.on(LinkKind::kFabric, call), 0);
  // 4 hops between nodes of 4 rings of 400 B, each carrying 2 * 15/16 of it, over two links
  EXPECT_DOUBLE_EQ(without.on(LinkKind::kFabric, call), 2 * 4 * 4 * 750);
  // what each NIC carries is the same
  EXPECT_DOUBLE_EQ(with_rails.on(LinkKind::kNic, call), without.on(LinkKind::kNic, call));

  // over 3 nodes the hop back to the first changes rails in every ring: 1 of 3 hops
  const CollectiveCall odd{CollectiveKind::kAllReduce, sub_mesh({4, 3}), 1600_B, {}};
  const World three(read(lab(3, rail)));
  EXPECT_DOUBLE_EQ(three.on(LinkKind::kFabric, odd), 2 * 1 * 4 * 400 * (2 * 11.0 / 12));
  EXPECT_DOUBLE_EQ(three.on(LinkKind::kFabric, odd) / three.on(LinkKind::kNic, odd), 1.0 / 3);
}

TEST(Rails, NicsSendAsMuchAsTheyReceive) {
  const World world(read(lab(4, R"({"nodes_per_leaf": 2, "rails": 2, "spines": 2,
                                    "leaf_spine_bandwidth": "50GBps"})")));
  for (const SubMesh& mesh : all_meshes({4, 4})) {
    if (mesh.shape.inter == 1) continue;
    const auto loads = world.loads({CollectiveKind::kAllGather, mesh, 64_MiB, {}});
    std::map<std::string, double> out, in;
    for (const auto& [name, bytes] : loads) {
      const std::size_t arrow = name.find(" -> ");
      const std::string from = name.substr(0, arrow), to = name.substr(arrow + 4);
      if (to.starts_with("leaf") && from.starts_with("node")) out[from] += bytes;
      if (from.starts_with("leaf") && to.starts_with("node")) in[to] += bytes;
    }
    EXPECT_EQ(out.size(), in.size()) << to_string(mesh);
    for (const auto& [nic, bytes] : out) EXPECT_DOUBLE_EQ(in[nic], bytes) << to_string(mesh);
  }
}

TEST(Core, JoinsThePods) {
  const World world(read(lab(8, R"({"nodes_per_leaf": 2, "spines": 2,
      "leaf_spine_bandwidth": "100GBps", "core": {"leaves_per_pod": 2, "switches": 4,
                                                  "spine_core_bandwidth": "100GBps"}})")));
  // 4 leaves, 2 pods of 2 spines, 4 cores: 0 and 1 above spine 0 and 2, the others above 1 and 3
  const SwitchCounts counts = count_switches(world.graph.spec());
  EXPECT_EQ(counts.leaves, 4);
  EXPECT_EQ(counts.pods, 2);
  EXPECT_EQ(counts.spines, 4);
  // 8 x (4 NVLink + 4 PCIe + 4 NIC), 4 leaves x 2 spines, 4 spines x 2 cores; two ways
  EXPECT_EQ(world.graph.link_count(), 2 * (8 * 12 + 8 + 8));
  EXPECT_EQ(world.route(0, 2 * 4).size(), 4U + 4);  // another leaf of the pod: over both spines
  EXPECT_EQ(world.route(0, 2 * 4).count("leaf0 -> spine1"), 1U);
  EXPECT_EQ(world.route(0, 4 * 4), (Route{{"node0/gpu0 -> node0/nic0", 1},
                                          {"node0/nic0 -> leaf0", 1},
                                          {"leaf0 -> spine0", 0.5},
                                          {"leaf0 -> spine1", 0.5},
                                          {"spine0 -> core0", 0.25},
                                          {"spine0 -> core1", 0.25},
                                          {"spine1 -> core2", 0.25},
                                          {"spine1 -> core3", 0.25},
                                          {"core0 -> spine2", 0.25},
                                          {"core1 -> spine2", 0.25},
                                          {"core2 -> spine3", 0.25},
                                          {"core3 -> spine3", 0.25},
                                          {"spine2 -> leaf2", 0.5},
                                          {"spine3 -> leaf2", 0.5},
                                          {"leaf2 -> node4/nic0", 1},
                                          {"node4/nic0 -> node4/gpu0", 1}}));
}

TEST(Leaves, MayBeUnequal) {
  const ClusterSpec spec = read(lab(4, R"({"nodes_per_leaf": [3, 1], "spines": 2,
                                           "oversubscription": 1})"));
  EXPECT_EQ(leaf_groups(spec), (std::vector<std::vector<int>>{{0, 1, 2}, {3}}));
  // of the fullest leaf: 3 x 4 NICs of 25 GB/s over 2 spines
  EXPECT_EQ(spec.fabric.leaf_spine_bandwidth, 150_GBps);
  const World world(spec);
  EXPECT_EQ(world.route(0, 2 * 4).size(), 4U);
  EXPECT_EQ(world.route(0, 3 * 4).count("spine1 -> leaf1"), 1U);
  const Placement scattered(spec, {4, 4}, 1, {PlacementKind::kScattered, {}});
  EXPECT_EQ(scattered.node(0), 0);
  EXPECT_EQ(scattered.node(1), 3);
  EXPECT_EQ(scattered.node(2), 1);
  EXPECT_EQ(scattered.node(3), 2);
}

TEST(Oversubscription, SharesOutWhatTheLeafReceives) {
  const auto rate = [](const char* fabric) {
    return read(lab(16, fabric)).fabric.leaf_spine_bandwidth;
  };
  // 4 nodes x 4 NICs x 25 GB/s = 400 GB/s over 4 spines, 2:1
  EXPECT_EQ(rate(R"({"nodes_per_leaf": 4, "spines": 4, "oversubscription": 2})"), 50_GBps);
  // on 4 rails a leaf has one NIC of each node
  EXPECT_EQ(rate(R"({"nodes_per_leaf": 4, "rails": 4, "spines": 4, "oversubscription": 1})"),
            25_GBps);
  // 2 leaves of 400 GB/s below one pod of 4 spines: 200 GB/s into each, 4:1 into its 2 cores
  const ClusterSpec core = read(lab(16, R"({"nodes_per_leaf": 4, "spines": 4,
      "oversubscription": 1, "core": {"leaves_per_pod": 2, "switches": 8,
                                      "oversubscription": 4}})"));
  EXPECT_EQ(core.fabric.spine_core_bandwidth, 25_GBps);
}

TEST(Transport, HeadersCostWhereNothingWasMeasured) {
  const auto spec = [](const char* transport) {
    return read(lab(2, (std::string(R"({"nodes_per_leaf": 1, "spines": 1,
                       "leaf_spine_bandwidth": "100GBps")") +
                        transport + "}")
                           .c_str()));
  };
  EXPECT_EQ(spec("").node.nic_capacity, 25_GBps);
  const ClusterSpec roce = spec(R"(, "transport": "roce")");
  EXPECT_DOUBLE_EQ(roce.node.nic_capacity.value, 25e9 * 4096 / 4178);
  const World world(roce);
  for (LinkId id = 0; id < world.graph.link_count(); ++id)
    if (world.graph.link(id).kind == LinkKind::kFabric) {
      EXPECT_DOUBLE_EQ(world.graph.link(id).capacity.value, 100e9 * 4096 / 4178);
      EXPECT_EQ(world.graph.link(id).bandwidth, 100_GBps);
    }
  EXPECT_DOUBLE_EQ(spec(R"(, "transport": "infiniband")").node.nic_capacity.value,
                   25e9 * 4096 / 4122);
}

/// 8 leaves of one node, 16 spines: what every link from leaf to spine carries if each GPU of node
/// n sends one unit to the same GPU of node n + 1.
std::vector<double> uplink_loads(const char* ecmp) {
  const World world(read(lab(8, (std::string(R"({"nodes_per_leaf": 1, "spines": 16,
      "leaf_spine_bandwidth": "25GBps", "ecmp": )") +
                                 ecmp + "}")
                                    .c_str())));
  std::map<std::string, double> loads;
  for (int gpu = 0; gpu < 32; ++gpu)
    for (const auto& [name, fraction] : world.route(gpu, (gpu + 4) % 32))
      if (name.starts_with("leaf") && name.find("spine") != std::string::npos)
        loads[name] += fraction;
  std::vector<double> result;
  for (const auto& [name, load] : loads) result.push_back(load);
  return result;
}

TEST(Ecmp, HashedFlowsTakeOnePathEach) {
  const auto even = uplink_loads(R"("even")");
  EXPECT_EQ(even.size(), 8U * 16);
  for (const double load : even) EXPECT_DOUBLE_EQ(load, 4.0 / 16);
  double sum = 0;
  const auto one = uplink_loads(R"({"seed": 1, "flows": 1})");
  for (const double load : one) {
    EXPECT_EQ(load, std::floor(load));  // whole flows
    sum += load;
  }
  EXPECT_DOUBLE_EQ(sum, 32);  // 4 flows of 8 leaves: none is lost
  EXPECT_LE(one.size(), 32U);
  // of 4 flows on 16 links, 16 (1 - (15/16)^4) links have some on average
  double links = 0;
  for (int seed = 0; seed < 50; ++seed)
    links += static_cast<double>(
        uplink_loads(("{\"flows\": 1, \"seed\": " + std::to_string(seed) + "}").c_str()).size());
  EXPECT_NEAR(links / 50, 8 * 16 * (1 - std::pow(15.0 / 16, 4)), 0.7);
  // many flows come close to an even split
  const auto many = uplink_loads(R"({"seed": 1, "flows": 1024})");
  EXPECT_EQ(many.size(), 8U * 16);
  for (const double load : many) EXPECT_NEAR(load, 0.25, 0.05);
}

TEST(Ecmp, DependsOnTheSeedAndOnNothingElse) {
  EXPECT_EQ(uplink_loads(R"({"seed": 1, "flows": 2})"), uplink_loads(R"({"seed": 1, "flows": 2})"));
  EXPECT_NE(uplink_loads(R"({"seed": 1, "flows": 2})"), uplink_loads(R"({"seed": 2, "flows": 2})"));
  // inside a node and on one leaf there is nothing to choose
  const World hashed(read(lab(2, R"({"nodes_per_leaf": 2, "spines": 0,
                                     "ecmp": {"seed": 1, "flows": 3}})")));
  const World even(read(lab(2, R"({"nodes_per_leaf": 2, "spines": 0})")));
  for (int a = 0; a < 8; ++a)
    for (int b = 0; b < 8; ++b)
      if (a != b) {
        EXPECT_EQ(hashed.route(a, b), even.route(a, b));
      }
}

TEST(Ecmp, CollisionsCostTime) {
  const auto time = [](const char* ecmp) {
    const World world(
        read(lab(8, (std::string(R"({"nodes_per_leaf": 1, "spines": 4, "oversubscription": 1,
                                     "ecmp": )") +
                     ecmp + "}")
                        .c_str())));
    return world.model.time({CollectiveKind::kAllReduce, sub_mesh({4, 8}), 1_GiB, {}}).time;
  };
  EXPECT_GT(time(R"({"seed": 1, "flows": 1})"), 1.5 * time(R"("even")"));
}

TEST(Graph, ByLinksIsTheSameFabricAsByLevels) {
  const ClusterSpec levels = read(lab(6, R"({"nodes_per_leaf": 2, "spines": 2,
                                             "leaf_spine_bandwidth": "50GBps"})"));
  const ClusterSpec links = read(lab(6, R"({"links": [
      {"between": ["node[0-1]/nic[0-3]", "leaf0"]}, {"between": ["node[2-3]/nic[0-3]", "leaf1"]},
      {"between": ["node[4-5]/nic[0-3]", "leaf2"]},
      {"between": ["leaf[0-2]", "spine[0-1]"], "bandwidth": "50GBps"}]})"));
  for (const PlacementKind kind : {PlacementKind::kPacked, PlacementKind::kScattered}) {
    const World a(levels, kind), b(links, kind);
    EXPECT_EQ(a.graph.link_count(), b.graph.link_count());
    for (const SubMesh& mesh : all_meshes({4, 6})) {
      const CollectiveCall call{CollectiveKind::kAllReduce, mesh, 64_MiB, {}};
      for (int group = 0; group < 24 / mesh.size(); ++group)
        EXPECT_EQ(a.loads(call, group), b.loads(call, group)) << to_string(mesh);
      EXPECT_EQ(a.model.time(call).time, b.model.time(call).time);
    }
  }
}

TEST(Graph, RailsAreSeenInTheLinks) {
  const ClusterSpec spec = read(lab(2, R"({"links": [
      {"between": ["node[0-1]/nic[0,2]", "switch0"]},
      {"between": ["node[0-1]/nic[1,3]", "switch1"]},
      {"between": ["switch0", "switch1"], "bandwidth": "100GBps"}]})"));
  EXPECT_EQ(rails_of_nics(spec), (std::vector<int>{0, 1, 0, 1}));
  const World world(spec);
  EXPECT_EQ(world.on(LinkKind::kFabric, {CollectiveKind::kAllReduce, sub_mesh({4, 2}), 64_MiB, {}}),
            0);
}

TEST(Graph, TwoNodesBackToBack) {
  Json json = lab(2, R"({"links": [{"between": ["node0/nic0", "node1/nic0"]}]})");
  json["node"]["nics"]["count"] = 1;
  const World world(read(json));
  EXPECT_EQ(world.route(2, 7), (Route{{"node0/gpu2 -> node0/nic0", 1},
                                      {"node0/nic0 -> node1/nic0", 1},
                                      {"node1/nic0 -> node1/gpu3", 1}}));
}

/// What-if factors reach every link of every kind of fabric.
TEST(Scaled, EveryLinkOfEveryFabric) {
  HardwareScale scale;
  scale.intra = 3;
  scale.inter = 0.5;
  std::vector<ClusterSpec> specs = {
      read(lab(4, R"({"nodes_per_leaf": 1, "spines": 2, "oversubscription": 1,
                      "core": {"leaves_per_pod": 2, "switches": 2, "oversubscription": 2}})")),
      read(lab(4, R"({"nodes_per_leaf": [3, 1], "rails": 2, "spines": 2, "oversubscription": 4})")),
      read(lab(2, R"({"links": [{"between": ["node0/nic[0-3]", "leaf0"]},
          {"between": ["node1/nic[0-3]", "leaf1"]},
          {"between": ["leaf0", "leaf1"], "bandwidth": "50GBps"}]})"))};
  const Json box{{"preset", "l40s-pcie"}, {"nodes", 9}};
  specs.push_back(read(box));
  for (const ClusterSpec& spec : specs) {
    const ClusterGraph before(spec), after(scaled(spec, scale));
    ASSERT_EQ(before.link_count(), after.link_count());
    for (LinkId id = 0; id < before.link_count(); ++id) {
      const Link &a = before.link(id), &b = after.link(id);
      // beside NVLink, PCIe carries what NICs do
      const bool to_nics = a.kind == LinkKind::kPcie && spec.node.nvlink != NvlinkKind::kNone;
      const bool outside = to_nics || a.kind == LinkKind::kNic || a.kind == LinkKind::kFabric;
      EXPECT_DOUBLE_EQ(b.capacity / a.capacity, outside ? 0.5 : 3) << before.link_name(id);
      EXPECT_DOUBLE_EQ(b.bandwidth / a.bandwidth, outside ? 0.5 : 3) << before.link_name(id);
    }
  }
}

/// Four NVSwitches and one fat switch are one fabric in two descriptions, as is the node by links.
TEST(TwoDescriptions, GiveTheSameAllReduce) {
  const char* fabric = R"({"nodes_per_leaf": 2, "spines": 2, "leaf_spine_bandwidth": "100GBps"})";
  Json fat = lab(4, fabric), four = fat, links = fat;
  four["node"]["nvlink"]["switches"] = 4;
  links["node"].erase("nvlink");
  links["node"].erase("pcie");
  links["node"]["links"] = Json::parse(R"([
    {"between": ["gpu[0-3]", "nvswitch[0-3]"], "bandwidth": "50GBps"},
    {"between": ["gpu0", "nic0"], "bandwidth": "32GBps"},
    {"between": ["gpu1", "nic1"], "bandwidth": "32GBps"},
    {"between": ["gpu2", "nic2"], "bandwidth": "32GBps"},
    {"between": ["gpu3", "nic3"], "bandwidth": "32GBps"}])");
  const World a(read(fat)), b(read(four)), c(read(links));
  EXPECT_EQ(c.graph.spec().node.nvlink_bandwidth, 200_GBps);
  for (const Mesh mesh : {Mesh{4, 1}, Mesh{2, 1}, Mesh{4, 2}, Mesh{4, 4}, Mesh{1, 4}})
    for (const Bytes bytes : {64_KiB, 64_MiB, 4_GiB}) {
      const CollectiveCall call{CollectiveKind::kAllReduce, sub_mesh(mesh), bytes, {}};
      const double one = a.model.time(call).time.value;
      EXPECT_NEAR(b.model.time(call).time.value / one, 1, 1e-12) << to_string(mesh);
      EXPECT_NEAR(c.model.time(call).time.value / one, 1, 1e-12) << to_string(mesh);
    }
}

/// All sibling groups of a mesh at once: the time of each, by the busiest link that it uses.
std::vector<double> times_together(const World& world, const CollectiveCall& call) {
  const int groups = world.placement.dp().size() / call.mesh.size();
  std::map<LinkId, double> total;
  for (int group = 0; group < groups; ++group)
    for (const auto& [link, bytes] : world.rings.loads(call, group)) total[link] += bytes;
  std::vector<double> times;
  for (int group = 0; group < groups; ++group) {
    double time = 0;
    for (const auto& [link, bytes] : world.rings.loads(call, group))
      time = std::max(time, total[link] / world.graph.link(link).capacity.value);
    times.push_back(time);
  }
  return times;
}

TEST(Oversubscription, SlowsExactlyTheTrafficThatCrossesLeaves) {
  const ClusterSpec full = read(lab(8, R"({"nodes_per_leaf": 4, "spines": 4,
                                           "oversubscription": 1})"));
  const ClusterSpec half = read(lab(8, R"({"nodes_per_leaf": 4, "spines": 4,
                                           "oversubscription": 2})"));
  int slowed = 0, kept = 0;
  for (const PlacementKind kind : {PlacementKind::kPacked, PlacementKind::kScattered}) {
    const World before(full, kind), after(half, kind);
    for (const SubMesh& mesh : all_meshes({4, 8})) {
      const CollectiveCall call{CollectiveKind::kAllReduce, mesh, 1_GiB, {}};
      const auto fast = times_together(before, call), slow = times_together(after, call);
      for (std::size_t group = 0; group < fast.size(); ++group) {
        SCOPED_TRACE(to_string(mesh) + " group " + std::to_string(group));
        const bool crosses = before.on(LinkKind::kFabric, call, static_cast<int>(group)) > 0;
        if (!crosses) {
          EXPECT_EQ(slow[group], fast[group]);
        } else if (kind == PlacementKind::kScattered && mesh.shape.inter % 2 == 0 &&
                   mesh.stride.inter % 2 == 1) {
          // every node sends everything to the other leaf: half the rate, twice the time
          EXPECT_DOUBLE_EQ(slow[group], 2 * fast[group]);
        } else {
          EXPECT_GE(slow[group], fast[group]);
        }
        (slow[group] > fast[group] ? slowed : kept) += 1;
      }
    }
    // one ring over all nodes: packed, a leaf sends what one of its 4 nodes sends, and 2:1 is
    // plenty; scattered, all of it
    const CollectiveCall all{CollectiveKind::kAllReduce, sub_mesh({4, 8}), 1_GiB, {}};
    const double ratio = times_together(after, all)[0] / times_together(before, all)[0];
    EXPECT_DOUBLE_EQ(ratio, kind == PlacementKind::kPacked ? 1 : 2);
  }
  EXPECT_GT(slowed, 50);
  EXPECT_GT(kept, 50);
}

}  // namespace
}  // namespace amsp
