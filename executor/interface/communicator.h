#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "executor/interface/dtype.h"
#include "executor/interface/stream.h"
#include "topology/collective/collective.h"
#include "topology/spec/mesh.h"

namespace amsp {

/// A contiguous run of elements in memory of the device.
struct Segment {
  void* data;
  std::int64_t count;
};

/// One message of a group, in place: every member names its own memory for the whole message, cut
/// into the parts of the members. parts[i] may be empty, may have several segments, and has the
/// same counts on all members.
///   all_gather, broadcast  before: the part of member i is right on i; after: all on all. A
///                          broadcast is one message a root, in one group call.
///   reduce_scatter         after: part i on member i is the sum over all members; the other
///                          parts are undefined
///   all_reduce             after: every part is the sum, everywhere
struct Message {
  CollectiveKind kind;
  DType type;
  std::vector<std::vector<Segment>> parts;
};

/// This rank's group of a mesh. All members enqueue the same messages in the same order. Sums are
/// the same bits on every member, and don't depend on timing.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int size() const = 0;
  virtual int position() const = 0;
  /// Enqueues; `message` is copied. The work fails with DeviceError if a member is lost or doesn't
  /// come in time, naming it.
  virtual void enqueue(Stream& stream, const Message& message) = 0;
};

/// Opens communicators between the ranks of a run.
class Fabric {
 public:
  virtual ~Fabric() = default;
  /// "sockets of one machine", "threads of one process", "NCCL 2.28.9".
  virtual std::string description() const = 0;
  /// The communicator of this rank's group in process_groups(mesh, dp). All ranks of dp call it
  /// with the same arguments, in the same order.
  virtual std::unique_ptr<Communicator> open(const SubMesh& mesh, Mesh dp) = 0;
};

}  // namespace amsp
