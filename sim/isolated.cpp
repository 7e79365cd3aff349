#include "sim/isolated.h"

#include <optional>
#include <utility>

#include "core/error.h"
#include "core/process_pool.h"

namespace amsp {

std::vector<double> run_isolated(const std::function<std::vector<double>()>& work) {
  Worker worker([&](std::size_t) { return work(); });
  worker.give(0);
  std::optional<JobOutcome> outcome = worker.take();
  if (!outcome) throw InternalError("the simulation's process " + worker.end());
  if (outcome->kind != JobOutcome::Kind::kValues) throw InternalError(outcome->message);
  return std::move(outcome->values);
}

}  // namespace amsp
