#include "trace_analysis/trace_path.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace amsp {
namespace {

struct Visit {
  int rank, event;
  bool inferred;
};

/// One rank's events, prepared for looking back.
class RankIndex {
 public:
  explicit RankIndex(const RankTrace& trace) : trace_(trace) {
    std::map<std::int64_t, int> last;  // by stream
    previous_.resize(trace.events.size(), -1);
    std::vector<int> order(trace.events.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    if (trace.own_schema)
      std::stable_sort(order.begin(), order.end(),
                       [&](int a, int b) { return event(a).correlation < event(b).correlation; });
    for (const int i : order) {
      const auto [found, is_new] = last.try_emplace(event(i).stream, i);
      if (!is_new) previous_[static_cast<std::size_t>(i)] = std::exchange(found->second, i);
      by_correlation_.try_emplace(event(i).correlation, i);
    }
    by_end_ = order;
    std::stable_sort(by_end_.begin(), by_end_.end(), [&](int a, int b) {
      return std::pair(event(a).end, a) < std::pair(event(b).end, b);
    });
  }

  const GpuEvent& event(int i) const { return trace_.events[static_cast<std::size_t>(i)]; }
  int previous_on_stream(int i) const { return previous_[static_cast<std::size_t>(i)]; }
  int by_correlation(std::int64_t id) const {
    const auto found = by_correlation_.find(id);
    return found == by_correlation_.end() ? -1 : found->second;
  }
  /// The event that ends last at or before `time`, but for `except`; -1 if there is none. Of
  /// several the first of the task graph.
  int last_before(Nanoseconds time, int except) const {
    auto after = std::upper_bound(by_end_.begin(), by_end_.end(), time,
                                  [&](Nanoseconds t, int i) { return t < event(i).end; });
    int best = -1;
    while (after != by_end_.begin()) {
      const int i = *--after;
      if (best >= 0 && event(i).end < event(best).end) break;
      if (i != except && event(i).start < event(i).end) best = i;
    }
    return best;
  }

 private:
  const RankTrace& trace_;
  std::vector<int> previous_, by_end_;
  std::unordered_map<std::int64_t, int> by_correlation_;
};

class PathWalk {
 public:
  PathWalk(const Analysis& analysis, std::size_t step) : analysis_(analysis), step_(step) {
    for (const RankTrace& trace : analysis.set.ranks) index_.emplace_back(trace);
  }

  std::vector<PathPiece> run() {
    const auto [rank, end] = find_end();
    if (rank < 0) return {};
    cursor_ = end;
    const int event = index(rank).last_before(end + offset(rank), -1);
    Visit visit{rank, event, false};
    std::size_t left = 1;  // a trace may claim that events wait for each other in a circle
    for (const RankTrace& trace : analysis_.set.ranks) left += trace.events.size();
    while (cursor_ > begin_ && visit.event >= 0 && left-- > 0) visit = take(visit);
    cover(begin_, rank_of_last_, -1, "idle", true);
    std::reverse(path_.begin(), path_.end());
    return std::move(path_);
  }

 private:
  const RankIndex& index(int rank) const { return index_[static_cast<std::size_t>(rank)]; }
  const RankTrace& trace(int rank) const { return analysis_.rank(static_cast<std::size_t>(rank)); }
  Nanoseconds offset(int rank) const {
    return analysis_.joins.clocks[static_cast<std::size_t>(rank)].offset;
  }

  /// Last rank to end, its end, and begin_: the latest begin, as ranks start together.
  std::pair<int, Nanoseconds> find_end() {
    int last = -1;
    Nanoseconds end;
    for (std::size_t i = 0; i < analysis_.ranks(); ++i) {
      if (analysis_.windows[i].steps.size() <= step_) continue;
      const StepWindow& window = analysis_.windows[i].steps[step_];
      const int rank = static_cast<int>(i);
      if (last < 0 || window.begin - offset(rank) > begin_) begin_ = window.begin - offset(rank);
      if (last < 0 || window.end - offset(rank) > end) {
        end = window.end - offset(rank);
        last = rank;
      }
    }
    rank_of_last_ = last;
    return {last, end};
  }

  /// Covers the event and the gap before it; returns what it waited for.
  Visit take(const Visit& visit) {
    const RankTrace& own = trace(visit.rank);
    const GpuEvent& event = index(visit.rank).event(visit.event);
    rank_of_last_ = visit.rank;
    cover_gap(visit, event.end - offset(visit.rank));
    Nanoseconds start = event.start - offset(visit.rank);
    Visit from = visit;  // whose arrival counts
    std::string kind = to_string(event.activity);
    if (event.activity == Activity::kCommunication) {
      kind = own.collective(event)->kind;
      start += waiting_time(analysis_.set.ranks, analysis_.joins, visit.rank, visit.event)
                   .value_or(0_ns);
      from = last_member(visit);
    }
    cover(start, visit.rank, visit.event, kind, visit.inferred);
    next_ = from;
    return predecessor(from);
  }

  Visit last_member(const Visit& visit) const {
    const int join = analysis_.joins.join_of_event[static_cast<std::size_t>(visit.rank)]
                                                  [static_cast<std::size_t>(visit.event)];
    if (join < 0) return visit;
    const Join& whole = analysis_.joins.joins[static_cast<std::size_t>(join)];
    const Join::Member& last = whole.members[static_cast<std::size_t>(whole.last)];
    return {last.rank, last.event, visit.inferred};
  }

  Visit predecessor(const Visit& visit) const {
    const RankIndex& events = index(visit.rank);
    const RankTrace& own = trace(visit.rank);
    const GpuEvent& event = events.event(visit.event);
    int best = -1;
    const auto consider = [&](int other) {
      if (other < 0 || other == visit.event) return;
      const GpuEvent& candidate = events.event(other);
      const bool rounded = candidate.end == event.start + 1_ns && candidate.start < event.start;
      if (candidate.end > event.start && !rounded) return;
      if (best >= 0) {
        const GpuEvent& so_far = events.event(best);
        if (candidate.end < so_far.end) return;
        if (candidate.end == so_far.end && candidate.correlation >= so_far.correlation) return;
      }
      best = other;
    };
    consider(events.previous_on_stream(visit.event));
    if (event.deps >= 0) {
      for (const std::int64_t id : own.deps[static_cast<std::size_t>(event.deps)])
        consider(events.by_correlation(id));
      if (best >= 0) return {visit.rank, best, false};
    }
    const int on_stream = best;
    consider(events.last_before(event.start, visit.event));
    return {visit.rank, best, best != on_stream};
  }

  /// The time between the end of what comes before and the start of what was taken last.
  void cover_gap(const Visit& visit, Nanoseconds end) {
    if (end >= cursor_) return;
    if (next_.event >= 0 && !trace(next_.rank).simulated) {
      const GpuEvent& next = index(next_.rank).event(next_.event);
      const Launch* launch =
          next.correlation < 0 ? nullptr : trace(next_.rank).launch(next.correlation);
      if (launch != nullptr && launch->start - offset(next_.rank) > end) {
        cover(launch->start - offset(next_.rank), next_.rank, -1, "launch", true);
        cover(end, next_.rank, -1, "host", true);
        return;
      }
    }
    cover(end, visit.rank, -1, "idle", true);
  }

  void cover(Nanoseconds start, int rank, int event, const std::string& kind, bool inferred) {
    start = std::max(start, begin_);
    if (start >= cursor_) return;
    std::string layer = "-";
    if (event >= 0) layer = trace(rank).text_or(index(rank).event(event).layer, "-");
    path_.push_back({rank, event, start, cursor_, kind, layer, inferred});
    cursor_ = start;
  }

  const Analysis& analysis_;
  std::size_t step_;
  std::vector<RankIndex> index_;
  Nanoseconds begin_, cursor_;
  Visit next_{-1, -1, false};  // what was taken before; it comes later in time
  int rank_of_last_ = 0;
  std::vector<PathPiece> path_;  // latest first
};

}  // namespace

std::vector<PathPiece> trace_path(const Analysis& analysis, std::size_t step) {
  return PathWalk(analysis, step).run();
}

std::map<std::string, Nanoseconds> path_by_kind(const std::vector<PathPiece>& path) {
  std::map<std::string, Nanoseconds> sums;
  for (const PathPiece& piece : path) sums[piece.kind] += piece.end - piece.start;
  return sums;
}

std::map<std::string, Nanoseconds> path_by_layer(const std::vector<PathPiece>& path) {
  std::map<std::string, Nanoseconds> sums;
  for (const PathPiece& piece : path) sums[piece.layer] += piece.end - piece.start;
  return sums;
}

}  // namespace amsp
