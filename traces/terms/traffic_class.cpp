#include "traces/terms/traffic_class.h"

namespace amsp {

std::string traffic_class(std::string_view phase, std::string_view op) {
  if (op == "all_gather") {
    const bool update = phase == "update" || phase == "opt";
    return update ? "param_update" : "param_gather";
  }
  if (op == "reduce_scatter") return phase == "grad_sync" ? "grad_reduce" : "grad_scatter";
  if (op == "all_reduce") return phase == "opt" ? "grad_norm" : "grad_reduce";
  if (op == "broadcast") return "param_update";
  return "";
}

}  // namespace amsp
