#pragma once

#include <functional>
#include <memory>

#include "executor/fabric/ring_links.h"
#include "executor/interface/communicator.h"

namespace amsp {

/// Called with the rank whose own failure (not the loss of another) broke a communicator.
using OnFailure = std::function<void(Rank)>;

/// A communicator over a ring, for HostStreams. Its work may be enqueued on several streams, but
/// never so that two calls could run at once (InternalError).
///
/// Destroyed with work not done, it abandons it: that work fails here and at the other members.
/// So destroy communicators before the streams that they work on, which then needn't wait.
class RingCommunicator : public Communicator {
 public:
  explicit RingCommunicator(std::unique_ptr<RingLinks> links, OnFailure on_failure = {});
  RingCommunicator(const RingCommunicator&) = delete;
  RingCommunicator& operator=(const RingCommunicator&) = delete;
  ~RingCommunicator() override;

  int size() const override;
  int position() const override;
  void enqueue(Stream& stream, const Message& message) override;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace amsp
