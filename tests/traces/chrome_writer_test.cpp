#include "traces/write/chrome_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "core/error.h"
#include "tests/traces/parsed_trace.h"
#include "tests/traces/toy_step.h"
#include "traces/check/trace_rules.h"

namespace amsp {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TraceMeta toy_meta() {
  return {.producer = "amsp-sim 0.1.0",
          .source = "sim",
          .config_hash = "0123abcd",
          .title = "toy \"step\"",
          .device_name = "A800",
          .device_memory_bytes = 85899345920,
          .device_sms = 108};
}

std::string toy_trace(const std::vector<Rank>& ranks) {
  const TaskGraph graph = toy_graph();
  return chrome_trace(toy_timeline(graph), ranks, toy_meta());
}

/// The line that holds `part`, without the comma at its end.
std::string line_with(const std::string& text, const std::string& part) {
  const std::size_t at = text.find(part);
  if (at == std::string::npos) return "no line has " + part;
  const std::size_t begin = text.rfind('\n', at) + 1;
  std::string line = text.substr(begin, text.find('\n', at) - begin);
  if (line.ends_with(',')) line.pop_back();
  return line;
}

TEST(ChromeTrace, HeaderIsInKinetosOrder) {
  const std::string text = toy_trace({1});
  EXPECT_EQ(
      text.substr(0, text.find("\"traceEvents\"")),
      R"({
"schemaVersion": 1,
"deviceProperties": [
{"id": 0, "name": "A800", "totalGlobalMem": 85899345920, "numSms": 108},
{"id": 1, "name": "A800", "totalGlobalMem": 85899345920, "numSms": 108}
],
"distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 2, "pg_count": 4, "pg_config": [)"
      R"({"pg_name": "0", "pg_desc": "default_pg", "backend_config": "nccl", "pg_size": 2, "ranks": [0, 1]}, )"
      R"({"pg_name": "1", "pg_desc": "gather 2x1", "backend_config": "nccl", "pg_size": 2, "ranks": [0, 1]}, )"
      R"({"pg_name": "2", "pg_desc": "reduce 2x1", "backend_config": "nccl", "pg_size": 2, "ranks": [0, 1]}, )"
      R"({"pg_name": "3", "pg_desc": "update 2x1", "backend_config": "nccl", "pg_size": 2, "ranks": [0, 1]}]},
"metadata": {"producer": "amsp-sim 0.1.0", "source": "sim", "config_hash": "0123abcd", )"
      R"("clock": "simulated", "offset_ns": 0, "offset_unc_ns": 0, "semantic_schema": 1},
"displayTimeUnit": "ms",
"baseTimeNanoseconds": 0,
)");
  EXPECT_THAT(text, testing::EndsWith("\n],\n\"traceName\": \"toy \\\"step\\\"\"\n}\n"));
}

TEST(ChromeTrace, NamesProcessesAndStreams) {
  const std::string text = toy_trace({1});
  for (
      const char* line :
      {R"({"ph": "M", "name": "process_name", "pid": 10001, "tid": 7, "args": {"name": "rank 1 GPU"}})",
       R"({"ph": "M", "name": "process_sort_index", "pid": 10001, "tid": 7, "args": {"sort_index": 2}})",
       R"({"ph": "M", "name": "thread_name", "pid": 10001, "tid": 7, "args": {"name": "stream 7 compute"}})",
       R"({"ph": "M", "name": "thread_name", "pid": 10001, "tid": 22, "args": {"name": "stream 22 comm reduce 2x1"}})",
       R"({"ph": "M", "name": "process_name", "pid": 20001, "tid": 1, "args": {"name": "rank 1 host"}})"})
    EXPECT_EQ(line_with(text, line), line);
}

TEST(ChromeTrace, TimeZeroIsTheEarliestEventAndTheWindowIsTheProfilerStep) {
  // rank 1 alone: its first event is the optimizer of the step before, at 0
  EXPECT_EQ(line_with(toy_trace({1}), "ProfilerStep#1"),
            R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 20001, )"
            R"("tid": 1, "ts": 50.000, "dur": 220.000})");
}

TEST(ChromeTrace, ComputeKernelsAreReadable) {
  const std::string text = toy_trace({0});
  EXPECT_EQ(line_with(text, "gemm q forward L0"),
            R"({"ph": "X", "cat": "kernel", "name": "gemm q forward L0", "pid": 10000, "tid": 7, )"
            R"("ts": 60.000, "dur": 40.000, "args": {"device": 0, "context": 1, "stream": 7, )"
            R"("correlation": 5, "step": 1, "mb": 0, "phase": "fwd", "layer": "L0", )"
            R"("module": "q", "op": "forward", "deps": [2, 4], "sk": "s1/mb0/fwd/L0/q/forward"}})");
  EXPECT_THAT(text, HasSubstr("\"flash_attention backward L0\""));
  EXPECT_THAT(text, HasSubstr("\"opt step\""));
}

TEST(ChromeTrace, KernelsOfATaskStandInItsArguments) {
  const TaskGraph graph = toy_graph();
  const Timeline timeline = toy_timeline(graph);
  RankKernels kernels(static_cast<std::size_t>(graph.size()));
  // Task 4 runs 60..100 us, task 8 (a collective) is ready at 170, its last member at 180.
  kernels[4] = {{"split \"k\"", 59'990, 10'000}, {"reduce", 70'000, 25'000}};
  kernels[8] = {{"reduce_scatter", 171'000, 34'000}};
  const std::string text = chrome_trace(timeline, {0}, toy_meta(), {{0, kernels}});
  EXPECT_THAT(line_with(text, "gemm q forward L0"),
              testing::EndsWith(R"("sk": "s1/mb0/fwd/L0/q/forward", "kernels": [)"
                                R"({"kernel": "split \"k\"", "after_ns": -10, "dur_ns": 10000}, )"
                                R"({"kernel": "reduce", "after_ns": 10000, "dur_ns": 25000}]}})"));
  EXPECT_THAT(
      line_with(text, "ReduceScatter"),
      testing::EndsWith(
          R"("kernels": [{"kernel": "reduce_scatter", "after_ns": 1000, "dur_ns": 34000}]}})"));
  EXPECT_THAT(broken_trace_rules(text), IsEmpty());
  // Of another rank, or of none.
  EXPECT_EQ(chrome_trace(timeline, {1}, toy_meta(), {{0, kernels}}),
            chrome_trace(timeline, {1}, toy_meta()));
}

TEST(ChromeTrace, CollectivesHaveKinetosArguments) {
  // 102 bytes are 51 elements, 26 a rank; ready at 170, the last member at 180, until 205
  EXPECT_EQ(
      line_with(toy_trace({0}), "ReduceScatter"),
      R"({"ph": "X", "cat": "kernel", "name": "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", )"
      R"("pid": 10000, "tid": 21, "ts": 170.000, "dur": 35.000, "args": {"device": 0, )"
      R"("context": 1, "stream": 21, "correlation": 9, "step": 1, "mb": 0, "phase": "bwd", )"
      R"("layer": "L0", "module": "q", "op": "reduce_scatter", "group": "2x1", )"
      R"("Collective name": "_reduce_scatter_base", "In msg nelems": 51, "Out msg nelems": 26, )"
      R"("Group size": 2, "dtype": "BFloat16", "Process Group Name": "1", )"
      R"("Process Group Description": "gather 2x1", "Process Group Ranks": "[0, 1]", "Seq": 2, )"
      R"("wait_ns": 10000, "xfer_ns": 25000, "deps": [8], "sk": "s1/mb0/bwd/L0/q/reduce_scatter@2x1"}})");
  const std::string gather = line_with(toy_trace({0}), "ncclDevKernel_AllGather_RING_LL");
  EXPECT_THAT(gather, HasSubstr(R"("Collective name": "_allgather_base", "In msg nelems": 26, )"
                                R"("Out msg nelems": 51)"));
  const std::string reduce = line_with(toy_trace({0}), "ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
  EXPECT_THAT(reduce, HasSubstr(R"("Collective name": "allreduce", "In msg nelems": 32, )"
                                R"("Out msg nelems": 32)"));
  const std::string update = line_with(toy_trace({0}), "ncclDevKernel_Broadcast_RING_LL");
  EXPECT_THAT(update, HasSubstr(R"("Collective name": "broadcast", "In msg nelems": 20)"));
}

TEST(ChromeTrace, LaunchesGetOutOfEachOthersWay) {
  const std::string text = toy_trace({0});
  const auto launch = [&](int correlation) {
    const std::string line =
        line_with(text, fmt::format("\"args\": {{\"correlation\": {}}}", correlation));
    return line.substr(line.find("\"ts\""), line.find(", \"args\"") - line.find("\"ts\""));
  };
  EXPECT_EQ(launch(1), R"("ts": 0.000, "dur": 0.000)") << "the trace begins with its kernel";
  EXPECT_EQ(launch(4), R"("ts": 50.000, "dur": 0.000)") << "and so does the step";
  EXPECT_EQ(launch(5), R"("ts": 59.000, "dur": 1.000)");
  // reduce-scatter and dgrad both start at 170
  EXPECT_EQ(launch(9), R"("ts": 168.000, "dur": 1.000)");
  EXPECT_EQ(launch(10), R"("ts": 169.000, "dur": 1.000)");
}

TEST(ChromeTrace, MergesRanksInAnyOrder) {
  const std::string text = toy_trace({1, 0});
  EXPECT_EQ(text, toy_trace({0, 1}));
  EXPECT_THAT(text, HasSubstr(R"("backend": "nccl", "ranks": [0, 1], "world_size": 2)"));
  EXPECT_THAT(broken_trace_rules(text), IsEmpty());
}

TEST(ChromeTrace, TheSameInputGivesTheSameText) {
  const TaskGraph graph = random_graph(5, 60);
  const Timeline timeline = play_randomly(graph, 5);
  EXPECT_EQ(chrome_trace(timeline, {2, 0}, toy_meta()),
            chrome_trace(play_randomly(random_graph(5, 60), 5), {2, 0}, toy_meta()));
}

TEST(ChromeTrace, RefusesSelectionsThatMakeNoSense) {
  EXPECT_THROW(toy_trace({}), InternalError);
  EXPECT_THROW(toy_trace({0, 0}), InternalError);
  EXPECT_THROW(toy_trace({2}), InternalError);
  EXPECT_THROW(toy_trace({-1}), InternalError);
}

TEST(ChromeTrace, PidsStayUniqueOnMoreThanTenThousandRanks) {
  TaskGraph graph;
  graph.dp = {1, 10001};
  graph.add_stream({"compute", {}});
  graph.window_begin = graph.add({{}, kComputeStream, WorkKind::kMarker, -1}, {});
  graph.window_end = graph.add({{}, kComputeStream, WorkKind::kMarker, -1}, {});
  const auto lanes = std::make_shared<LaneMap>(10001, 0);
  Timeline timeline(graph);
  timeline.add_task(lanes, 1);
  timeline.add_task(lanes, 1);
  const std::string text = chrome_trace(timeline, {0, 10000}, toy_meta());
  EXPECT_THAT(line_with(text, "\"rank 10000 GPU\""), HasSubstr("\"pid\": 20000"));
  EXPECT_THAT(line_with(text, "\"rank 0 host\""), HasSubstr("\"pid\": 20001"));
  EXPECT_THAT(broken_trace_rules(text), IsEmpty());
}

class WrittenTrace : public testing::TestWithParam<std::uint32_t> {
 protected:
  TaskGraph graph_ = random_graph(GetParam(), 60);
  Timeline timeline_ = play_randomly(graph_, GetParam());
};

TEST_P(WrittenTrace, BreaksNoRule) {
  for (Rank rank = 0; rank < timeline_.ranks(); ++rank)
    EXPECT_THAT(broken_trace_rules(chrome_trace(timeline_, {rank}, toy_meta())), IsEmpty());
  EXPECT_THAT(broken_trace_rules(chrome_trace(timeline_, {0, 1, 2, 3}, toy_meta())), IsEmpty());
}

TEST_P(WrittenTrace, ParsesBackToTheSameNanoseconds) {
  for (Rank rank = 0; rank < timeline_.ranks(); ++rank) {
    const Json trace = parse_json(chrome_trace(timeline_, {rank}, toy_meta()), "trace");
    const ParsedRank parsed = parse_rank(trace, rank);
    const std::vector<TraceEvent> events = all_events(timeline_, rank);
    ASSERT_EQ(parsed.events.size(), events.size());
    const Nanoseconds origin = to_ns(timeline_.window_begin(rank)) - parsed.begin;
    EXPECT_EQ(parsed.end + origin, to_ns(timeline_.window_end(rank)));
    for (const TraceEvent& event : events) {
      const Json& found = parsed.events.at(static_cast<std::int64_t>(index(event.task)) + 1);
      EXPECT_EQ(found.at("args").at("sk"), graph_.key(event.task));
      EXPECT_EQ(start_of(found) + origin, event.start);
      EXPECT_EQ(end_of(found) + origin, event.end);
    }
  }
}

TEST_P(WrittenTrace, HasTheExposedCommunicationOfTheTimeline) {
  std::vector<Rank> ranks(static_cast<std::size_t>(timeline_.ranks()));
  std::iota(ranks.begin(), ranks.end(), 0);
  const Json merged = parse_json(chrome_trace(timeline_, ranks, toy_meta()), "trace");
  for (const Rank rank : ranks) {
    const RankBreakdown expected = break_down(timeline_, rank);
    const Json alone = parse_json(chrome_trace(timeline_, {rank}, toy_meta()), "trace");
    EXPECT_EQ(break_down(parse_rank(alone, rank)), expected);
    EXPECT_EQ(break_down(parse_rank(merged, rank)), expected);
  }
}

TEST_P(WrittenTrace, HasOneProfilerStepForEachStepOfTheWindow) {
  const std::string text = chrome_trace(timeline_, {3}, toy_meta());
  const std::string step = "ProfilerStep#";
  std::vector<std::string> numbers;
  for (auto at = text.find(step); at != std::string::npos; at = text.find(step, at + 1)) {
    const std::size_t begin = at + step.size();
    numbers.push_back(text.substr(begin, text.find('"', begin) - begin));
  }
  EXPECT_THAT(numbers, testing::ElementsAre("2", "3"));
}

INSTANTIATE_TEST_SUITE_P(, WrittenTrace, testing::Range(0U, 20U));

}  // namespace
}  // namespace amsp
