#include "tests/trace_analysis/recorded.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "tests/trace_analysis/read_text.h"
#include "tests/traces/toy_step.h"
#include "traces/terms/trace_text.h"
#include "traces/write/chrome_writer.h"

namespace amsp {

std::string random_trace(std::uint32_t seed, int tasks) {
  const TaskGraph graph = random_graph(seed, tasks);
  TraceMeta meta;
  meta.producer = "test";
  meta.source = "sim";
  std::vector<Rank> ranks;
  for (Rank rank = 0; rank < graph.dp.size(); ++rank) ranks.push_back(rank);
  return chrome_trace(play_randomly(graph, seed + 1), ranks, meta);
}

std::string kineto_trace(std::uint32_t seed, int kernels, int steps, int rank) {
  std::mt19937 random(seed);
  std::vector<std::string> events;
  Nanoseconds now = 1'000'000_ns;
  for (int s = 0; s < steps; ++s) {
    const Nanoseconds begin = now;
    for (int k = 0; k < kernels; ++k) {
      const Nanoseconds duration{1000 + static_cast<std::int64_t>(random() % 50'000)};
      now += Nanoseconds{static_cast<std::int64_t>(random() % 3000)};
      if (k % 8 == 7)
        events.push_back(kernel("ncclDevKernel_AllGather_RING_LL(x)", 20, format_us(now),
                                format_us(duration),
                                R"(, "Collective name": "_allgather_base", "In msg nelems": 64, )"
                                R"("Out msg nelems": 128, "Group size": 2, "dtype": "Float", )"
                                R"("Process Group Name": "0", "Process Group Ranks": "[0, 1]")"));
      else
        events.push_back(kernel("void kernel_" + std::to_string(random() % 12) + "<float>(x)", 7,
                                format_us(now), format_us(duration),
                                R"(, "grid": [)" + std::to_string(random() % 3) + ", 1, 1]"));
      now += duration;
    }
    now += 5000_ns;
    events.push_back(step(40 + s, format_us(begin), format_us(now - begin)));
  }
  return trace(joined(events), rank);
}

std::string with_events(const std::string& trace, const std::function<void(Json& event)>& change) {
  Json json = Json::parse(trace);
  for (Json& event : json["traceEvents"]) change(event);
  return json.dump();
}

Analysis analysed_ranks(const std::vector<std::string>& traces) {
  std::vector<std::string> paths;
  for (const std::string& text : traces) {
    paths.push_back(testing::TempDir() + "/" +
                    testing::UnitTest::GetInstance()->current_test_info()->name() +
                    std::to_string(paths.size()) + ".json");
    std::ofstream(paths.back()) << text;
  }
  return analyse(load_traces(paths, {}), WindowChoice::kAuto);
}

}  // namespace amsp
