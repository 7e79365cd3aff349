#include "trace_reader/rank_trace.h"

#include <fmt/format.h>

#include <algorithm>

namespace amsp {

const char* to_string(Activity activity) {
  switch (activity) {
    case Activity::kCompute:
      return "compute";
    case Activity::kCommunication:
      return "communication";
    case Activity::kMemory:
      return "memory";
  }
  return "";
}

const char* to_string(Evidence evidence) {
  switch (evidence) {
    case Evidence::kTaskKey:
      return "task key";
    case Evidence::kArguments:
      return "collective arguments";
    case Evidence::kLinkedCall:
      return "linked call";
    case Evidence::kAnnotation:
      return "annotation";
    case Evidence::kName:
      return "kernel name";
    case Evidence::kUserRule:
      return "user's rule";
    case Evidence::kCategory:
      return "category";
    case Evidence::kDefault:
      return "nothing else known";
  }
  return "";
}

const Launch* RankTrace::launch(std::int64_t correlation) const {
  const auto found = std::lower_bound(
      launches.begin(), launches.end(), correlation,
      [](const Launch& launch, std::int64_t id) { return launch.correlation < id; });
  return found == launches.end() || found->correlation != correlation ? nullptr : &*found;
}

std::string RankTrace::label() const {
  return rank ? fmt::format("rank {}", *rank) : file;
}

}  // namespace amsp
