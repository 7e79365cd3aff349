#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "topology/spec/mesh.h"

namespace amsp {

/// A member's two links on the ring of a group: it sends to the next member, it receives from the
/// previous one. Both are first in, first out: the k-th receive gets the bytes of the previous
/// member's k-th send, which are as many. What was started is finished in the order of starting. A
/// send may need the next member to start the receive, or even to finish it; a receive needs the
/// previous member to start the send, and no more.
///
/// One thread uses a member's links, but for abandon(). All but abandon() and close() throw
/// LostRank if a neighbour is lost or has abandoned the ring, or if nothing comes in time.
class RingLinks {
 public:
  virtual ~RingLinks() = default;
  virtual int size() const = 0;
  virtual int position() const = 0;
  virtual Rank rank() const = 0;

  /// Never empty. The bytes must stay, unchanged, until finish_send().
  virtual void start_send(std::span<const std::byte> bytes) = 0;
  virtual void finish_send() = 0;
  /// Never empty. The bytes are the links' until finish_receive().
  virtual void start_receive(std::span<std::byte> bytes) = 0;
  virtual void finish_receive() = 0;

  /// Thread-safe. Wakes whoever waits here and, sooner or later, at all other members: they throw
  /// LostRank(reason).
  virtual void abandon(const std::string& reason) = 0;
  /// abandon(), by the thread that uses the links: afterwards nobody touches memory that was given
  /// to start_send() or start_receive().
  virtual void close(const std::string& reason) = 0;
};

}  // namespace amsp
