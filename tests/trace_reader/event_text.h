#pragma once

#include <string>
#include <vector>

namespace amsp {

/// One event of a Kineto trace; microseconds as text.
inline std::string kernel(const std::string& name, int stream, const std::string& ts,
                          const std::string& dur, const std::string& more_args = "") {
  return R"({"ph": "X", "cat": "kernel", "name": ")" + name + R"(", "pid": 0, "tid": )" +
         std::to_string(stream) + R"(, "ts": )" + ts + R"(, "dur": )" + dur +
         R"(, "args": {"device": 0, "stream": )" + std::to_string(stream) + more_args + "}}";
}
inline std::string launch(int correlation, const std::string& ts, const std::string& dur) {
  return R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 100, "tid": 100,)"
         R"( "ts": )" +
         ts + R"(, "dur": )" + dur + R"(, "args": {"correlation": )" + std::to_string(correlation) +
         "}}";
}
inline std::string step(int number, const std::string& ts, const std::string& dur) {
  return R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#)" +
         std::to_string(number) + R"(", "pid": 100, "tid": 100, "ts": )" + ts + R"(, "dur": )" +
         dur + "}";
}
inline std::string joined(const std::vector<std::string>& events) {
  std::string text;
  for (const std::string& event : events) text += (text.empty() ? "" : ",\n") + event;
  return text;
}
inline std::string trace(const std::string& events, int rank = 0, const std::string& behind = "") {
  return R"({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": )" +
         std::to_string(rank) + R"(, "world_size": 2}, "traceEvents": [)" + events + "]" + behind +
         "}";
}

}  // namespace amsp
