#include "planner/search/sensitivity.h"

#include <algorithm>

namespace amsp {

namespace {

struct Figure {
  const char* what;
  double HardwareScale::*factor;
};
constexpr Figure kFigures[] = {
    {"bandwidth inside nodes", &HardwareScale::intra},
    {"bandwidth between nodes", &HardwareScale::inter},
    {"latency", &HardwareScale::latency},
    {"compute rate", &HardwareScale::compute},
    {"GPU memory", &HardwareScale::memory},
};
constexpr double kChanges[] = {-0.5, -0.25, -0.1, 0.1, 0.25, 0.5};

SensitivityRow row_of(const Figure& figure, double change, const Candidate& winner,
                      const SearchResult& result) {
  SensitivityRow row{figure.what, change, std::nullopt, {}, {}, std::nullopt, false};
  if (result.empty()) return row;
  row.best = result.best().candidate;
  row.time = result.time(result.best());
  row.fastest = result.fastest();
  row.same = *row.best == winner;
  for (const std::size_t i : result.ranking())
    if (result.entries[i].candidate == winner) row.keeping = result.time(result.entries[i]);
  return row;
}

}  // namespace

Sensitivity sensitivity(const PlanningCase& question, const SearchOptions& options,
                        const Runner& runner, const SearchResult& base,
                        const std::function<void(std::size_t, std::size_t)>& begin,
                        const std::function<void(const SensitivityRow&)>& known) {
  Sensitivity result{base.best().candidate, {}, false};
  SearchOptions quiet = options;
  quiet.top = options.objective == Objective::kStepTime ? 1 : 0;
  quiet.baselines = false;
  if (options.objective == Objective::kStepTime) quiet.keep = result.winner;
  const std::size_t count = std::size(kFigures) * std::size(kChanges);
  for (const Figure& figure : kFigures)
    for (const double change : kChanges) {
      begin(result.rows.size() + 1, count);
      HardwareScale scale;
      scale.*figure.factor = 1 + change;
      const bool memory_only = figure.factor == &HardwareScale::memory;
      const SearchResult changed = search(
          question, quiet, runner, [](const Entry&) {}, scale, memory_only ? &base : nullptr);
      if (changed.interrupted) {
        result.interrupted = true;
        return result;
      }
      result.rows.push_back(row_of(figure, change, result.winner, changed));
      known(result.rows.back());
    }
  return result;
}

}  // namespace amsp
