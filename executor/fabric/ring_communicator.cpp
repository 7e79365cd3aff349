#include "executor/fabric/ring_communicator.h"

#include <atomic>
#include <exception>
#include <string>

#include "core/error.h"
#include "executor/fabric/lost_rank.h"
#include "executor/fabric/ring.h"
#include "executor/host/host_stream.h"

namespace amsp {

struct RingCommunicator::State {
  State(std::unique_ptr<RingLinks> l, OnFailure f)
      : links(std::move(l)), on_failure(std::move(f)), ring(*links) {}

  void run(const Message& message) {
    AMSP_CHECK(!running.exchange(true), "two calls of a communicator at once");
    try {
      ring.run(message);
    } catch (const LostRank& error) {
      links->close(error.what());
      throw;
    } catch (const std::exception& error) {
      if (on_failure) on_failure(links->rank());
      links->close(lost_rank_text(links->rank(), error.what()));
      throw;
    }
    running = false;
    --unfinished;
  }

  std::unique_ptr<RingLinks> links;
  OnFailure on_failure;
  Ring ring;
  std::atomic<bool> running = false;
  std::atomic<int> unfinished = 0;
};

RingCommunicator::RingCommunicator(std::unique_ptr<RingLinks> links, OnFailure on_failure)
    : state_(std::make_shared<State>(std::move(links), std::move(on_failure))) {}

RingCommunicator::~RingCommunicator() {
  if (state_->unfinished == 0) return;
  const Rank rank = state_->links->rank();
  if (state_->on_failure) state_->on_failure(rank);
  state_->links->abandon(lost_rank_text(rank, "it gave up a collective"));
}

int RingCommunicator::size() const {
  return state_->links->size();
}
int RingCommunicator::position() const {
  return state_->links->position();
}

void RingCommunicator::enqueue(Stream& stream, const Message& message) {
  auto* host = dynamic_cast<HostStream*>(&stream);
  AMSP_CHECK(host != nullptr, "a communicator of the host on a stream of another device");
  AMSP_CHECK(static_cast<int>(message.parts.size()) == size(), "{} parts for {} members",
             message.parts.size(), size());
  ++state_->unfinished;
  host->enqueue([state = state_, message] { state->run(message); }, to_string(message.kind));
}

}  // namespace amsp
