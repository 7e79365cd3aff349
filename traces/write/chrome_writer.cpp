#include "traces/write/chrome_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "core/error.h"
#include "traces/terms/trace_text.h"
#include "traces/write/kernel_text.h"
#include "traces/write/process_groups.h"
#include "traces/write/trace_layout.h"

namespace amsp {
namespace {

constexpr std::int64_t kGpuPids = 10000;
constexpr std::int64_t kHostPids = 20000;
constexpr int kHostThread = 1;

/// What tasks launched.
class LaunchedText {
 public:
  LaunchedText(const Timeline& timeline, const TracedKernels& kernels) : kernels_(kernels) {
    for (const auto& [rank, tasks] : kernels)
      for (const TraceEvent& event : all_events(timeline, rank))
        starts_[{rank, event.task}] = event.start;
  }

  /// `, "kernels": [...]`, or nothing.
  std::string text(Rank rank, TaskId task) const {
    const auto found = kernels_.find(rank);
    if (found == kernels_.end() || found->second.at(index(task)).empty()) return "";
    const Nanoseconds start = starts_.at({rank, task});
    std::string text;
    for (const TracedKernel& kernel : found->second[index(task)])
      text += fmt::format(R"({}{{"kernel": {}, "after_ns": {}, "dur_ns": {}}})",
                          text.empty() ? R"(, "kernels": [)" : ", ", json_string(kernel.name),
                          (kernel.start - start).value, kernel.duration.value);
    return text + "]";
  }

 private:
  const TracedKernels& kernels_;
  std::map<std::pair<Rank, TaskId>, Nanoseconds> starts_;
};

class TraceText {
 public:
  TraceText(const Timeline& timeline, std::vector<Rank> ranks, const TraceMeta& meta,
            const TracedKernels& launched)
      : timeline_(timeline),
        graph_(timeline.graph()),
        ranks_(std::move(ranks)),
        meta_(meta),
        groups_(graph_),
        kernels_(graph_, groups_),
        launched_(timeline, launched),
        host_pids_(std::max(kHostPids, kGpuPids + graph_.dp.size())) {}

  std::string write() {
    add_header();
    for (const Rank rank : ranks_) name_tracks(rank);
    for (const Slice& slice : lay_out(timeline_, ranks_)) add_slice(slice);
    text_ += fmt::format("\n],\n\"traceName\": {}\n}}\n", json_string(meta_.title));
    return std::move(text_);
  }

 private:
  template <class... Args>
  void append(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  void add_header() {
    append("{{\n\"schemaVersion\": 1,\n\"deviceProperties\": [");
    for (int device = 0; device < graph_.dp.intra; ++device)
      append("{}\n{{\"id\": {}, \"name\": {}, \"totalGlobalMem\": {}, \"numSms\": {}}}",
             device == 0 ? "" : ",", device, json_string(meta_.device_name),
             meta_.device_memory_bytes, meta_.device_sms);
    append("\n],\n\"distributedInfo\": {{\"backend\": {}, ", json_string(meta_.backend));
    if (ranks_.size() == 1)
      append("\"rank\": {}, ", ranks_.front());
    else
      append("\"ranks\": [{}], ", fmt::join(ranks_, ", "));
    add_process_groups();
    append(
        "\"metadata\": {{\"producer\": {}, \"source\": {}, \"config_hash\": {}, \"clock\": {}, "
        "\"offset_ns\": {}, \"offset_unc_ns\": {}, \"semantic_schema\": 1}},\n"
        "\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": 0,\n\"traceEvents\": [",
        json_string(meta_.producer), json_string(meta_.source), json_string(meta_.config_hash),
        json_string(meta_.clock), meta_.clock_offset.value, meta_.clock_uncertainty.value);
  }

  /// Closes distributedInfo; it stays on one line, as its readers expect.
  void add_process_groups() {
    const auto groups = groups_.groups(ranks_);
    append("\"world_size\": {}, \"pg_count\": {}, \"pg_config\": [", graph_.dp.size(),
           groups.size());
    for (const ProcessGroup* group : groups)
      append(
          "{}{{\"pg_name\": \"{}\", \"pg_desc\": {}, \"backend_config\": {}, \"pg_size\": {}, "
          "\"ranks\": [{}]}}",
          group == groups.front() ? "" : ", ", group->number, json_string(group->description),
          json_string(meta_.backend), group->ranks.size(), fmt::join(group->ranks, ", "));
    append("]}},\n");
  }

  std::int64_t gpu_pid(Rank rank) const { return kGpuPids + rank; }
  std::int64_t host_pid(Rank rank) const { return host_pids_ + rank; }

  void begin_event() {
    append("{}\n", first_event_ ? "" : ",");
    first_event_ = false;
  }

  void add_meta(const char* name, std::int64_t pid, int tid, const std::string& args) {
    begin_event();
    append(R"({{"ph": "M", "name": "{}", "pid": {}, "tid": {}, "args": {{{}}}}})", name, pid, tid,
           args);
  }

  void name_process(std::int64_t pid, int thread, const std::string& name, int sort_index) {
    add_meta("process_name", pid, thread, fmt::format(R"("name": "{}")", name));
    add_meta("process_sort_index", pid, thread, fmt::format(R"("sort_index": {})", sort_index));
  }

  void name_thread(std::int64_t pid, int thread, const std::string& name) {
    add_meta("thread_name", pid, thread, fmt::format(R"("name": {})", json_string(name)));
    add_meta("thread_sort_index", pid, thread, fmt::format(R"("sort_index": {})", thread));
  }

  void name_tracks(Rank rank) {
    name_process(gpu_pid(rank), trace_stream(kComputeStream), fmt::format("rank {} GPU", rank),
                 2 * rank);
    for (StreamId id = 0; id < static_cast<int>(graph_.streams().size()); ++id) {
      const std::string& name = graph_.streams()[static_cast<std::size_t>(id)].name;
      name_thread(gpu_pid(rank), trace_stream(id),
                  fmt::format("stream {} {}{}", trace_stream(id),
                              id == kComputeStream ? "" : "comm ", name));
    }
    name_process(host_pid(rank), kHostThread, fmt::format("rank {} host", rank), 2 * rank + 1);
    name_thread(host_pid(rank), kHostThread, "main");
  }

  /// Unique in the file: tools match a kernel with its launch by this number alone.
  std::int64_t correlation(const Slice& slice) const {
    return first_correlation(slice.rank) + static_cast<std::int64_t>(index(slice.task));
  }
  std::int64_t first_correlation(Rank rank) const {
    const auto file_rank = std::lower_bound(ranks_.begin(), ranks_.end(), rank) - ranks_.begin();
    return file_rank * graph_.size() + 1;
  }

  void begin_slice(const char* category, const std::string& name, std::int64_t pid, int tid,
                   const Slice& slice) {
    begin_event();
    append(R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {})",
           category, name, pid, tid, format_us(slice.start), format_us(slice.duration));
  }

  void add_slice(const Slice& slice) {
    const Task& task = graph_[slice.task];
    switch (slice.kind) {
      case SliceKind::kStep:
        begin_slice("user_annotation", fmt::format("ProfilerStep#{}", task.key.step),
                    host_pid(slice.rank), kHostThread, slice);
        break;
      case SliceKind::kLaunch:
        begin_slice("cuda_runtime", "cudaLaunchKernel", host_pid(slice.rank), kHostThread, slice);
        append(R"(, "args": {{"correlation": {}}})", correlation(slice));
        break;
      case SliceKind::kKernel:
        begin_slice("kernel", kernels_.name(slice.task), gpu_pid(slice.rank),
                    trace_stream(task.stream), slice);
        append(R"(, "args": {{{}{}}})", kernels_.args(slice, first_correlation(slice.rank)),
               launched_.text(slice.rank, slice.task));
        break;
    }
    append("}}");
  }

  const Timeline& timeline_;
  const TaskGraph& graph_;
  std::vector<Rank> ranks_;  // ascending
  const TraceMeta& meta_;
  ProcessGroups groups_;
  KernelText kernels_;
  LaunchedText launched_;
  std::int64_t host_pids_;
  std::string text_;
  bool first_event_ = true;
};

}  // namespace

std::string chrome_trace(const Timeline& timeline, const std::vector<Rank>& ranks,
                         const TraceMeta& meta, const TracedKernels& kernels) {
  const TaskGraph& graph = timeline.graph();
  AMSP_CHECK(!ranks.empty(), "a trace needs at least one rank");
  std::vector<Rank> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  AMSP_CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(),
             "a rank stands twice in the selection");
  AMSP_CHECK(sorted.front() >= 0 && sorted.back() < timeline.ranks(),
             "the selection holds a rank outside 0..{}", timeline.ranks() - 1);
  const auto largest_id = static_cast<std::int64_t>(sorted.size()) * graph.size();
  AMSP_CHECK(largest_id <= std::numeric_limits<std::uint32_t>::max() &&
                 trace_stream(static_cast<int>(graph.streams().size())) < kGpuPids,
             "{} ranks with {} tasks on {} streams do not fit into one trace", sorted.size(),
             graph.size(), graph.streams().size());
  return TraceText(timeline, std::move(sorted), meta, kernels).write();
}

}  // namespace amsp
