#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "core/error.h"
#include "trace_analysis/trace_diff.h"
#include "traces/terms/trace_text.h"

namespace amsp {
namespace {

constexpr int kFirstPid = 100;  // + 2 * number of the rank + side: never a thread's number
constexpr int kFirstThread = 10000;
constexpr int kStepThread = kFirstThread - 1;

/// A line of the trace before it is put in order.
struct Line {
  Nanoseconds ts, duration;
  std::string text;
};

class MergedTrace {
 public:
  MergedTrace(const TraceDiff& diff, const Analysis& a, const Analysis& b)
      : diff_(diff), sides_{&a, &b} {}

  std::string write() {
    std::map<std::size_t, Nanoseconds> origin;  // of the next step, by rank of A
    int number = 0;
    for (const StepPair& pair : diff_.pairs) {
      const auto [found, is_new] = origin_numbers_.try_emplace(pair.rank_a, number);
      number += is_new ? 1 : 0;
      add_pair(pair, found->second, origin[pair.rank_a]);
      const StepWindow& a = sides_[0]->windows[pair.rank_a].steps[pair.step_a];
      const StepWindow& b = sides_[1]->windows[pair.rank_b].steps[pair.step_b];
      origin[pair.rank_a] += std::max(a.end - a.begin, b.end - b.begin);
    }
    std::stable_sort(lines_.begin(), lines_.end(), [](const Line& x, const Line& y) {
      return std::tie(x.ts, y.duration) < std::tie(y.ts, x.duration);
    });
    std::string text =
        "{\"displayTimeUnit\": \"ms\", \"traceName\": \"A against B\", \"traceEvents\": [\n";
    bool first = true;
    for (const auto* list : {&names_, &lines_})
      for (const Line& line : *list) {
        if (!first) text += ",\n";
        first = false;
        text += line.text;
      }
    return text + "\n]}\n";
  }

 private:
  void name(const char* what, int pid, int tid, const std::string& value) {
    names_.push_back(
        {{},
         {},
         fmt::format(R"({{"ph": "M", "name": "{}", "pid": {}, "tid": {}, "args": {{"name": {}}}}})",
                     what, pid, tid, json_string(value))});
  }

  void add_pair(const StepPair& pair, int number, Nanoseconds origin) {
    std::map<int, Nanoseconds> delta[2];
    for (const EventMatch& match : pair.alignment.matches) {
      const Nanoseconds by = duration(1, pair.rank_b, match.b) - duration(0, pair.rank_a, match.a);
      delta[0][match.a] = delta[1][match.b] = by;
      add_lag(pair, match, kFirstPid + 2 * number + 1, origin);
    }
    for (const std::size_t side : {0, 1}) {
      const std::size_t rank = side == 0 ? pair.rank_a : pair.rank_b;
      const std::size_t step = side == 0 ? pair.step_a : pair.step_b;
      add_side(side, rank, step, kFirstPid + 2 * number + static_cast<int>(side), origin,
               delta[side]);
    }
  }

  Nanoseconds duration(std::size_t side, std::size_t rank, int event) const {
    const GpuEvent& gpu = sides_[side]->rank(rank).events[static_cast<std::size_t>(event)];
    return gpu.end - gpu.start;
  }

  /// How much later than in A the event ends in B, within its step.
  void add_lag(const StepPair& pair, const EventMatch& match, int pid, Nanoseconds origin) {
    const StepWindow& window_a = sides_[0]->windows[pair.rank_a].steps[pair.step_a];
    const StepWindow& window_b = sides_[1]->windows[pair.rank_b].steps[pair.step_b];
    const GpuEvent& a = sides_[0]->rank(pair.rank_a).events[static_cast<std::size_t>(match.a)];
    const GpuEvent& b = sides_[1]->rank(pair.rank_b).events[static_cast<std::size_t>(match.b)];
    if (b.end < window_b.begin || b.end > window_b.end) return;
    const Nanoseconds ts = origin + b.end - window_b.begin;
    const Nanoseconds lag = (b.end - window_b.begin) - (a.end - window_a.begin);
    lines_.push_back(
        {ts,
         {},
         fmt::format(
             R"({{"ph": "C", "name": "B behind A", "pid": {}, "ts": {}, "args": {{"us": {}{}}}}})",
             pid, format_us(ts), lag < 0_ns ? "-" : "", format_us(abs(lag)))});
  }

  void add_side(std::size_t side, std::size_t rank, std::size_t step, int pid, Nanoseconds origin,
                const std::map<int, Nanoseconds>& delta) {
    const RankTrace& trace = sides_[side]->rank(rank);
    const StepWindow& window = sides_[side]->windows[rank].steps[step];
    Process& process = processes_[pid];
    if (process.lanes.empty()) {
      name("process_name", pid, kStepThread,
           fmt::format("{} {}", side == 0 ? "A" : "B", trace.label()));
      name("thread_name", pid, kStepThread, "steps");
    }
    lines_.push_back(
        {origin, window.end - window.begin,
         fmt::format(
             R"({{"ph": "X", "cat": "user_annotation", "name": "step {}", "pid": {}, "tid": {}, "ts": {}, "dur": {}}})",
             window.number, pid, kStepThread, format_us(origin),
             format_us(window.end - window.begin))});
    for (std::size_t i = 0; i < trace.events.size() && trace.events[i].start < window.end; ++i) {
      const GpuEvent& event = trace.events[i];
      const Nanoseconds from = std::max(event.start, window.begin);
      const Nanoseconds to = std::min(event.end, window.end);
      if (from >= to) continue;
      const Nanoseconds ts = origin + from - window.begin;
      const int tid = lane(process, pid, event.stream, ts, ts + to - from);
      const auto found = delta.find(static_cast<int>(i));
      const std::string args =
          found == delta.end() ? std::string(R"("match": "none")")
                               : fmt::format(R"("delta_us": {}{})", found->second < 0_ns ? "-" : "",
                                             format_us(abs(found->second)));
      lines_.push_back(
          {ts, to - from,
           fmt::format(
               R"({{"ph": "X", "cat": "kernel", "name": {}, "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{"stream": {}, {}}}}})",
               json_string(describe_event(trace, static_cast<int>(i))), pid, tid, format_us(ts),
               format_us(to - from), event.stream, args)});
    }
  }

  /// Threads of one process: a stream has as many as its kernels overlap.
  struct Process {
    std::map<std::int64_t, std::vector<std::pair<int, Nanoseconds>>> lanes;  // tid, busy until
    int threads = 0;
  };

  int lane(Process& process, int pid, std::int64_t stream, Nanoseconds from, Nanoseconds to) {
    auto& lanes = process.lanes[stream];
    for (auto& [tid, until] : lanes)
      if (until <= from) {
        until = to;
        return tid;
      }
    const int tid = kFirstThread + process.threads++;
    name("thread_name", pid, tid,
         fmt::format("stream {}{}", stream, lanes.empty() ? "" : " (overlapping)"));
    lanes.emplace_back(tid, to);
    return tid;
  }

  const TraceDiff& diff_;
  const Analysis* sides_[2];
  std::map<std::size_t, int> origin_numbers_;
  std::map<int, Process> processes_;
  std::vector<Line> names_, lines_;
};

}  // namespace

std::string merged_trace(const TraceDiff& diff, const Analysis& a, const Analysis& b) {
  AMSP_CHECK(diff.pairs.size() < (kFirstThread - kFirstPid) / 2U, "{} steps are too many to merge",
             diff.pairs.size());
  return MergedTrace(diff, a, b).write();
}

}  // namespace amsp
