#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "executor/interface/kernel_run.h"

namespace amsp::cuda {

/// Which task launched what ran on a GPU: joins the launches that a profiler reports, each with a
/// correlation number, with the runs that it reports later under the same number. Knows no
/// profiler. For all devices of a process; an owner stands for one of them. Thread-safe.
class KernelLedger {
 public:
  /// What the calling thread launches until close() is of this task of `owner`. So is what threads
  /// without an open task launch meanwhile, if this is the only open task of the process: NCCL
  /// launches the kernels of a non-blocking group from a thread of its own, before the call that
  /// waits for the group returns. May nest.
  void open(const void* owner, const std::string& task);
  void close();

  /// A launch, copy or fill is called by this thread. A number may be told several times.
  void launched(std::uint32_t correlation);
  /// It has run. `name` may be mangled. Times of 0: the profiler has none.
  void ran(const std::string& name, std::uint32_t correlation, std::int64_t start_ns,
           std::int64_t end_ns);
  void lost(std::int64_t runs);

  /// The owner's runs since the last call, and what is nobody's since anybody's last call.
  /// An owner's launches are forgotten kKeptTakes calls later: not every call that launches makes
  /// the device work.
  KernelRuns take(const void* owner);
  static constexpr int kKeptTakes = 8;
  /// The owner is gone, and with it what nobody took.
  void forget(const void* owner);

 private:
  struct OpenTask {
    const void* owner;
    std::shared_ptr<const std::string> task;
  };
  struct Launch {
    OpenTask of;
    std::int64_t after_takes;
  };
  struct Owner {
    std::vector<KernelRun> runs;
    std::int64_t takes = 0;
  };

  const std::string& readable(const std::string& name);

  std::mutex mutex_;
  std::map<std::thread::id, std::vector<OpenTask>> open_;  // no empty ones
  std::unordered_map<std::uint32_t, Launch> launches_;
  std::unordered_map<std::string, std::string> names_;  // demangled, by name
  std::map<const void*, Owner> owners_;
  std::int64_t lost_ = 0, without_task_ = 0;
};

/// That of this process. Never destroyed: a profiler's threads may tell it things until the end.
KernelLedger& kernel_ledger();

/// "void f<int>(int)" for "_Z1fIiEvi"; a name that isn't mangled stays as it is.
std::string demangled(const std::string& name);
/// "memcpy HtoD", by the number of CUPTI's CUpti_ActivityMemcpyKind.
std::string copy_name(int kind);

}  // namespace amsp::cuda
