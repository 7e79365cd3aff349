#include "topology/read/fabric_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "core/json/json.h"
#include "core/quantity.h"
#include "topology/profile/profile_rows.h"
#include "topology/read/rate_reader.h"

namespace amsp {
namespace {

constexpr int kMaxNodes = 1 << 20;
constexpr int kMaxSwitches = 65536;
constexpr std::size_t kMaxCables = 10'000'000;

int integer(ObjectReader& reader, const char* key, int low, int high) {
  return static_cast<int>(reader.integer(key, low, high));
}

std::vector<int> read_leaf_nodes(ObjectReader& reader, int nodes) {
  const char* const key = "nodes_per_leaf";
  const Json& list = reader.value(key);
  std::vector<int> lengths;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_number_integer() || list[i] < 1 || list[i] > kMaxNodes)
      reader.fail(key, fmt::format("entry {} must be a whole number from 1 to {}, found {}", i,
                                   kMaxNodes, describe(list[i])));
    lengths.push_back(list[i].get<int>());
    sum += lengths.back();
  }
  if (sum != nodes)
    reader.fail(key, fmt::format("lists leaves for {} nodes, the cluster has {}", sum, nodes));
  return lengths;
}

/// The bandwidth of one of `up` bundles: given, or from the ratio of what comes from below.
BytesPerSec read_bundle(ObjectReader& reader, const char* bandwidth_key,
                        const PlausibleRates& rates, BytesPerSec below, int up) {
  const char* const ratio_key = "oversubscription";
  if (!reader.has(ratio_key)) return read_rate(reader, bandwidth_key, rates);
  if (reader.has(bandwidth_key))
    reader.fail(ratio_key, fmt::format("says the same as '{}'; give one of them", bandwidth_key));
  const double ratio = reader.number(ratio_key, 0, 1000);
  if (ratio < 0.01) reader.fail(ratio_key, "must be at least 0.01");
  return below / (ratio * up);
}

void read_core(ObjectReader reader, FabricSpec& fabric, int leaves) {
  if (fabric.spines == 0) reader.fail("connects spines, of which the fabric has none");
  fabric.leaves_per_pod = integer(reader, "leaves_per_pod", 1, kMaxSwitches);
  if (fabric.leaves_per_pod % fabric.rails != 0)
    reader.fail("leaves_per_pod",
                fmt::format("{} leaves would part the {} leaves of one node's rails; give a "
                            "multiple of {}",
                            fabric.leaves_per_pod, fabric.rails, fabric.rails));
  fabric.cores = integer(reader, "switches", 1, kMaxSwitches);
  if (fabric.cores % fabric.spines != 0)
    reader.fail("switches", fmt::format("{} core switches don't share out among the {} spines of "
                                        "a pod; give a multiple of {}",
                                        fabric.cores, fabric.spines, fabric.spines));
  const int below = std::min(fabric.leaves_per_pod, leaves);
  fabric.spine_core_bandwidth =
      read_bundle(reader, "spine_core_bandwidth", kSpineCoreRates,
                  below * fabric.leaf_spine_bandwidth, fabric.cores / fabric.spines);
  reader.finish();
}

void read_levels(ObjectReader& reader, const ClusterSpec& cluster, FabricSpec& fabric) {
  const NodeSpec& node = cluster.node;
  if (reader.has("nodes_per_leaf") && reader.value("nodes_per_leaf").is_array())
    fabric.leaf_nodes = read_leaf_nodes(reader, cluster.nodes);
  else
    fabric.nodes_per_leaf = integer(reader, "nodes_per_leaf", 1, kMaxNodes);
  fabric.rails = static_cast<int>(reader.integer_or("rails", 1, node.nics, 1));
  if (node.nics % fabric.rails != 0)
    reader.fail("rails", fmt::format("{} rails don't share out the {} NICs of a node", fabric.rails,
                                     node.nics));
  fabric.spines = integer(reader, "spines", 0, kMaxSwitches);

  const int fullest = fabric.leaf_nodes.empty()
                          ? fabric.nodes_per_leaf
                          : *std::max_element(fabric.leaf_nodes.begin(), fabric.leaf_nodes.end());
  const int nics = node.nics / fabric.rails;  // of one node on one leaf
  if (fabric.spines == 0 && reader.has("oversubscription"))
    reader.fail("oversubscription", "has no effect without spines");
  if (fabric.spines > 0 || reader.has("leaf_spine_bandwidth"))
    fabric.leaf_spine_bandwidth =
        read_bundle(reader, "leaf_spine_bandwidth", kLeafSpineRates,
                    (1.0 * fullest * nics) * node.nic_bandwidth, fabric.spines);
  if (reader.has("core")) {
    const int groups = fabric.leaf_nodes.empty() ? (cluster.nodes - 1) / fabric.nodes_per_leaf + 1
                                                 : static_cast<int>(fabric.leaf_nodes.size());
    read_core(reader.object("core"), fabric, groups * fabric.rails);
  }
}

const PlausibleRates& rates_between(VertexKind a, VertexKind b) {
  const auto is_one_of = [&](VertexKind kind) { return a == kind || b == kind; };
  if (is_one_of(VertexKind::kPcie) || is_one_of(VertexKind::kCpu)) return kPcieRates;
  if (is_one_of(VertexKind::kGpu)) return is_one_of(VertexKind::kNic) ? kPcieRates : kNvlinkRates;
  return is_one_of(VertexKind::kNic) ? kNicRates : kSwitchRates;
}

std::vector<Vertex> read_side(ObjectReader& reader, const Json& text) {
  const auto side =
      text.is_string() ? parse_vertices(text.get<std::string>(), kMaxCables) : std::nullopt;
  if (!side)
    reader.fail(
        "between",
        fmt::format("must be names such as \"node[0-3]/nic0\", \"gpu[0-7]\", \"leaf[0-1]\", "
                    "\"spine0\", \"core0\" or \"switch0\", found {}",
                    describe(text)));
  return *side;
}

Rates read_cable_rates(ObjectReader& reader, VertexKind a, VertexKind b, double efficiency,
                       const NodeSpec* nics) {
  const bool has_nic = nics != nullptr && (a == VertexKind::kNic || b == VertexKind::kNic);
  if (has_nic && !reader.has("bandwidth") && !reader.has("capacity"))
    return {nics->nic_bandwidth, nics->nic_capacity};
  Rates rates = read_rates(reader, rates_between(a, b));
  if (has_nic && rates.bandwidth > nics->nic_bandwidth)
    reader.fail("bandwidth", fmt::format("{} is more than the {} of the NIC",
                                         describe(reader.value("bandwidth")),
                                         format_bandwidth(nics->nic_bandwidth)));
  if (!reader.has("capacity")) rates.capacity = efficiency * rates.bandwidth;
  return rates;
}

void read_ecmp(ObjectReader& fabric, FabricSpec& spec) {
  const char* const key = "ecmp";
  if (!fabric.has(key)) return;
  if (!fabric.value(key).is_object()) {
    fabric.choice(key, {"even"});
    return;
  }
  ObjectReader reader = fabric.object(key);
  spec.ecmp_seed = static_cast<std::uint32_t>(reader.integer("seed", 0, 2147483647));
  spec.ecmp_flows = static_cast<int>(reader.integer("flows", 1, 1024));
  reader.finish();
}

/// Ends of cables outside the nodes.
void check_ends(ObjectReader& reader, const std::vector<CableSpec>& cables,
                const ClusterSpec& cluster) {
  const char* const key = "links";
  const int nics = cluster.node.nics;
  std::vector<bool> attached(static_cast<std::size_t>(cluster.nodes) *
                             static_cast<std::size_t>(nics));
  for (const CableSpec& cable : cables)
    for (const Vertex& end : {cable.a, cable.b}) {
      if (!is_inside_node(end.kind)) continue;
      if (end.kind != VertexKind::kNic || end.node < 0)
        reader.fail(key, fmt::format("join NICs (such as node0/nic0) and switches, found {}",
                                     to_string(end)));
      if (end.node >= cluster.nodes || end.index >= nics)
        reader.fail(key, fmt::format("name {}, but the cluster has {} nodes of {} NICs",
                                     to_string(end), cluster.nodes, nics));
      attached[static_cast<std::size_t>(end.node) * static_cast<std::size_t>(nics) +
               static_cast<std::size_t>(end.index)] = true;
    }
  const auto missing = std::find(attached.begin(), attached.end(), false);
  if (missing == attached.end()) return;
  const auto at = static_cast<int>(missing - attached.begin());
  reader.fail(key, fmt::format("leave {} without a link",
                               to_string(Vertex{VertexKind::kNic, at / nics, at % nics})));
}

}  // namespace

std::vector<CableSpec> read_cables(ObjectReader& object, const std::string& key, double efficiency,
                                   const NodeSpec* nics) {
  std::vector<CableSpec> cables;
  std::set<std::pair<Vertex, Vertex>> known;
  for (ObjectReader& reader : read_profile_objects(object, key)) {
    const Json& between = reader.value("between");
    if (!between.is_array() || between.size() != 2)
      reader.fail("between", "must be a list of two names, found " + describe(between));
    const std::vector<Vertex> from = read_side(reader, between[0]);
    const std::vector<Vertex> to = read_side(reader, between[1]);
    if (cables.size() + from.size() * to.size() > kMaxCables)
      reader.fail("between", fmt::format("makes more than {} links", kMaxCables));
    const Rates rates = read_cable_rates(reader, from[0].kind, to[0].kind, efficiency, nics);
    reader.finish();
    for (const Vertex& a : from)
      for (const Vertex& b : to) {
        if (a == b) reader.fail("between", "joins " + to_string(a) + " to itself");
        if (!known.insert(std::minmax(a, b)).second)
          reader.fail("between", fmt::format("joins {} and {} a second time; give one link with "
                                             "their bandwidths together",
                                             to_string(a), to_string(b)));
        cables.push_back({a, b, rates.bandwidth, rates.capacity});
      }
  }
  return cables;
}

FabricSpec read_fabric(ObjectReader reader, const ClusterSpec& cluster) {
  FabricSpec fabric;
  // known from the start, so that a missing key is not taken for a misspelling of another
  for (const char* key : {"nodes_per_leaf", "rails", "spines", "leaf_spine_bandwidth",
                          "oversubscription", "core", "transport", "links", "ecmp"})
    reader.allow(key);
  if (reader.has("transport"))
    fabric.efficiency = reader.choice("transport", {"infiniband", "roce"}) == "roce"
                            ? kRocePayload
                            : kInfinibandPayload;
  read_ecmp(reader, fabric);
  if (reader.has("links")) {
    for (const char* key :
         {"nodes_per_leaf", "rails", "spines", "leaf_spine_bandwidth", "oversubscription", "core"})
      if (reader.has(key)) reader.fail(key, "has no effect beside 'links'");
    fabric.cables = read_cables(reader, "links", fabric.efficiency, &cluster.node);
    check_ends(reader, fabric.cables, cluster);
  } else {
    read_levels(reader, cluster, fabric);
  }
  reader.finish();
  return fabric;
}

void drop_overridden_fabric(Json& base, const Json& changes) {
  if (!base.is_object() || !changes.is_object()) return;
  if (changes.contains("links")) {
    base = Json::object();
    return;
  }
  const auto replace = [](Json& old, const Json& by, const char* one, const char* other) {
    if (by.contains(one)) old.erase(other);
    if (by.contains(other)) old.erase(one);
  };
  replace(base, changes, "leaf_spine_bandwidth", "oversubscription");
  if (base.contains("core") && base["core"].is_object() && changes.contains("core") &&
      changes["core"].is_object())
    replace(base["core"], changes["core"], "spine_core_bandwidth", "oversubscription");
}

}  // namespace amsp
