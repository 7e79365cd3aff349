#pragma once

#include <nccl.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "executor/cuda/cuda_stream.h"

namespace amsp::cuda {

/// Owns a non-blocking communicator of NCCL and watches over it (Watch::Guard). One thread
/// enqueues; others may poll and abort.
class NcclLink {
 public:
  /// `start` creates the communicator: it gives NCCL's result and sets the handle, at once, or for
  /// a split of `parent` when that is ready. Returns when the new one is. `name` is for messages:
  /// "rank 3, group 4x1".
  NcclLink(std::shared_ptr<Context> context, std::string name, std::chrono::milliseconds timeout,
           const std::function<ncclResult_t(ncclComm_t*, ncclConfig_t*)>& start, NcclLink* parent);
  ~NcclLink();
  NcclLink(const NcclLink&) = delete;
  NcclLink& operator=(const NcclLink&) = delete;

  ncclComm_t get() const { return comm_; }
  /// Runs `calls` in one group and waits until NCCL has launched it. Remembers the stream's label
  /// until the group is done. Throws DeviceError, after aborting every communicator of the device.
  void group(CudaStream& stream, const std::function<ncclResult_t()>& calls);

 private:
  struct Pending {
    cudaEvent_t done;
    std::string label;
  };

  std::string failure();
  std::string unfinished();
  void abort();
  std::string first_pending();  // mutex_ is held
  void forget_done();           // mutex_ is held
  /// Empty, or why the communicator isn't ready after the time-out or an error.
  std::string wait_until_ready(const std::string& what);
  std::string describe(ncclResult_t result, const std::string& what);

  const std::shared_ptr<Context> context_;
  const std::string name_;
  const std::chrono::milliseconds timeout_;
  int guard_ = -1;
  std::mutex mutex_;  // of all below; never held while the watch is called
  ncclComm_t comm_ = nullptr;
  bool aborted_ = false;
  std::deque<Pending> pending_;  // in the order of enqueuing
  std::vector<cudaEvent_t> unused_;
};

}  // namespace amsp::cuda
