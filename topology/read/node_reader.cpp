#include "topology/read/node_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/json/json.h"
#include "core/quantity.h"
#include "topology/read/fabric_reader.h"
#include "topology/read/nccl_topology.h"
#include "topology/read/rate_reader.h"
#include "topology/spec/node_cables.h"

namespace amsp {
namespace {

constexpr int kMaxGpus = 1024;

void read_nvlink(ObjectReader reader, NodeSpec& node) {
  const std::string kind = reader.choice("kind", {"switch", "direct", "none"});
  node.nvlink = kind == "switch"   ? NvlinkKind::kSwitch
                : kind == "direct" ? NvlinkKind::kDirect
                                   : NvlinkKind::kNone;
  node.nvswitches = 0;
  if (node.nvlink == NvlinkKind::kSwitch)
    node.nvswitches = static_cast<int>(reader.integer("switches", 1, 256));
  if (node.nvlink != NvlinkKind::kNone) {
    const Rates rates = read_rates(reader, kNvlinkRates);
    node.nvlink_bandwidth = rates.bandwidth;
    node.nvlink_capacity = rates.capacity;
  }
  reader.finish();
}

void read_pcie(ObjectReader reader, NodeSpec& node) {
  const Rates rates = read_rates(reader, kPcieRates);
  node.pcie_bandwidth = rates.bandwidth;
  node.pcie_capacity = rates.capacity;
  reader.finish();
}

std::vector<int> spread_evenly(int gpus, int nics) {
  std::vector<int> affinity(static_cast<std::size_t>(gpus));
  for (int gpu = 0; gpu < gpus; ++gpu) affinity[static_cast<std::size_t>(gpu)] = gpu * nics / gpus;
  return affinity;
}

std::vector<int> read_affinity(ObjectReader& reader, int gpus, int nics) {
  const char* const key = "gpu_affinity";
  const Json& list = reader.value(key);
  if (!list.is_array())
    reader.fail(key, "must be a list with the NIC of every GPU, found " + describe(list));
  if (list.size() != static_cast<std::size_t>(gpus))
    reader.fail(key,
                fmt::format("must have one entry for each of {} GPUs, has {}", gpus, list.size()));
  std::vector<int> affinity;
  for (std::size_t gpu = 0; gpu < list.size(); ++gpu) {
    const Json& nic = list[gpu];
    if (!nic.is_number_integer() || nic < 0 || nic >= nics)
      reader.fail(key, fmt::format("entry {} must be a whole number from 0 to {}, found {}", gpu,
                                   nics - 1, describe(nic)));
    affinity.push_back(nic.get<int>());
  }
  for (int nic = 0; nic < nics; ++nic)
    if (std::find(affinity.begin(), affinity.end(), nic) == affinity.end())
      reader.fail(key, fmt::format("no GPU uses NIC {}; leave out NICs that carry nothing", nic));
  return affinity;
}

/// A NIC faster than its slot would be a figure that can never be reached.
void check_slot(ObjectReader& nics, const NodeSpec& node) {
  if (node.nic_capacity <= node.pcie_capacity) return;
  const char* const key = nics.has("capacity") ? "capacity" : "bandwidth";
  const Json& text = nics.value(key);
  const PlausibleRates fitting{"", {0}, node.pcie_capacity};
  const std::string guess = did_you_mean_rate(text.get<std::string>(), fitting);
  nics.fail(key, fmt::format("{} is more than the {} that a NIC's PCIe slot carries{}",
                             describe(text), format_bandwidth(node.pcie_capacity),
                             guess.empty() ? "; give what fits as 'capacity'" : guess));
}

void read_nics(ObjectReader reader, NodeSpec& node) {
  node.nics = static_cast<int>(reader.integer("count", 1, kMaxGpus));
  if (node.nics > node.gpus)
    reader.fail("count", fmt::format("{} NICs for {} GPUs: a GPU uses one NIC, the others would "
                                     "carry nothing; describe the NICs of a GPU as a single one",
                                     node.nics, node.gpus));
  const Rates rates = read_rates(reader, kNicRates);
  node.nic_bandwidth = rates.bandwidth;
  node.nic_capacity = rates.capacity;
  if (node.pcie_capacity.value > 0) check_slot(reader, node);
  node.nic_of_gpu = reader.has("gpu_affinity") ? read_affinity(reader, node.gpus, node.nics)
                                               : spread_evenly(node.gpus, node.nics);
  reader.finish();
}

void read_links(ObjectReader& reader, NodeSpec& node) {
  for (const char* key : {"nvlink", "pcie"})
    if (reader.has(key)) reader.fail(key, "has no effect beside 'links'");
  node.cables = read_cables(reader, "links", 1, nullptr);
  if (const std::string rule = describe_by_cables(node); !rule.empty()) reader.fail("links", rule);
}

NodeSpec read_parts(ObjectReader& reader, int nodes) {
  NodeSpec node;
  node.gpus = static_cast<int>(reader.integer("gpus", 1, kMaxGpus));
  const bool by_links = reader.has("links"), has_nics = reader.has("nics");
  if (!by_links) read_nvlink(reader.object("nvlink"), node);
  if (!has_nics && nodes > 1)
    reader.fail("nics", fmt::format("is missing; {} nodes have no other way to talk", nodes));
  if (!by_links && (reader.has("pcie") || has_nics || node.nvlink == NvlinkKind::kNone))
    read_pcie(reader.object("pcie"), node);
  if (has_nics) read_nics(reader.object("nics"), node);
  if (by_links) read_links(reader, node);
  return node;
}

NodeSpec read_dump(ObjectReader& reader, const std::string& folder) {
  const char* const key = "nccl_topology";
  for (const char* other : {"gpus", "nvlink", "pcie", "nics", "links"})
    if (reader.has(other)) reader.fail(other, "has no effect beside 'nccl_topology'");
  const std::string path = (std::filesystem::path(folder) / reader.string(key)).string();
  try {
    return read_nccl_topology(read_file(path), path);
  } catch (const ConfigError& error) {
    reader.fail(key, error.what());
  }
}

}  // namespace

NodeSpec read_node(ObjectReader reader, int nodes, const GpuSpec& gpu, const std::string& folder) {
  for (const char* key : {"gpus", "nvlink", "pcie", "nics", "comm_sms", "links", "nccl_topology"})
    reader.allow(key);
  NodeSpec node =
      reader.has("nccl_topology") ? read_dump(reader, folder) : read_parts(reader, nodes);
  if (node.nics == 0 && nodes > 1)
    reader.fail("nccl_topology",
                fmt::format("has no NICs; {} nodes have no other way to talk", nodes));
  ObjectReader comm_sms = reader.object("comm_sms");
  node.comm_sms_intra = static_cast<int>(comm_sms.integer("intra", 0, gpu.sms - 1));
  if (comm_sms.has("inter") || node.nics > 0)
    node.comm_sms_inter = static_cast<int>(comm_sms.integer("inter", 0, gpu.sms - 1));
  comm_sms.finish();
  reader.finish();
  return node;
}

}  // namespace amsp
