#include "topology/collective/ring_walks.h"

#include <algorithm>

namespace amsp {
namespace {

struct Ends {
  int entry;
  int exit;  // == entry where only over_entry is left
};

/// `nics[i]` is the NIC of member i.
std::vector<Ends> ends_of_rings(const std::vector<int>& nics) {
  std::vector<Ends> rings;
  std::vector<std::size_t> singles;  // rings whose NIC has one member only
  for (auto entry = nics.begin(); entry != nics.end(); ++entry) {
    if (std::find(nics.begin(), entry, *entry) != entry) continue;
    const auto other = std::find(entry + 1, nics.end(), *entry);
    if (other == nics.end()) singles.push_back(rings.size());
    const auto exit = other == nics.end() ? entry : other;
    rings.push_back(
        {static_cast<int>(entry - nics.begin()), static_cast<int>(exit - nics.begin())});
  }
  for (std::size_t i = 0; singles.size() > 1 && i < singles.size(); ++i) {
    const std::size_t previous = singles[(i + singles.size() - 1) % singles.size()];
    rings[singles[i]].exit = rings[previous].entry;
  }
  return rings;
}

}  // namespace

std::vector<int> gpus_of_group(const SubMesh& mesh, int first_gpu) {
  std::vector<int> gpus;
  for (int i = 0; i < mesh.shape.intra; ++i) gpus.push_back(first_gpu + i * mesh.stride.intra);
  return gpus;
}

std::vector<int> nics_used(const NodeSpec& node, const SubMesh& mesh, int first_gpu) {
  std::vector<int> nics;
  for (const int gpu : gpus_of_group(mesh, first_gpu)) {
    const int nic = node.nic_of_gpu[index(gpu)];
    if (std::find(nics.begin(), nics.end(), nic) == nics.end()) nics.push_back(nic);
  }
  return nics;
}

std::vector<RingWalk> ring_walks(const NodeSpec& node, const std::vector<int>& gpus) {
  std::vector<int> nics;
  for (const int gpu : gpus) nics.push_back(node.nic_of_gpu[index(gpu)]);
  const int members = static_cast<int>(gpus.size());
  std::vector<RingWalk> walks;
  for (const auto& [entry, exit] : ends_of_rings(nics)) {
    RingWalk walk{{entry}, members > 1 && exit == entry};
    for (int step = 1; step < members; ++step)
      if (const int member = (entry + step) % members; member != exit) walk.order.push_back(member);
    if (exit != entry) walk.order.push_back(exit);
    walks.push_back(std::move(walk));
  }
  return walks;
}

std::vector<RingWalk> walks_back(const NodeSpec& node, const std::vector<int>& gpus,
                                 const std::vector<int>& rails, std::vector<RingWalk> walks) {
  const auto rail = [&](int member) {
    return rails[index(node.nic_of_gpu[index(gpus[index(member)])])];
  };
  for (RingWalk& walk : walks)
    if (!walk.over_entry && rail(walk.order.front()) != rail(walk.order.back()))
      std::reverse(walk.order.begin(), walk.order.end());
  return walks;
}

}  // namespace amsp
