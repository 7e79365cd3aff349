// Over 400 lines: one table, a case for every rule and its whole message.
#include "traces/check/trace_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

namespace amsp {
namespace {

using testing::ElementsAreArray;
using testing::IsEmpty;

/// Keeps every rule; each case below breaks one by replacing a piece of it.
constexpr const char* kGood = R"({
"schemaVersion": 1,
"deviceProperties": [{"id": 0, "name": "A800"}],
"distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 4, "pg_count": 1, "pg_config": [{"pg_name": "0"}]},
"metadata": {"producer": "p", "source": "sim", "config_hash": "h", "clock": "simulated", "offset_ns": 0, "offset_unc_ns": 0, "semantic_schema": 1},
"displayTimeUnit": "ms",
"baseTimeNanoseconds": 0,
"traceEvents": [
{"ph": "M", "name": "process_name", "pid": 10003, "args": {"name": "rank 3 GPU"}},
{"ph": "M", "name": "thread_name", "pid": 10003, "tid": 7, "args": {"name": "stream 7"}},
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 20003, "tid": 1, "ts": 0.000, "dur": 10.000},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 20003, "tid": 1, "ts": 0.000, "dur": 0.500, "args": {"correlation": 1}},
{"ph": "s", "id": 5, "cat": "ac2g", "name": "ac2g", "pid": 20003, "tid": 1, "ts": 0.000},
{"ph": "X", "cat": "kernel", "name": "gemm q forward L3", "pid": 10003, "tid": 7, "ts": 0.500, "dur": 4.000, "args": {"device": 3, "context": 1, "stream": 7, "correlation": 1, "step": 1, "mb": 0, "phase": "fwd", "layer": "L3", "module": "q", "op": "forward", "sk": "s1/mb0/fwd/L3/q/forward"}},
{"ph": "f", "bp": "e", "id": 5, "cat": "ac2g", "name": "ac2g", "pid": 10003, "tid": 7, "ts": 0.500},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 20003, "tid": 1, "ts": 1.000, "dur": 0.500, "args": {"correlation": 2}},
{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllGather_RING_LL", "pid": 10003, "tid": 21, "ts": 2.000, "dur": 3.000, "args": {"device": 3, "context": 1, "stream": 21, "correlation": 2, "step": 1, "mb": 0, "phase": "fwd", "layer": "L4", "module": "q", "op": "all_gather", "group": "4x1", "Collective name": "_allgather_base", "In msg nelems": 1, "Out msg nelems": 4, "Group size": 4, "dtype": "BFloat16", "Process Group Name": "1", "Process Group Description": "gather 4x1", "Process Group Ranks": "[0, 1, 2, 3]", "Seq": 1, "wait_ns": 1000, "xfer_ns": 2000, "sk": "s1/mb0/fwd/L4/q/all_gather@4x1"}},
{"ph": "C", "name": "GPU memory", "pid": 10003, "ts": 3.000, "args": {"allocated_GiB": 1.5}},
{"ph": "i", "name": "note", "s": "p", "pid": 20003, "tid": 1, "ts": 4.000}
],
"traceName": "good"
}
)";

struct BrokenTrace {
  const char* rule;
  const char* good;  // the first occurrence in kGood ...
  const char* bad;   // ... becomes this
  std::vector<std::string> messages;
};

std::ostream& operator<<(std::ostream& out, const BrokenTrace& trace) {
  return out << trace.rule;
}

class TraceRules : public testing::TestWithParam<BrokenTrace> {};

TEST(TraceRules, AcceptAGoodTrace) {
  EXPECT_THAT(broken_trace_rules(kGood), IsEmpty());
}

TEST(TraceRules, AcceptTheKernelsOfATask) {
  std::string text = kGood;
  const std::string sk = "\"sk\": \"s1/mb0/fwd/L3/q/forward\"";
  text.replace(text.find(sk), sk.size(),
               sk + R"(, "kernels": [{"kernel": "memset", "after_ns": -3, "dur_ns": 0}, )"
                    R"({"kernel": "gemm<128, 64>", "after_ns": 12, "dur_ns": 5}])");
  EXPECT_THAT(broken_trace_rules(text), IsEmpty());
}

TEST_P(TraceRules, NameTheEventAndTheReason) {
  std::string text = kGood;
  const std::size_t at = text.find(GetParam().good);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string(GetParam().good).size(), GetParam().bad);
  EXPECT_THAT(broken_trace_rules(text), ElementsAreArray(GetParam().messages));
}

const BrokenTrace kBrokenFiles[] = {
    {"Start", "{\n\"schemaVersion\"", "{{\"schemaVersion\"", {"trace: must start with {\""}},
    {"BareArray", "{\n\"schemaVersion\": 1,", "[", {"trace: must start with {\""}},
    {"CutOff",
     "],\n\"traceName\": \"good\"\n}\n",
     "",
     {"trace: is not complete, valid JSON: 20:1: expected ',' or ']', found the end of the text"}},
    {"NotANumber",
     "\"dur\": 4.000",
     "\"dur\": NaN",
     {"trace: is not complete, valid JSON: 14:103: 'NaN' is not a number in JSON"}},
    {"Infinity",
     "\"allocated_GiB\": 1.5",
     "\"allocated_GiB\": -Infinity",
     {"trace: is not complete, valid JSON: 18:88: '-Infinity' is not a number in JSON"}},
    {"ControlCharacter",
     "stream 7\"",
     "stream\t7\"",
     {"trace: is not complete, valid JSON: 10:84: a string cannot hold the control character "
      "U+0009"}},
    {"SingleQuotes",
     "\"good\"",
     "'good'",
     {"trace: is not complete, valid JSON: 21:14: a string needs double quotes, found ''good''"}},
    {"Utf8",
     "\"good\"",
     "\"\xff\"",
     {"trace: is not complete, valid JSON: 21:15: byte 0xFF is not allowed"}},
    {"NoEvents",
     "\"traceEvents\"",
     "\"events\"",
     {"trace: no user_annotation is called ProfilerStep#N",
      "trace: traceEvents must be an array, found nothing"}},
    {"SchemaVersion",
     "\"schemaVersion\": 1",
     "\"schemaVersion\": 2",
     {"trace: schemaVersion must be 1, found 2"}},
    {"DeviceProperties",
     "\"deviceProperties\": [{\"id\": 0, \"name\": \"A800\"}]",
     "\"deviceProperties\": 8",
     {"trace: deviceProperties must be an array, found 8"}},
    {"NoDistributedInfo",
     "\"distributedInfo\"",
     "\"distributed\"",
     {"trace: distributedInfo must be an object, found nothing"}},
    {"Backend",
     "\"backend\": \"nccl\"",
     "\"backend\": 1",
     {"trace: distributedInfo.backend must be a string, found 1"}},
    {"WorldSize",
     "\"world_size\": 4",
     "\"world_size\": 0",
     {"trace: distributedInfo.world_size must be a whole number >= 1, found 0"}},
    {"ProcessGroups",
     "[{\"pg_name\": \"0\"}]",
     "\"[0]\"",
     {"trace: distributedInfo.pg_config must be an array, found \"[0]\""}},
    {"ProcessGroupCount",
     "\"pg_count\": 1",
     "\"pg_count\": 2",
     {"trace: distributedInfo.pg_count must be the length of pg_config, found 2"}},
    {"NoRank",
     "\"rank\": 3, ",
     "",
     {"trace: distributedInfo.rank must be a whole number, found nothing"}},
    {"RankIsText",
     "\"rank\": 3",
     "\"rank\": \"3\"",
     {"trace: distributedInfo.rank must be a whole number, found \"3\""}},
    {"RankWithoutBlank",
     "\"rank\": 3",
     "\"rank\":3",
     {"trace: the first \"rank\" must be followed by a colon, one blank and the number"}},
    {"RankOnAnotherLine",
     "\"rank\": 3",
     "\n\"rank\": 3",
     {"trace: distributedInfo and its rank must stand on one line"}},
    {"RankBefore",
     "{\"id\": 0,",
     "{\"rank\": 0, \"id\": 0,",
     {"trace: the first key \"rank\" is in deviceProperties, not in distributedInfo"}},
    {"MergedRanks", "\"rank\": 3", "\"ranks\": [2, 3]", {}},
    {"Producer",
     "\"producer\": \"p\"",
     "\"producer\": 1",
     {"trace: metadata.producer must be a string, found 1"}},
    {"Source",
     "\"source\": \"sim\"",
     "\"source\": \"guess\"",
     {"trace: metadata.source must be 'sim' or 'real', found \"guess\""}},
    {"ConfigHash",
     "\"config_hash\": \"h\", ",
     "",
     {"trace: metadata.config_hash must be a string, found nothing"}},
    {"ClockOffset",
     "\"offset_ns\": 0",
     "\"offset_ns\": 0.5",
     {"trace: metadata.offset_ns must be a whole number, found 0.5"}},
    {"SemanticSchema",
     "\"semantic_schema\": 1",
     "\"semantic_schema\": 2",
     {"trace: metadata.semantic_schema must be 1, found 2"}},
    {"NoMetadata",
     "\"metadata\"",
     "\"meta\"",
     {"trace: metadata must be an object, found nothing"}},
    {"DisplayUnit",
     "\"displayTimeUnit\": \"ms\",",
     "",
     {"trace: displayTimeUnit must be a string, found nothing"}},
    {"BaseTime",
     "\"baseTimeNanoseconds\": 0",
     "\"baseTimeNanoseconds\": \"0\"",
     {"trace: baseTimeNanoseconds must be a whole number, found \"0\""}},
    {"TraceName",
     "\"traceName\": \"good\"",
     "\"traceName\": null",
     {"trace: traceName must be a string, found null"}},
    {"NoStep", "ProfilerStep#1", "Step 1", {"trace: no user_annotation is called ProfilerStep#N"}},
};

const BrokenTrace kBrokenEvents[] = {
    {"NoObject",
     "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 10003, \"args\": {\"name\": "
     "\"rank 3 GPU\"}}",
     "[]",
     {"event 0: must be an object, found []"}},
    {"Phase",
     "\"ph\": \"i\"",
     "\"ph\": \"B\"",
     {"event 10: ph must be one of X M C i s t f, found \"B\""}},
    {"NoPhase",
     "\"ph\": \"i\", ",
     "",
     {"event 10: ph must be one of X M C i s t f, found nothing"}},
    {"NoName",
     "\"name\": \"note\", ",
     "",
     {"event 10: name must be a string that is not empty, found nothing"}},
    {"Arguments",
     "\"args\": {\"allocated_GiB\": 1.5}",
     "\"args\": [1.5]",
     {"event 9: args must be an object, found [1.5]"}},
    {"MetadataName",
     "process_name",
     "process_color",
     {"event 0: viewers know no metadata called 'process_color'"}},
    {"NoTime", "\"ts\": 4.000", "\"ts\": \"4\"", {"event 10: ts must be a number, found \"4\""}},
    {"NegativeTime",
     "\"ts\": 0.000, \"dur\": 10.000",
     "\"ts\": -1.000, \"dur\": 11.000",
     {"event 2: ts must not be negative, found -1.000"}},
    {"FineTime",
     "\"ts\": 4.000",
     "\"ts\": 4.0005",
     {"event 10: ts must be microseconds with at most three decimals, found 4.0005"}},
    {"ExponentTime",
     "\"ts\": 4.000",
     "\"ts\": 4e3",
     {"event 10: ts must be microseconds with at most three decimals, found 4e3"}},
    {"FarTime",
     "\"ts\": 4.000",
     "\"ts\": 9007199254740.992",
     {"event 10: ts must be less than 2^53 ns, found 9007199254740.992"}},
    {"NoDuration", ", \"dur\": 10.000", "", {"event 2: dur must be a number, found nothing"}},
    {"NegativeDuration",
     "\"dur\": 4.000",
     "\"dur\": -4.000",
     {"event 5: dur must not be negative, found -4.000",
      "event 6: the flow is not on a slice that was written before it"}},
    {"ZeroPid",
     "\"s\": \"p\", \"pid\": 20003",
     "\"s\": \"p\", \"pid\": 0",
     {"event 10: pid must be a whole number from 1 to 4294967295, found 0"}},
    {"NegativePid",
     "\"s\": \"p\", \"pid\": 20003",
     "\"s\": \"p\", \"pid\": -1",
     {"event 10: pid must be a whole number from 1 to 4294967295, found -1"}},
    {"TextPid",
     "\"s\": \"p\", \"pid\": 20003",
     "\"s\": \"p\", \"pid\": \"Spans\"",
     {"event 10: pid must be a whole number from 1 to 4294967295, found \"Spans\""}},
    {"ZeroTid",
     "\"tid\": 1, \"ts\": 4.000",
     "\"tid\": 0, \"ts\": 4.000",
     {"event 10: tid must be a whole number from 1 to 4294967295, found 0"}},
    {"WideTid",
     "\"tid\": 1, \"ts\": 4.000",
     "\"tid\": 4294967296, \"ts\": 4.000",
     {"event 10: tid must be a whole number from 1 to 4294967295, found 4294967296"}},
    {"NoThread",
     "\"pid\": 10003, \"tid\": 7, \"args\"",
     "\"pid\": 10003, \"args\"",
     {"event 1: tid must be a whole number from 1 to 4294967295, found nothing"}},
    {"MainThread",
     "\"tid\": 1, \"ts\": 4.000",
     "\"tid\": 20003, \"ts\": 4.000",
     {"event 10: tid and pid are both 20003, which marks a main thread"}},
    {"Unsorted", "\"ts\": 4.000", "\"ts\": 2.999", {"event 10: ts is before that of event 9"}},
    {"Overlap",
     "\"ts\": 1.000, \"dur\": 0.500",
     "\"ts\": 1.000, \"dur\": 9.001",
     {"event 7: overlaps event 2 on pid 20003 tid 1 without nesting in it"}},
    {"ChildFirst",
     "\"ts\": 0.000, \"dur\": 10.000",
     "\"ts\": 0.000, \"dur\": 0.400",
     {"event 3: starts together with event 2 on its track but is longer; parents come first"}},
    {"FlowId",
     "\"ph\": \"s\", \"id\": 5",
     "\"ph\": \"s\", \"id\": 4294967296",
     {"event 4: id must be a whole number from 0 to 4294967295, found 4294967296",
      "event 6: flow 5 has no start before it"}},
    {"FlowNeverEnds",
     "\"ph\": \"s\", \"id\": 5",
     "\"ph\": \"s\", \"id\": 6",
     {"event 4: flow 6 never ends", "event 6: flow 5 has no start before it"}},
    {"FlowTwice",
     "\"ph\": \"f\", \"bp\": \"e\"",
     "\"ph\": \"s\"",
     {"event 4: flow 5 never ends", "event 6: flow 5 was already started by event 4"}},
    {"FlowEndsTwice",
     "{\"ph\": \"f\"",
     "{\"ph\": \"f\", \"bp\": \"e\", \"id\": 5, \"cat\": \"ac2g\", \"name\": \"ac2g\", \"pid\": "
     "10003, \"tid\": 7, \"ts\": 0.500},\n{\"ph\": \"f\"",
     {"event 7: flow 5 has already ended"}},
    {"FlowBinding",
     "\"bp\": \"e\", ",
     "",
     {"event 6: a flow's end needs \"bp\": \"e\", else it binds to the next slice"}},
    {"FlowOffSlice",
     "\"name\": \"ac2g\", \"pid\": 10003, \"tid\": 7",
     "\"name\": \"ac2g\", \"pid\": 10003, \"tid\": 8",
     {"event 6: the flow is not on a slice that was written before it"}},
    {"CounterText",
     "\"allocated_GiB\": 1.5",
     "\"allocated_GiB\": \"1.5\"",
     {"event 9: counter 'allocated_GiB' must be a number, found \"1.5\""}},
    {"CounterEmpty", "{\"allocated_GiB\": 1.5}", "{}", {"event 9: a counter needs args"}},
    {"InstantScope",
     "\"s\": \"p\"",
     "\"s\": \"x\"",
     {"event 10: s must be one of g p t, found \"x\""}},
};

const BrokenTrace kBrokenKernels[] = {
    {"RankArgument",
     "\"args\": {\"device\": 3",
     "\"args\": {\"rank\": 3, \"device\": 3",
     {"event 5: args must not have the key 'rank'"}},
    {"NameArgument",
     "\"args\": {\"device\": 3",
     "\"args\": {\"name\": 3, \"device\": 3",
     {"event 5: args must not have the key 'name'"}},
    {"NoArguments",
     "\"args\": {\"device\": 3, \"context\": 1, \"stream\": 7",
     "\"extra\": {\"x\": 7",
     {"event 5: a GPU event needs args"}},
    {"NoDevice",
     "\"device\": 3, ",
     "",
     {"event 5: args.device must be a whole number from 0 to 4294967295, found nothing"}},
    {"ZeroStream",
     "\"stream\": 7",
     "\"stream\": 0",
     {"event 5: args.stream must be a whole number from 1 to 4294967295, found 0"}},
    {"WideCorrelation",
     "\"correlation\": 1, \"step\"",
     "\"correlation\": 4294967296, \"step\"",
     {"event 5: args.correlation must be a whole number from 1 to 4294967295, found 4294967296"}},
    {"NoLaunch",
     "\"correlation\": 1}",
     "\"correlation\": 3}",
     {"event 5: no cudaLaunchKernel has its correlation 1"}},
    {"LaunchTwice",
     "\"args\": {\"correlation\": 2}",
     "\"args\": {\"correlation\": 1}",
     {"event 7: correlation 1 is also that of event 3",
      "event 8: no cudaLaunchKernel has its correlation 2"}},
    {"KernelTwice",
     "\"correlation\": 2, \"step\"",
     "\"correlation\": 1, \"step\"",
     {"event 8: correlation 1 is also that of event 5"}},
    {"LateLaunch",
     "\"ts\": 1.000, \"dur\": 0.500",
     "\"ts\": 2.001, \"dur\": 0.500",
     {"event 8: ts is before that of event 7", "event 8: starts before its launch, event 7"}},
    {"NoKey",
     ", \"sk\": \"s1/mb0/fwd/L3/q/forward\"",
     "",
     {"event 5: args.sk must be a task key, found nothing"}},
    {"BadKey",
     "s1/mb0/fwd/L3/q/forward",
     "L3.q",
     {"event 5: args.sk must be a task key, found \"L3.q\""}},
    {"KeyDisagrees",
     "\"mb\": 0, \"phase\": \"fwd\", \"layer\": \"L3\"",
     "\"mb\": 1, \"phase\": \"bwd\", \"layer\": 3",
     {"event 5: args.mb must be 0, as in args.sk, found 1",
      "event 5: args.phase must be \"fwd\", as in args.sk, found \"bwd\"",
      "event 5: args.layer must be \"L3\", as in args.sk, found 3"}},
    {"CommunicationName",
     "ncclDevKernel_AllGather_RING_LL",
     "all_gather",
     {"event 8: the name of a communication kernel must begin with 'nccl'"}},
    {"ComputeName",
     "gemm q forward L3",
     "nccl q forward",
     {"event 5: only the name of a communication kernel may begin with 'nccl'"}},
    {"CollectiveText",
     "\"Process Group Ranks\": \"[0, 1, 2, 3]\"",
     "\"Process Group Ranks\": [0, 1]",
     {"event 8: args.Process Group Ranks must be a string, found [0,1]"}},
    {"CollectiveNumber",
     "\"In msg nelems\": 1, ",
     "",
     {"event 8: args.In msg nelems must be a whole number >= 0, found nothing"}},
    {"NoKernels",
     "\"sk\": \"s1/mb0/fwd/L3/q/forward\"",
     "\"sk\": \"s1/mb0/fwd/L3/q/forward\", \"kernels\": []",
     {"event 5: args.kernels must be an array that is not empty, found []"}},
    {"KernelsNoArray",
     "\"sk\": \"s1/mb0/fwd/L3/q/forward\"",
     "\"sk\": \"s1/mb0/fwd/L3/q/forward\", \"kernels\": {}",
     {"event 5: args.kernels must be an array that is not empty, found {}"}},
    {"KernelOfItNoObject",
     "\"sk\": \"s1/mb0/fwd/L3/q/forward\"",
     "\"sk\": \"s1/mb0/fwd/L3/q/forward\", \"kernels\": [7]",
     {"event 5: args.kernels/0 must have a name as kernel, a whole number as after_ns, a whole "
      "number >= 0 as dur_ns and nothing else, found 7"}},
    {"KernelOfItWithoutName",
     "\"sk\": \"s1/mb0/fwd/L3/q/forward\"",
     "\"sk\": \"s1/mb0/fwd/L3/q/forward\", \"kernels\": [{\"kernel\": \"\", \"after_ns\": 1, "
     "\"dur_ns\": 1}]",
     {"event 5: args.kernels/0 must have a name as kernel, a whole number as after_ns, a whole "
      "number >= 0 as dur_ns and nothing else, found "
      "{\"after_ns\":1,\"dur_ns\":1,\"kernel\":\"\"}"}},
    {"KernelOfItTooShort",
     "\"sk\": \"s1/mb0/fwd/L3/q/forward\"",
     "\"sk\": \"s1/mb0/fwd/L3/q/forward\", \"kernels\": [{\"kernel\": \"k\", \"after_ns\": 1, "
     "\"dur_ns\": 1}, {\"kernel\": \"k\", \"after_ns\": 1, \"dur_ns\": -1}]",
     {"event 5: args.kernels/1 must have a name as kernel, a whole number as after_ns, a whole "
      "number >= 0 as dur_ns and nothing else, found "
      "{\"after_ns\":1,\"dur_ns\":-1,\"kernel\":\"k\"}"}},
    {"KernelOfItNoWholeNumber",
     "\"sk\": \"s1/mb0/fwd/L3/q/forward\"",
     "\"sk\": \"s1/mb0/fwd/L3/q/forward\", \"kernels\": [{\"kernel\": \"k\", \"after_ns\": 1.5, "
     "\"dur_ns\": 1}]",
     {"event 5: args.kernels/0 must have a name as kernel, a whole number as after_ns, a whole "
      "number >= 0 as dur_ns and nothing else, found "
      "{\"after_ns\":1.5,\"dur_ns\":1,\"kernel\":\"k\"}"}},
    {"KernelOfItWithMore",
     "\"sk\": \"s1/mb0/fwd/L3/q/forward\"",
     "\"sk\": \"s1/mb0/fwd/L3/q/forward\", \"kernels\": [{\"kernel\": \"k\", \"after_ns\": 1, "
     "\"dur_ns\": 1, \"x\": 1}]",
     {"event 5: args.kernels/0 must have a name as kernel, a whole number as after_ns, a whole "
      "number >= 0 as dur_ns and nothing else, found "
      "{\"after_ns\":1,\"dur_ns\":1,\"kernel\":\"k\"..."}},
    {"KernelsUnsorted",
     "\"sk\": \"s1/mb0/fwd/L3/q/forward\"",
     "\"sk\": \"s1/mb0/fwd/L3/q/forward\", \"kernels\": [{\"kernel\": \"k\", \"after_ns\": 2, "
     "\"dur_ns\": 1}, {\"kernel\": \"k\", \"after_ns\": 1, \"dur_ns\": 1}]",
     {"event 5: args.kernels/1 starts before the one that it follows"}},
    {"WaitAndTransfer",
     "\"wait_ns\": 1000",
     "\"wait_ns\": 999",
     {"event 8: wait_ns + xfer_ns is 2999, but dur is 3000 ns"}},
};

std::string rule_name(const testing::TestParamInfo<BrokenTrace>& info) {
  return info.param.rule;
}

INSTANTIATE_TEST_SUITE_P(File, TraceRules, testing::ValuesIn(kBrokenFiles), rule_name);
INSTANTIATE_TEST_SUITE_P(Event, TraceRules, testing::ValuesIn(kBrokenEvents), rule_name);
INSTANTIATE_TEST_SUITE_P(Kernel, TraceRules, testing::ValuesIn(kBrokenKernels), rule_name);

TEST(TraceRules, RecoverAfterABrokenEvent) {
  std::string text = kGood;
  text.replace(text.find("\"tid\": 1, \"ts\": 4.000"), 8, "\"tid\": 0");
  text.replace(text.find("\"allocated_GiB\": 1.5"), 20, "\"allocated_GiB\": {} ");
  EXPECT_THAT(broken_trace_rules(text),
              testing::ElementsAre("event 9: counter 'allocated_GiB' must be a number, found {}",
                                   "event 10: tid must be a whole number from 1 to 4294967295, "
                                   "found 0"));
}

TEST(TraceRules, RefuseHopelessNesting) {
  EXPECT_THAT(broken_trace_rules("{\"a\": " + std::string(100000, '[')),
              testing::ElementsAre("trace: is not complete, valid JSON: is nested deeper than 64 "
                                   "levels"));
}

}  // namespace
}  // namespace amsp
