#include <gtest/gtest.h>

#include <ostream>

#include "core/error.h"
#include "tests/core/message_of.h"
#include "tests/trace_analysis/read_text.h"
#include "tests/trace_reader/gzip_text.h"

namespace amsp {
namespace {

const std::string kStep = step(1, "1000", "1000");
const std::string kGemm = kernel("gemm", 7, "1100", "400", R"(, "correlation": 1)");
const std::string kReduce = kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", 20, "1400", "300",
                                   R"(, "correlation": 2)");
const std::string kGood = joined({kStep, kGemm, kReduce});

struct Sibling {
  const char* name;
  std::string text;
  int compute, communication, overlap;  // microseconds
  const char* note = "";                // kind
  int notes = 0;                        // of that kind
  bool salvage = false, partial = false;
  int rejected = 0;
};
std::ostream& operator<<(std::ostream& out, const Sibling& test) {
  return out << test.name;
}

const Sibling kSiblings[] = {
    // encoding (k80)
    {"OverlongUtf8", trace(replaced(kGood, "gemm", "ge\xC0\xAFmm")), 400, 300, 100, "invalid UTF-8", 2},
    {"CutUtf8AtTheEndOfAName", trace(replaced(kGood, "gemm", "gemm\xE2\x82")), 400, 300, 100,
     "invalid UTF-8", 2},
    {"GoodUtf8", trace(replaced(kGood, "gemm", "g\xC3\xA9mm")), 400, 300, 100},
    {"ByteOrderMark", "\xEF\xBB\xBF" + trace(kGood), 400, 300, 100},
    {"LoneSurrogate", trace(replaced(kGood, "gemm", "ge\\ud800mm")), 400, 300, 100,
     "half a surrogate pair", 1},
    {"SurrogatePair", trace(replaced(kGood, "gemm", "ge\\ud83d\\ude00mm")), 400, 300, 100},
    // numbers (k105)
    {"NegativeInfinity", trace(replaced(kGood, "\"device\": 0", "\"x\": -inf, \"device\": 0")), 400,
     300, 100, "inf or nan", 1},
    {"NanInAKnownArgument", trace(replaced(kGood, "\"device\": 0", "\"bytes\": NaN, \"device\": 0")),
     400, 300, 100, "inf or nan", 1},
    {"InfinityInTheHeader", replaced(trace(kGood), "\"schemaVersion\": 1",
                                     "\"schemaVersion\": 1, \"load\": Infinity"),
     400, 300, 100, "inf or nan", 1},
    {"NanInQuotesIsNoDuration",
     trace(joined({kGood, kernel("broken", 7, "1900", "\"nan\"")})), 400, 300, 100, "no duration", 1},
    {"ExponentTimes", trace(joined({kStep, kernel("gemm", 7, "1.1e3", "4E+2"), kReduce})), 400, 300, 100},
    {"TextualTimes", trace(joined({kStep, kernel("gemm", 7, "\"1100\"", "\"400.0\""), kReduce})), 400,
     300, 100},
    // escapes (k336)
    {"HexEscape", trace(replaced(kGood, "gemm", "ge\\x41mm")), 400, 300, 100, "invalid escape", 1},
    {"ShortUnicodeEscape", trace(replaced(kGood, "gemm", "ge\\u12mm")), 400, 300, 100,
     "invalid escape", 1},
    {"TabInAString", trace(replaced(kGood, "gemm", "ge\tmm")), 400, 300, 100,
     "control character in a string", 1},
    {"NewlineInAString", trace(replaced(kGood, "gemm", "ge\nmm")), 400, 300, 100,
     "control character in a string", 1},
    // quotes (p146900)
    {"OddQuotesInAName", trace(joined({kStep, replaced(kGemm, "gemm", "the \"gemm"), kReduce})), 0,
     300, 0, "", 0, true, false, 1},
    {"QuotesInTheLastEvent", trace(joined({kStep, kGemm, replaced(kReduce, "nccl", "a \"b nccl")})),
     400, 0, 0, "", 0, true, false, 1},
    {"QuotesInTheLastEventBeforeMoreKeys",
     trace(joined({kStep, kGemm, replaced(kReduce, "nccl", "a \"b\" nccl")}), 0,
           ", \"traceName\": \"x\""),
     400, 0, 0, "", 0, true, false, 1},
    {"QuotesInTwoEvents",
     trace(joined({kStep, replaced(kGemm, "gemm", "a \"b"), replaced(kGemm, "gemm", "\"\"b\""),
                   kReduce})),
     0, 300, 0, "", 0, true, false, 2},
    // brackets in strings (k888)
    {"BracesInANameAndATraceName",
     trace(replaced(kGood, "gemm", "}]{[ gemm"), 0, ", \"traceName\": \"a]}{\""), 400, 300, 100},
    // times (k109)
    {"Time0WithADuration",
     trace(joined({step(1, "901000", "1000"), kernel("early", 7, "0", "3"),
                   kernel("gemm", 7, "901100", "400")})),
     400, 0, 0, "time 0", 1},
    {"Time0IsTheOriginOfAShortTrace",
     "[" + joined({kernel("gemm", 7, "0", "400"), kernel("ncclAllReduce", 20, "300", "300")}) + "]",
     400, 300, 100},
    {"NegativeDuration", trace(joined({kGood, kernel("broken", 7, "1900", "-5")})), 400, 300, 100,
     "negative duration", 1},
    {"NoDuration",
     trace(joined({kGood, replaced(kernel("broken", 7, "1900", "5"), ", \"dur\": 5", "")})), 400, 300,
     100, "no duration", 1},
    {"NoTime", trace(joined({kGood, replaced(kernel("broken", 7, "1900", "5"), "\"ts\": 1900, ", "")})),
     400, 300, 100, "no time", 1},
    {"TimeBeyond64Bits", trace(joined({kGood, kernel("broken", 7, "1e30", "5")})), 400, 300, 100,
     "no time", 1},
    // form (pf1822, toparray, bz11863)
    {"TrailingCommaInArgs", trace(replaced(kGood, "\"stream\": 7,", "\"stream\": 7, \"l\": [1,2,],")),
     400, 300, 100, "trailing comma", 1},
    {"EmptyEvents", trace("{}," + kGood + ",{}"), 400, 300, 100},
    {"MissingComma", trace(kStep + kGemm + "," + kReduce), 400, 300, 100, "missing comma", 1},
    {"OpenArray", "[" + kGood, 400, 300, 100, "the array of events is not closed", 1},
    {"OpenArrayAfterAComma", "[" + kGood + ",\n", 400, 300, 100,
     "the array of events is not closed", 1},
    {"NullElements", trace("null," + kGood), 400, 300, 100, "an element of traceEvents is no object", 1},
    {"CutInANumber", trace(kGood).substr(0, trace(kGood).find("1400") + 2), 400, 0, 0, "", 0, false,
     true},
    {"CutBehindAnEvent", trace(kGood).substr(0, trace(kGood).size() - 2), 400, 300, 100, "", 0, false,
     true},
    // gzip (mad224, gz_without_suffix)
    {"TwoGzipMembers", gzip(trace(kGood).substr(0, 200)) + gzip(trace(kGood).substr(200)), 400, 300,
     100},
    {"GarbageBehindGzip", gzip(trace(kGood)) + "garbage", 400, 300, 100, "damaged gzip", 1},
    {"WrongChecksum",
     [] {
       std::string packed = gzip(trace(kGood));
       packed[packed.size() - 7] ^= 0x55;
       return packed;
     }(),
     400, 300, 100, "damaged gzip", 1},
    // structure (h290, pf4280, pf371)
    {"ReversedEvents", trace(joined({kReduce, kGemm, kStep})), 400, 300, 100},
    {"NestedKernels", trace(joined({kGood, kernel("inner", 7, "1150", "20")})), 400, 300, 100,
     "kernels overlap on one stream", 1},
    {"ZeroLengthKernels", trace(joined({kGood, kernel("nothing", 7, "1200", "0")})), 400, 300, 100},
    {"TwoThreadsMarkTheStep", trace(joined({kStep, kStep, kGemm, kReduce})), 400, 300, 100},
};

class OddSibling : public testing::TestWithParam<Sibling> {};

TEST_P(OddSibling, IsReadLikeItsKin) {
  const Sibling& test = GetParam();
  LoadOptions options;
  options.read = {test.salvage, test.partial};
  const Analysis analysis = analysed(test.text, options);
  const StepParts sum = analysis.sum(0);
  constexpr Nanoseconds kUs = 1000_ns;
  EXPECT_EQ(sum.compute, test.compute * kUs);
  EXPECT_EQ(sum.communication, test.communication * kUs);
  EXPECT_EQ(sum.overlapped, test.overlap * kUs);
  EXPECT_EQ(sum.compute + sum.exposed + sum.memory_only + sum.idle, sum.window);
  const std::int64_t noted = analysis.set.files[0].repairs.count(test.note) +
                             analysis.rank(0).quarantined.count(test.note) +
                             analysis.rank(0).doubts.count(test.note);
  EXPECT_EQ(noted, test.notes);
  EXPECT_EQ(analysis.set.files[0].repairs.total() + analysis.rank(0).quarantined.total() +
                analysis.rank(0).doubts.total(),
            test.notes);
  EXPECT_EQ(analysis.set.files[0].rejected.total(), test.rejected);
  EXPECT_EQ(analysis.set.files[0].floor, test.partial);
}

INSTANTIATE_TEST_SUITE_P(, OddSibling, testing::ValuesIn(kSiblings),
                         [](const auto& test) { return test.param.name; });

TEST(OddSiblings, NothingToAnalyseIsRefused) {
  EXPECT_EQ(message_of([] { analysed(R"({"traceEvents": []})"); }),
            "trace.json: has no GPU events (kernel, gpu_memcpy, gpu_memset): nothing to analyse");
}

}  // namespace
}  // namespace amsp
