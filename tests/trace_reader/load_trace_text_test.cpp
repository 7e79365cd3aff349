#include <gtest/gtest.h>
#include <zlib.h>

#include "core/error.h"
#include "tests/core/message_of.h"
#include "tests/trace_reader/event_text.h"
#include "tests/trace_reader/gzip_text.h"
#include "trace_reader/load_traces.h"

namespace amsp {
namespace {

const std::string kStep = step(1, "1000", "1000");
const std::string kGemm = kernel("gemm", 7, "1100", "400", R"(, "correlation": 1)");
const std::string kReduce = kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", 20, "1400", "300",
                                   R"(, "correlation": 2)");
const std::string kGood = joined({kStep, kGemm, kReduce});

struct Refused {
  std::string text;
  const char* message;
};

TEST(LoadTraceText, RefusesWhatIsNoTrace) {
  const Refused cases[] = {
      {"  \n ", "trace.json: empty file"},
      {gzip(""), "trace.json: empty file"},
      {"\x0A\x12{\"x\"",
       "trace.json: looks like a Perfetto protobuf trace; export Chrome JSON instead"},
      {"PK\x03\x04zip", "trace.json: looks like a ZIP archive; unpack it first"},
      {"\x28\xB5\x2F\xFD", "trace.json: looks like a zstd archive; unpack it first"},
      {"\xFF\xFE{", "trace.json: looks like UTF-16; traces are UTF-8"},
      {"hello", "trace.json: is no Chrome trace: JSON must start with '{' or '['"},
      {"{\"schemaVersion\": 1}", "trace.json: has no traceEvents"},
      {"{\"traceEvents\": null}", "trace.json:1:17: traceEvents is not an array"},
      {"{\"traceEvents\": \"\"}", "trace.json:1:17: traceEvents is not an array"},
      {"[1 2]", "trace.json:1:4: expected ',' or ']', found '2'"},
      {trace(kGood) + "x", "trace.json:3:186: expected nothing behind the trace, found 'x'"},
      {"[" + replaced(kGood, "\"ts\": 1100", "\"ts\": 0x44"),
       "trace.json:2:72: event 1: expected a value, found '0x44' (--salvage skips such events)"},
      {"[" + replaced(kGood, "\"ts\": 1100", "\"ts\" 1100"),
       "trace.json:2:71: event 1: expected ':', found '1' (--salvage skips such "
       "events)"},
      {"[{'ph': 'X'}]",
       "trace.json:1:3: event 0: expected a key in quotes, found ''' (--salvage skips such "
       "events)"},
      {"[{\"args\": " + std::string(600, '[') + "}]",
       "trace.json:1:524: event 0: nested deeper than 512 levels, found '[' (--salvage skips such "
       "events)"},
      {"{\"baseTimeNanoseconds\": 1.5, \"traceEvents\": []}",
       "trace.json: baseTimeNanoseconds must be a whole number from 0 to 2^61, found 1.5"},
  };
  for (const Refused& test : cases)
    EXPECT_EQ(message_of([&] { load_trace_text(test.text, "trace.json"); }), test.message);
}

TEST(LoadTraceText, LinesAreCountedAcrossTheWindowOfTheReader) {
  std::string filler;
  for (int i = 0; i < 60000; ++i) filler += kernel("k", 7, "1100", "1") + ",\n";  // 7 MB
  EXPECT_EQ(message_of([&] { load_trace_text("[" + filler + "{\"ph\": X}]", "trace.json"); }),
            "trace.json:60001:8: event 60000: expected a value, found 'X' (--salvage skips such "
            "events)");
}

TEST(LoadTraceText, AStringMayCrossTheWindowOfTheReader) {
  const std::string name(3'000'000, 'n');
  const TraceSet set =
      load_trace_text(trace(joined({kernel(name, 7, "1100", "1"), kGood})), "trace.json");
  const RankTrace& rank = set.ranks.at(0);
  EXPECT_EQ(rank.text(rank.events.at(1).name).size(), 3'000'000U);
}

}  // namespace
}  // namespace amsp
