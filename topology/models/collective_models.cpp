#include "topology/models/collective_models.h"

#include <fmt/core.h>

#include <cmath>

#include "core/error.h"
#include "core/json/json.h"
#include "core/nearest.h"
#include "core/quantity.h"
#include "topology/nccl/collectives.h"
#include "topology/profile/profile_source.h"
#include "topology/profile/profile_writer.h"

namespace amsp {
namespace {

bool differs(BytesPerSec a, BytesPerSec b) {
  return std::abs(a.value - b.value) > 1e-9 * std::abs(b.value);
}

CollectiveProfile load_profile(const std::string& name) {
  const auto [json, file] = load_profile_json(name);
  return read_collective_profile(json, file);
}

}  // namespace

void check_hardware(const CollectiveProfile& profile, const ClusterSpec& cluster) {
  const ProfileHardware& measured = profile.hardware();
  const NodeSpec& node = cluster.node;
  std::vector<std::string> differences;
  const auto differ = [&](const char* what, const auto& ours, const auto& theirs) {
    differences.push_back(fmt::format("{} is {}, measured with {}", what, ours, theirs));
  };
  if (cluster.gpu.name != measured.gpu) differ("GPU", cluster.gpu.name, measured.gpu);
  if (node.gpus != measured.gpus_per_node)
    differ("GPUs per node", node.gpus, measured.gpus_per_node);
  if (node.nvlink != measured.nvlink)
    differ("NVLink", to_string(node.nvlink), to_string(measured.nvlink));
  if (differs(node.nvlink_bandwidth, measured.nvlink_bandwidth))
    differ("NVLink bandwidth", format_bandwidth(node.nvlink_bandwidth),
           format_bandwidth(measured.nvlink_bandwidth));
  if (node.nics != measured.nics_per_node)
    differ("NICs per node", node.nics, measured.nics_per_node);
  if (differs(node.nic_bandwidth, measured.nic_bandwidth))
    differ("NIC bandwidth", format_bandwidth(node.nic_bandwidth),
           format_bandwidth(measured.nic_bandwidth));
  if (differences.empty()) return;
  throw ConfigError(
      fmt::format("profile '{}' was measured on other hardware than cluster '{}': {}; set "
                  "\"profile\": \"none\" "
                  "to model collectives instead",
                  profile.name(), cluster.name, join(differences, "; ")));
}

bool uses_nccl_model(const ClusterSpec& cluster) {
  const bool is_known = cluster.gpu.architecture != GpuArchitecture::kUnknown;
  return cluster.collectives == CollectivesKind::kNccl ||
         (cluster.collectives == CollectivesKind::kDefault && is_known);
}

std::string collectives_model(const ClusterSpec& cluster) {
  if (!uses_nccl_model(cluster)) return "rings";
  return cluster.nccl.sharp ? "NCCL with SHARP runs them" : "NCCL runs them";
}

std::vector<LinkLoad> EvenBroadcasts::loads(const CollectiveCall& call, int group) const {
  if (call.bytes_by_root.empty()) return model_->loads(call, group);
  const auto [unit, added] = unit_loads_.try_emplace({call.mesh, group});
  if (added) {
    CollectiveCall even = call;
    even.bytes_by_root.assign(call.bytes_by_root.size(), 1_B);
    even.bytes = Bytes{static_cast<std::int64_t>(even.bytes_by_root.size())};
    unit->second = model_->loads(even, group);
  }
  std::vector<LinkLoad> loads = unit->second;
  const double factor =
      static_cast<double>(call.bytes.value) / static_cast<double>(call.bytes_by_root.size());
  for (LinkLoad& load : loads) load.bytes *= factor;
  return loads;
}

std::unique_ptr<CollectiveModel> make_collectives(const ClusterGraph& graph,
                                                  const Placement& placement) {
  const ClusterSpec& cluster = graph.spec();
  if (cluster.profile.empty()) {
    if (cluster.collectives == CollectivesKind::kNccl &&
        cluster.gpu.architecture == GpuArchitecture::kUnknown)
      throw ConfigError(fmt::format(
          "gpu: has no 'architecture', which NCCL's model needs (allowed: volta, ampere, hopper, "
          "blackwell); or set \"collectives\": {{\"model\": \"rings\"}}"));
    if (uses_nccl_model(cluster)) return std::make_unique<NcclCollectives>(graph, placement);
    return std::make_unique<RingCollectives>(graph, placement);
  }
  CollectiveProfile profile = load_profile(cluster.profile);
  check_hardware(profile, cluster);
  return std::make_unique<ProfiledCollectives>(std::move(profile), graph, placement);
}

}  // namespace amsp
