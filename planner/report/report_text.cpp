#include <fmt/format.h>

#include <algorithm>

#include "core/quantity.h"
#include "core/text_lines.h"
#include "core/text_table.h"
#include "planner/report/report.h"
#include "planner/search/ranking.h"

namespace amsp {

double throughput(const TrainingSpec& training, Seconds step_time) {
  return static_cast<double>(training.tokens()) * training.micro_batches / step_time.value;
}

double utilisation(const Scenario& scenario, const TrainingSpec& training, Seconds step_time) {
  return throughput(training, step_time) *
         training_flop_per_token(scenario.model, training.sequence_length).value /
         matrix_peak(scenario).rate.value;
}

namespace {

/// "42", "1,073,741,824", "7.21e+16".
std::string count_text(double count) {
  if (count >= 1e15) return fmt::format("{:.3g}", count);
  std::string text = fmt::format("{:.0f}", count);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string percent(double ratio) {
  return fmt::format("{:.1f} %", 100 * ratio);
}

std::string batch_text(const TrainingSpec& training) {
  return fmt::format("{} x {}{}", training.micro_batches, training.micro_batch,
                     training.recompute == Recompute::kFull ? " r" : "");
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string time_or_dash(const std::optional<Seconds>& time) {
  return time ? format_time(*time) : "-";
}

class SearchText : TextLines {
 public:
  SearchText(const PlanningCase& question, const SearchResult& result, std::size_t top)
      : question_(question), scenario_(question.scenario), result_(result), top_(top) {}

  std::string str() {
    add_head();
    add_space();
    if (result_.empty()) {
      line("nothing to rank");
      return take();
    }
    add_ranking();
    add_disagreement();
    add_baselines();
    return take();
  }

 private:
  void add_head() {
    const ClusterSpec& cluster = scenario_.cluster;
    line("{}", scenario_.name);
    line("  model       {}", scenario_.model.name);
    line("  cluster     {}: {} nodes x {} {}", cluster.name, cluster.nodes, cluster.node.gpus,
         cluster.gpu.name);
    line("  batch       {} sequences of {} tokens on {} GPUs{}, engine {}",
         scenario_.global_batch(), scenario_.training.sequence_length, scenario_.plan.dp.size(),
         result_.axes.recompute || scenario_.training.recompute == Recompute::kNone
             ? ""
             : ", " + recompute_text(scenario_.training),
         scenario_.engine.name);
    line("  objective   {}", result_.objective == Objective::kStepTime
                                 ? "step time, simulated"
                                 : "the paper's T_comm (no compute, overlap or contention)");
  }

  void add_space() {
    std::vector<std::string> removed;
    for (const Removed& rule : result_.space.removed)
      removed.push_back(fmt::format("{} {}", rule.rule, count_text(rule.tuples)));
    line("  meshes      {} of (p, g, os) in dp {}", count_text(result_.space.tuples),
         to_string(result_.space.dp));
    line("              removed: {}", joined(removed));
    const auto run = std::count_if(result_.entries.begin(), result_.entries.end(),
                                   [](const auto& e) { return e.step.step_time.has_value(); });
    line("  plans       {}; with baselines and batches {} candidates, {} simulated{}",
         result_.space.plans.size(), result_.entries.size(), run,
         result_.interrupted ? " until interrupted" : "");
    for (const Rejection& rejection : rejections(result_))
      add(wrapped(rejection.reason, fmt::format("              {} ", rejection.count),
                  std::string(16, ' ')));
    line("");
  }

  /// Place in the other objective's ranking, from 1.
  std::string other_place(std::size_t entry) const {
    const auto& other =
        result_.objective == Objective::kStepTime ? result_.by_comm_time : result_.by_step_time;
    const auto found = std::find(other.begin(), other.end(), entry);
    return found == other.end() ? "-" : std::to_string(found - other.begin() + 1);
  }

  void add_ranking() {
    const bool by_step = result_.objective == Objective::kStepTime;
    const bool batches = result_.axes.micro_batch || result_.axes.recompute;
    std::vector<std::string> header = {"", "p g os"};
    if (batches) header.push_back("M x b");
    for (const char* name :
         {"step", "slower", "MFU", "T_comm", by_step ? "(rank)" : "(step's)", "memory", "known as"})
      header.push_back(name);
    TextTable table(header);
    table.align_left(1);
    table.align_left(header.size() - 1);
    for (std::size_t i = 0; i < std::min(top_, result_.ranking().size()); ++i) {
      const Entry& entry = result_.entries[result_.ranking()[i]];
      const std::optional<Seconds>& step = entry.step.step_time;
      std::vector<std::string> row = {std::to_string(i + 1), meshes_of(entry.candidate.plan)};
      if (batches) row.push_back(batch_text(entry.candidate.training));
      row.push_back(time_or_dash(step));
      row.push_back(percent(result_.slower(entry)));
      row.push_back(step
                        ? fmt::format("{:.1f} %",
                                      100 * utilisation(scenario_, entry.candidate.training, *step))
                        : "-");
      row.push_back(time_or_dash(entry.t_comm));
      row.push_back(other_place(result_.ranking()[i]));
      row.push_back(format_bytes_binary(entry.memory));
      row.push_back(joined(entry.names));
      table.add(std::move(row));
    }
    add(table.str());
    if (batches) line("M x b: micro-batches x sequences; r: full recompute");
    line("slower: than the fastest; {} within {:.0f} % are a tie, which lower memory wins",
         by_step ? "step times" : "T_comm", 100 * kTie);
    if (by_step && result_.ranking().size() > 1) add_bands();
    line("");
  }

  /// How far off predictions may be, and which plans that leaves open.
  void add_bands() {
    const StepCost& best = result_.best().step;
    const auto ties =
        std::count_if(result_.ranking().begin(), result_.ranking().end(), [&](std::size_t entry) {
          return best.among_plans.ties_with(result_.entries[entry].step.among_plans);
        });
    add(wrapped(fmt::format("{} to {} with a chance of 80 %; of {} other plans, whose kernels err "
                            "alike, {} may be as fast: a tie",
                            format_time(best.band.low), format_time(best.band.high),
                            result_.ranking().size() - 1, ties - 1),
                "a step of the first takes ", "  "));
  }

  void add_disagreement() {
    if (result_.by_comm_time.empty() || result_.by_step_time.empty()) return;
    const Entry& by_comm = result_.entries[result_.by_comm_time.front()];
    const Entry& by_step = result_.entries[result_.by_step_time.front()];
    if (by_comm.candidate == by_step.candidate) {
      line("T_comm prefers the same.");
    } else if (by_comm.candidate.plan == by_step.candidate.plan) {
      line("T_comm prefers the same plan, with other micro-batches or recompute.");
    } else if (by_comm.step.step_time && by_step.t_comm) {
      line("T_comm prefers {}: {} where {} has {}; steps of {} and {}.",
           meshes_of(by_comm.candidate.plan), format_time(*by_comm.t_comm),
           meshes_of(by_step.candidate.plan), format_time(*by_step.t_comm),
           format_time(*by_comm.step.step_time), format_time(*by_step.step.step_time));
    }
    line("");
  }

  void add_baselines() {
    TextTable table({"baseline", "p g os", "rank", "step", "slower", "T_comm", "memory", ""});
    table.align_left(1);
    table.align_left(7);
    std::vector<Baseline> all = result_.baselines;
    if (question_.today) all.push_back({"today", scenario_.engine.name, question_.today, ""});
    for (const Baseline& baseline : all) {
      add_baseline(table, baseline);
      for (const OwnEngine& own : result_.own_engines)
        if (own.baseline == baseline.name) add_own_engine(table, own);
    }
    add(table.str());
    for (const Baseline& baseline : all)
      if (!baseline.plan)
        add(wrapped(baseline.why_not, baseline.name + ": ",
                    std::string(baseline.name.size() + 2, ' ')));
  }

  void add_own_engine(TextTable& table, const OwnEngine& own) {
    const bool compared = own.step.step_time && !result_.by_step_time.empty();
    const Entry* best = compared ? &result_.entries[result_.by_step_time.front()] : nullptr;
    table.add({"", "on engine " + own.engine, "", time_or_dash(own.step.step_time),
               compared ? percent(*own.step.step_time / *best->step.step_time - 1) : "-", "",
               format_bytes_binary(own.memory),
               !own.fits                   ? "doesn't fit"
               : !own.step.failure.empty() ? "not timed"
                                           : ""});
  }

  void add_baseline(TextTable& table, const Baseline& baseline) {
    if (!baseline.plan) {
      table.add({baseline.name, "-", "-", "-", "-", "-", "-", "impossible"});
      return;
    }
    const std::string meshes = meshes_of(*baseline.plan);
    if (const auto place = result_.place(*baseline.plan)) {
      const Entry& entry = result_.entries[result_.ranking()[*place]];
      table.add({baseline.name, meshes, std::to_string(*place + 1),
                 time_or_dash(entry.step.step_time), percent(result_.slower(entry)),
                 time_or_dash(entry.t_comm), format_bytes_binary(entry.memory), ""});
      return;
    }
    const auto found =
        std::find_if(result_.entries.begin(), result_.entries.end(),
                     [&](const Entry& e) { return e.candidate.plan == *baseline.plan; });
    table.add({baseline.name, meshes, "-", "-", "-", "-", format_bytes_binary(found->memory),
               !found->obstacle.empty() ? "engine can't"
               : found->fits            ? "not timed"
                                        : "doesn't fit"});
  }

  const PlanningCase& question_;
  const Scenario& scenario_;
  const SearchResult& result_;
  std::size_t top_;
};

}  // namespace

std::vector<Rejection> rejections(const SearchResult& result) {
  Rejection memory, untimed, internal, engine;
  const Entry* nearest = nullptr;
  for (const Entry& entry : result.entries) {
    if (!entry.obstacle.empty()) {
      if (engine.count++ == 0) engine.reason = entry.obstacle;
    } else if (!entry.fits) {
      ++memory.count;
      if (nearest == nullptr || entry.memory < nearest->memory) nearest = &entry;
    } else if (!entry.step.failure.empty()) {
      Rejection& kind = entry.step.internal ? internal : untimed;
      if (kind.count++ == 0) kind.reason = entry.step.failure;
      kind.internal = entry.step.internal;
    }
  }
  std::vector<Rejection> all;
  if (engine.count > 0) {
    engine.reason = "can't be run: " + engine.reason;
    all.push_back(engine);
  }
  if (memory.count > 0) {
    memory.reason = fmt::format(
        "exceed {}, the nearest by {} ({})", format_bytes_binary(result.capacity),
        format_bytes_binary(nearest->memory - result.capacity), meshes_of(nearest->candidate.plan));
    all.push_back(memory);
  }
  if (untimed.count > 0) {
    untimed.reason = "can't be timed: " + untimed.reason;
    all.push_back(untimed);
  }
  if (internal.count > 0) {
    internal.reason = "failed: " + internal.reason;
    all.push_back(internal);
  }
  return all;
}

std::string search_text(const PlanningCase& question, const SearchResult& result, std::size_t top) {
  return SearchText(question, result, top).str();
}

}  // namespace amsp
