#include "training/training.h"

#include <fmt/core.h>

namespace amsp {

std::string recompute_text(const TrainingSpec& training) {
  if (training.recompute == Recompute::kNone) return "";
  if (training.recompute_share == 1) return "full recompute";
  return fmt::format("recompute of {:.3g} % of the layers", 100 * training.recompute_share);
}

}  // namespace amsp
