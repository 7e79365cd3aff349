#include "trace_analysis/analyse.h"

#include <algorithm>

#include "core/error.h"
#include "trace_reader/name_rules.h"

namespace amsp {
namespace {

std::vector<NameTime> by_time(const std::map<std::string, NameTime>& names) {
  std::vector<NameTime> list;
  list.reserve(names.size());
  for (const auto& [name, entry] : names) list.push_back(entry);
  std::stable_sort(list.begin(), list.end(),
                   [](const NameTime& a, const NameTime& b) { return a.time > b.time; });
  return list;
}

void add(std::map<std::string, NameTime>& names, const std::string& name, Nanoseconds time) {
  NameTime& entry = names[name];
  entry.name = name;
  ++entry.calls;
  entry.time += time;
}

}  // namespace

StepParts Analysis::sum(std::size_t rank) const {
  StepParts total;
  for (const StepParts& step : parts[rank]) total += step;
  return total;
}

Analysis analyse(TraceSet set, WindowChoice choice) {
  if (std::all_of(set.ranks.begin(), set.ranks.end(),
                  [](const RankTrace& trace) { return trace.events.empty(); }))
    throw ConfigError(set.files.front().path +
                      ": has no GPU events (kernel, gpu_memcpy, gpu_memset): nothing to analyse");
  Analysis analysis;
  analysis.set = std::move(set);
  for (const RankTrace& trace : analysis.set.ranks) {
    const auto file = std::find_if(analysis.set.files.begin(), analysis.set.files.end(),
                                   [&](const FileReport& f) { return f.path == trace.file; });
    const bool floor = file != analysis.set.files.end() && file->floor;
    analysis.windows.push_back(step_windows(trace, choice, floor));
  }
  analysis.joins = join_collectives(analysis.set.ranks, analysis.windows);
  for (std::size_t rank = 0; rank < analysis.ranks(); ++rank) {
    std::vector<StepParts>& steps = analysis.parts.emplace_back();
    for (const StepWindow& window : analysis.windows[rank].steps)
      steps.push_back(
          step_parts(analysis.set.ranks, analysis.joins, static_cast<int>(rank), window));
  }
  return analysis;
}

Classification classification(const Analysis& analysis) {
  Classification result;
  std::map<std::string, NameTime> by_name, unclassified;
  for (const RankTrace& trace : analysis.set.ranks) {
    std::map<std::int32_t, bool> smells;
    for (const GpuEvent& event : trace.events) {
      const Nanoseconds time = event.end - event.start;
      const std::string& name = trace.text(event.name);
      if (event.activity == Activity::kCommunication) {
        result.communication[event.evidence] += time;
        const bool by_rule =
            event.evidence == Evidence::kName || event.evidence == Evidence::kUserRule;
        if (by_rule && !name.starts_with("nccl")) add(by_name, name, time);
      } else if (event.evidence == Evidence::kDefault) {
        const auto [known, is_new] = smells.try_emplace(event.name, false);
        if (is_new) known->second = smells_of_communication(name);
        if (known->second) add(unclassified, name, time);
      }
    }
  }
  result.by_name = by_time(by_name);
  result.unclassified = by_time(unclassified);
  return result;
}

std::vector<Straggler> stragglers(const Analysis& analysis) {
  std::vector<Straggler> result;
  for (std::size_t rank = 0; rank < analysis.ranks(); ++rank)
    result.push_back({static_cast<int>(rank), 0, {}});
  const Joins& joins = analysis.joins;
  for (const Join& join : joins.joins) {
    const Join::Member& last = join.members[static_cast<std::size_t>(join.last)];
    const auto clock = [&](int rank) -> const ClockEstimate& {
      return joins.clocks[static_cast<std::size_t>(rank)];
    };
    Nanoseconds waited;
    for (const Join::Member& member : join.members) {
      const Nanoseconds start = analysis.rank(static_cast<std::size_t>(member.rank))
                                    .events[static_cast<std::size_t>(member.event)]
                                    .start -
                                clock(member.rank).offset;
      const Nanoseconds wait = join.joined - start;
      if (wait > clock(member.rank).spread + clock(last.rank).spread) waited += wait;
    }
    if (waited == 0_ns) continue;
    ++result[static_cast<std::size_t>(last.rank)].last;
    result[static_cast<std::size_t>(last.rank)].others_waited += waited;
  }
  return result;
}

}  // namespace amsp
