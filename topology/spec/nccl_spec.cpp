#include "topology/spec/nccl_spec.h"

#include "core/error.h"

namespace amsp {

const char* to_string(NcclAlgorithm algorithm) {
  switch (algorithm) {
    case NcclAlgorithm::kRing:
      return "ring";
    case NcclAlgorithm::kTree:
      return "tree";
    case NcclAlgorithm::kNvls:
      return "nvls";
    case NcclAlgorithm::kNvlsTree:
      return "nvls_tree";
    case NcclAlgorithm::kCollNetDirect:
      return "collnet_direct";
    case NcclAlgorithm::kCollNetChain:
      return "collnet_chain";
    case NcclAlgorithm::kPat:
      return "pat";
  }
  throw InternalError("an NcclAlgorithm outside its enumeration");
}

const char* to_string(NcclProtocol protocol) {
  switch (protocol) {
    case NcclProtocol::kLl:
      return "ll";
    case NcclProtocol::kLl128:
      return "ll128";
    case NcclProtocol::kSimple:
      return "simple";
  }
  throw InternalError("an NcclProtocol outside its enumeration");
}

const char* to_string(GpuArchitecture architecture) {
  switch (architecture) {
    case GpuArchitecture::kUnknown:
      return "unknown";
    case GpuArchitecture::kVolta:
      return "volta";
    case GpuArchitecture::kAmpere:
      return "ampere";
    case GpuArchitecture::kHopper:
      return "hopper";
    case GpuArchitecture::kBlackwell:
      return "blackwell";
  }
  throw InternalError("a GpuArchitecture outside its enumeration");
}

std::vector<std::string> nccl_algorithm_names() {
  std::vector<std::string> names;
  for (const NcclAlgorithm algorithm : kNcclAlgorithms) names.emplace_back(to_string(algorithm));
  return names;
}

std::vector<std::string> nccl_protocol_names() {
  std::vector<std::string> names;
  for (const NcclProtocol protocol : kNcclProtocols) names.emplace_back(to_string(protocol));
  return names;
}

}  // namespace amsp
