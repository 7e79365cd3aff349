#include "executor/fabric/ring.h"

#include <algorithm>
#include <cstdint>

#include "core/error.h"
#include "executor/fabric/chunks.h"
#include "executor/fabric/sum.h"

namespace amsp {
namespace {

/// Transfers under way in each direction.
constexpr std::int64_t kWindow = 4;
constexpr std::int64_t kMaxChunkBytes = 512 << 10;
/// Smaller chunks cost more in hand-shakes than pipelining gains.
constexpr std::int64_t kMinChunkBytes = 32 << 10;

std::int64_t chunk_elements(std::int64_t slot_elements, std::int64_t element_bytes) {
  return std::clamp((slot_elements + kWindow - 1) / kWindow, kMinChunkBytes / element_bytes,
                    kMaxChunkBytes / element_bytes);
}

struct Arrival {
  Chunk chunk;
  bool add;
};

/// What a member sends and receives in one collective. Everything but the slot that it begins with
/// is sent after it was received: send i is arrival i - lag.
///
/// No member waits forever, whatever the sizes, even if a send is done only when the next member
/// has finished its receive. Write t for the sends that a member has begun (or would have, had it
/// more). At t it waits, in this order, for
///   (1) arrival t - kWindow: then the previous member is at or before t - kWindow;
///   (2) arrival t - lag: then the previous member is at or before t - lag;
///   (3) send t - kWindow: then the next member hasn't finished that arrival, which is under way.
///       It would at (1) or (2) of its own t, so is before t, and waits for somebody else.
/// So t falls along a chain of waiting members, unless all are at (2) with a lag of 0: then nobody
/// has anything to begin with.
class Pass {
 public:
  Pass(RingLinks& links, DType type, std::vector<Chunk> own, std::vector<Arrival> arrivals,
       std::size_t last_slot, std::vector<std::byte>& received, std::vector<std::byte>& sent)
      : links_(links),
        type_(type),
        bytes_(size_of(type)),
        own_(std::move(own)),
        arrivals_(std::move(arrivals)),
        sends_(static_cast<std::int64_t>(own_.size() + arrivals_.size() - last_slot)),
        receives_(static_cast<std::int64_t>(arrivals_.size())),
        received_(received),
        sent_(sent) {
    std::int64_t longest = 0;
    for (const Chunk& chunk : own_) longest = std::max(longest, count_of(chunk));
    for (const Arrival& arrival : arrivals_) longest = std::max(longest, count_of(arrival.chunk));
    stride_ = static_cast<std::size_t>(longest * bytes_);
    const std::size_t needed = stride_ * kWindow;
    if (received_.size() < needed) received_.resize(needed);
    if (sent_.size() < needed) sent_.resize(needed);
  }

  void run() {
    post_receives();
    const auto lag = static_cast<std::int64_t>(own_.size());
    for (std::int64_t i = 0; i < std::max(sends_, receives_); ++i) {
      receive_until(i - kWindow + 1);
      if (i >= sends_) continue;
      receive_until(i - lag + 1);
      if (i >= kWindow) links_.finish_send();
      send(i);
    }
    receive_until(receives_);
    for (std::int64_t i = 0; i < std::min(sends_, kWindow); ++i) links_.finish_send();
  }

 private:
  std::byte* place(std::vector<std::byte>& places, std::int64_t i) const {
    return places.data() + static_cast<std::size_t>(i % kWindow) * stride_;
  }
  std::size_t bytes_of(const Chunk& chunk) const {
    return static_cast<std::size_t>(count_of(chunk) * bytes_);
  }
  static bool direct(const Arrival& arrival) { return !arrival.add && arrival.chunk.size() == 1; }

  void send(std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    const Chunk& chunk = at < own_.size() ? own_[at] : arrivals_[at - own_.size()].chunk;
    const void* data = chunk.front().data;
    if (chunk.size() > 1) {
      gather(chunk, bytes_, place(sent_, i));
      data = place(sent_, i);
    }
    links_.start_send({static_cast<const std::byte*>(data), bytes_of(chunk)});
  }

  void post_receives() {
    for (; posted_ < std::min(done_ + kWindow, receives_); ++posted_) {
      const Arrival& arrival = arrivals_[static_cast<std::size_t>(posted_)];
      void* data = direct(arrival) ? arrival.chunk.front().data : place(received_, posted_);
      links_.start_receive({static_cast<std::byte*>(data), bytes_of(arrival.chunk)});
    }
  }

  void receive_until(std::int64_t count) {
    for (; done_ < std::min(count, receives_); post_receives()) {
      links_.finish_receive();
      const Arrival& arrival = arrivals_[static_cast<std::size_t>(done_)];
      if (!direct(arrival)) take_in(arrival, place(received_, done_));
      ++done_;
    }
  }

  void take_in(const Arrival& arrival, const std::byte* from) const {
    if (!arrival.add) return scatter(arrival.chunk, bytes_, from);
    for (const Segment& segment : arrival.chunk) {
      add_to(type_, segment.data, from, segment.count);
      from += segment.count * bytes_;
    }
  }

  RingLinks& links_;
  DType type_;
  std::int64_t bytes_;
  std::vector<Chunk> own_;
  std::vector<Arrival> arrivals_;
  std::int64_t sends_;
  std::int64_t receives_;
  std::vector<std::byte>& received_;
  std::vector<std::byte>& sent_;
  std::size_t stride_ = 0;
  std::int64_t posted_ = 0;
  std::int64_t done_ = 0;
};

}  // namespace

void Ring::run(const Message& message) {
  const int n = links_.size();
  AMSP_CHECK(static_cast<int>(message.parts.size()) == n, "{} parts for {} members",
             message.parts.size(), n);
  if (n == 1) return;
  const std::int64_t bytes = size_of(message.type);
  const bool reduces =
      message.kind == CollectiveKind::kReduceScatter || message.kind == CollectiveKind::kAllReduce;
  const bool gathers = message.kind != CollectiveKind::kReduceScatter;
  const auto slots = message.kind == CollectiveKind::kAllReduce
                         ? even_slots(message.parts, bytes, n)
                         : message.parts;
  const auto chunks_of = [&](int slot) {
    const auto& segments = slots[static_cast<std::size_t>(slot)];
    return cut(segments, bytes, chunk_elements(count_of(segments), bytes));
  };

  // Slots come in descending order. A sum ends with the own slot, a gathering begins with it.
  const int begin = (links_.position() + n - (reduces ? 1 : 0)) % n;
  const int arriving = (reduces && gathers ? 2 : 1) * (n - 1);
  std::vector<Arrival> arrivals;
  std::size_t last_slot = 0;
  for (int k = 1; k <= arriving; ++k) {
    auto chunks = chunks_of((begin + 2 * n - k) % n);
    last_slot = chunks.size();
    for (Chunk& chunk : chunks) arrivals.push_back({std::move(chunk), reduces && k < n});
  }
  Pass(links_, message.type, chunks_of(begin), std::move(arrivals), last_slot, received_, sent_)
      .run();
}

}  // namespace amsp
