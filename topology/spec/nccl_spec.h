#pragma once

#include <map>
#include <string>
#include <vector>

namespace amsp {

/// The algorithms of NCCL 2.28 for collectives.
enum class NcclAlgorithm {
  kRing,           // every collective
  kTree,           // double binary tree over nodes, chains inside; all-reduce
  kNvls,           // NVSwitch reduces and multicasts; over nodes with SHARP
  kNvlsTree,       // NVSwitch inside, double binary tree over nodes; all-reduce
  kCollNetDirect,  // SHARP between nodes, direct exchange inside
  kCollNetChain,   // SHARP between nodes, chains inside; all-reduce
  kPat,            // parallel aggregated trees; all-gather and reduce-scatter, 1 GPU per node
};
inline constexpr NcclAlgorithm kNcclAlgorithms[] = {
    NcclAlgorithm::kRing,     NcclAlgorithm::kTree,          NcclAlgorithm::kNvls,
    NcclAlgorithm::kNvlsTree, NcclAlgorithm::kCollNetDirect, NcclAlgorithm::kCollNetChain,
    NcclAlgorithm::kPat};
/// "ring", "tree", "nvls", "nvls_tree", "collnet_direct", "collnet_chain", "pat".
const char* to_string(NcclAlgorithm algorithm);

/// How a channel moves data: 8-byte stores with a flag each (half of the bytes are data), 128-byte
/// stores with one flag (120 of 128), or chunks with a separate signal.
enum class NcclProtocol { kLl, kLl128, kSimple };
inline constexpr NcclProtocol kNcclProtocols[] = {NcclProtocol::kLl, NcclProtocol::kLl128,
                                                  NcclProtocol::kSimple};
/// "ll", "ll128", "simple".
const char* to_string(NcclProtocol protocol);

std::vector<std::string> nccl_algorithm_names();
std::vector<std::string> nccl_protocol_names();

/// Generations of GPU that NCCL tells apart.
enum class GpuArchitecture { kUnknown, kVolta, kAmpere, kHopper, kBlackwell };
/// "unknown", "volta", "ampere", "hopper", "blackwell".
const char* to_string(GpuArchitecture architecture);

/// What NCCL is told, beside what it finds (cluster key "collectives").
struct NcclSpec {
  bool sharp = false;  // NCCL_COLLNET_ENABLE=1, the plugin, and switches that reduce
  bool nvls = true;    // NCCL_NVLS_ENABLE
  bool amd_cpu = false;
  int qps_per_connection = 1;  // NCCL_IB_QPS_PER_CONNECTION
  /// What is allowed by operation ("all_reduce"), as NCCL_ALGO and NCCL_PROTO do; absent: all.
  std::map<std::string, std::vector<NcclAlgorithm>> algorithms;
  std::map<std::string, std::vector<NcclProtocol>> protocols;

  bool operator==(const NcclSpec&) const = default;
};

}  // namespace amsp
