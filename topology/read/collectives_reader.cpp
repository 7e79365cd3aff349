#include "topology/read/collectives_reader.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/json/json.h"
#include "core/nearest.h"
#include "topology/collective/collective.h"
#include "topology/nccl/tuner.h"

namespace amsp {
namespace {

constexpr CollectiveKind kKinds[] = {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                     CollectiveKind::kReduceScatter, CollectiveKind::kBroadcast};

/// A name, or a list of at least one.
std::vector<std::string> read_names(ObjectReader& reader, const std::string& key,
                                    const std::vector<std::string>& known) {
  if (!reader.value(key).is_array()) return {reader.choice(key, known)};
  std::vector<std::string> names;
  for (const Json& entry : reader.value(key)) {
    if (!entry.is_string() || std::find(known.begin(), known.end(), entry) == known.end()) {
      const auto close =
          entry.is_string() ? nearest(entry.get<std::string>(), known) : std::nullopt;
      reader.fail(key, fmt::format("must list some of {}, found {}{}", join(known), describe(entry),
                                   close ? "; did you mean '" + *close + "'?" : ""));
    }
    names.push_back(entry.get<std::string>());
  }
  if (names.empty()) reader.fail(key, "must list at least one of " + join(known));
  return names;
}

template <class Enum, std::size_t size>
std::vector<Enum> by_name(const std::vector<std::string>& names, const Enum (&all)[size]) {
  std::vector<Enum> values;
  for (const std::string& name : names)
    for (const Enum value : all)
      if (name == to_string(value)) values.push_back(value);
  return values;
}

/// The whole cluster, as a layout: what it can't do, no mesh can.
nccl::Layout most_capable(const ClusterSpec& cluster) {
  nccl::Layout layout;
  layout.architecture = cluster.gpu.architecture;
  layout.gpus = cluster.node.gpus;
  layout.nodes = cluster.nodes;
  layout.nics = cluster.node.nics;
  layout.nvlink = cluster.node.nvlink != NvlinkKind::kNone;
  layout.nvswitch = cluster.node.nvlink == NvlinkKind::kSwitch;
  return layout;
}

/// Why no mesh can run it: neither the whole cluster nor its nodes nor one GPU of each.
std::optional<std::string> impossible(CollectiveKind kind, NcclAlgorithm algorithm,
                                      const ClusterSpec& cluster) {
  const nccl::Layout whole = most_capable(cluster);
  nccl::Layout node = whole, rail = whole;
  node.nodes = 1;
  rail.gpus = rail.nics = std::min(1, cluster.node.nics);
  if (rail.gpus == 0) rail = whole;
  const nccl::Choice choice{algorithm, NcclProtocol::kSimple};
  if (!nccl::obstacle(kind, choice, node, cluster.nccl) ||
      !nccl::obstacle(kind, choice, rail, cluster.nccl))
    return std::nullopt;
  return nccl::obstacle(kind, choice, whole, cluster.nccl);
}

void read_forced(ObjectReader& reader, ClusterSpec& cluster) {
  const auto each = [&](const char* key, auto use) {
    if (!reader.has(key)) return;
    ObjectReader operations = reader.object(key);
    for (const CollectiveKind kind : kKinds)
      if (operations.has(to_string(kind))) use(operations, kind);
    operations.finish();
  };
  each("algorithms", [&](ObjectReader& operations, CollectiveKind kind) {
    auto& algorithms = cluster.nccl.algorithms[to_string(kind)];
    algorithms =
        by_name(read_names(operations, to_string(kind), nccl_algorithm_names()), kNcclAlgorithms);
    std::string reasons;
    for (const NcclAlgorithm algorithm : algorithms) {
      const auto why = impossible(kind, algorithm, cluster);
      if (!why) return;
      reasons += fmt::format("{}{} can't run {} here: {}", reasons.empty() ? "" : "; ",
                             to_string(algorithm), to_string(kind), *why);
    }
    operations.fail(to_string(kind), reasons);
  });
  each("protocols", [&](ObjectReader& operations, CollectiveKind kind) {
    cluster.nccl.protocols[to_string(kind)] =
        by_name(read_names(operations, to_string(kind), nccl_protocol_names()), kNcclProtocols);
  });
}

}  // namespace

void default_collectives(ClusterSpec& cluster) {
  // DGX A100 has AMD's CPUs, later DGX have Intel's.
  cluster.nccl.amd_cpu = cluster.gpu.architecture == GpuArchitecture::kAmpere;
}

void read_collectives(ObjectReader reader, ClusterSpec& cluster) {
  constexpr int kMostQps = 128;
  if (!cluster.profile.empty())
    reader.fail(
        fmt::format("has no effect beside profile '{}'; set \"profile\": \"none\" to model "
                    "collectives instead",
                    cluster.profile));
  const bool knows_nccl = cluster.gpu.architecture != GpuArchitecture::kUnknown;
  const std::string model =
      reader.choice_or("model", {"nccl", "rings"}, knows_nccl ? "nccl" : "rings");
  if (model == "nccl" && !knows_nccl)
    reader.fail("model", "nccl needs the GPU's 'architecture' (volta, ampere, hopper, blackwell)");
  cluster.collectives = model == "nccl" ? CollectivesKind::kNccl : CollectivesKind::kRings;
  for (const char* key : {"sharp", "nvls", "cpu", "qps_per_connection", "algorithms", "protocols"})
    if (model == "rings" && reader.has(key))
      reader.fail(key, knows_nccl ? "has no effect with the model rings"
                                  : "needs the model nccl, hence the GPU's 'architecture'");
  NcclSpec& nccl = cluster.nccl;
  nccl.sharp = reader.boolean_or("sharp", false);
  nccl.nvls = reader.boolean_or("nvls", true);
  nccl.amd_cpu = reader.choice_or("cpu", {"intel", "amd"}, nccl.amd_cpu ? "amd" : "intel") == "amd";
  nccl.qps_per_connection =
      static_cast<int>(reader.integer_or("qps_per_connection", 1, kMostQps, 1));
  read_forced(reader, cluster);
  reader.finish();
}

}  // namespace amsp
