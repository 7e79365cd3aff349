#include "executor/cuda/fabric/peer_fabric.h"

#include <fmt/core.h>

#include <map>
#include <tuple>

#include "core/error.h"
#include "executor/cuda/check.h"
#include "executor/cuda/device_impl.h"
#include "executor/cuda/fabric/meeting.h"
#include "executor/cuda/kernels/kernels.h"

namespace amsp {
namespace cuda {
namespace {

/// Owned jointly: another member may make its stream wait for it after its owner has gone on.
using SharedEvent = std::shared_ptr<cudaEvent_t>;
SharedEvent make_event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  return {new cudaEvent_t(event), [](cudaEvent_t* it) {
            cudaEventDestroy(*it);
            delete it;
          }};
}

struct Arrival {
  const Message* message;  // valid until the last meeting of its collective
  SharedEvent event;
  int ordinal;
};
using PeerMeeting = Meeting<Arrival>;
using Arrivals = std::shared_ptr<const std::vector<Arrival>>;

void check_alike(const Message& mine, const Message& other, const std::string& label) {
  AMSP_CHECK(
      mine.kind == other.kind && mine.type == other.type && mine.parts.size() == other.parts.size(),
      "{}: members enqueued different messages", label);
  for (std::size_t i = 0; i < mine.parts.size(); ++i) {
    AMSP_CHECK(mine.parts[i].size() == other.parts[i].size(), "{}: parts {} differ", label, i);
    for (std::size_t s = 0; s < mine.parts[i].size(); ++s)
      AMSP_CHECK(mine.parts[i][s].count == other.parts[i][s].count, "{}: counts of part {} differ",
                 label, i);
  }
}

/// One collective of one member: what it enqueues, on its own stream. Sources are read only after
/// the events of the members' last writes; a member's stream goes on only after all have read.
class PeerCommunicator final : public Communicator {
 public:
  PeerCommunicator(std::shared_ptr<Context> context, std::shared_ptr<PeerMeeting> meeting, int size,
                   int position)
      : context_(std::move(context)),
        meeting_(std::move(meeting)),
        size_(size),
        position_(position) {
    context_->bind();
    for (SharedEvent* event : {&ready_, &reduced_, &done_}) *event = make_event();
    const Arrivals all = meeting_->meet(position_, {nullptr, nullptr, context_->ordinal}, "open");
    for (const Arrival& arrival : *all)
      if (arrival.ordinal != context_->ordinal)
        throw ConfigError(fmt::format("virtual ranks share one GPU, and these have {} and {}",
                                      context_->ordinal, arrival.ordinal));
  }

  int size() const override { return size_; }
  int position() const override { return position_; }

  void enqueue(Stream& stream, const Message& message) override {
    AMSP_CHECK(std::ssize(message.parts) == size_, "{} parts for {} members", message.parts.size(),
               size_);
    if (size_ == 1) return;
    CudaStream& ours = cuda_stream(stream);
    ours.begin();
    const Range range(ours);
    const Arrivals all = meet(ours, ready_, message);
    for (const Arrival& arrival : *all) check_alike(message, *arrival.message, ours.label_text());
    const auto mine = static_cast<std::size_t>(position_);
    switch (message.kind) {
      case CollectiveKind::kAllGather:
      case CollectiveKind::kBroadcast:
        pull(ours, *all, mine);
        break;
      case CollectiveKind::kReduceScatter:
        reduce(ours, *all, mine);
        break;
      case CollectiveKind::kAllReduce:
        reduce(ours, *all, mine);
        meet(ours, reduced_, message);
        pull(ours, *all, mine);
        break;
    }
    meet(ours, done_, message);
  }

 private:
  /// Lets this stream go on only when all members' streams have come to this point.
  Arrivals meet(CudaStream& stream, const SharedEvent& event, const Message& message) {
    check(cudaEventRecord(*event, stream.get()), stream.label_text());
    Arrivals all =
        meeting_->meet(position_, {&message, event, context_->ordinal}, stream.label_text());
    for (const Arrival& arrival : *all)
      if (arrival.event != event)
        check(cudaStreamWaitEvent(stream.get(), *arrival.event, cudaEventWaitDefault),
              stream.label_text());
    return all;
  }

  /// The other members' parts, from their memory into mine.
  void pull(const CudaStream& stream, const std::vector<Arrival>& all, std::size_t mine) {
    const Message& to = *all[mine].message;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i == mine) continue;
      const std::vector<Segment>& from = all[i].message->parts[i];
      for (std::size_t s = 0; s < from.size(); ++s) {
        const Segment& segment = to.parts[i][s];
        check(cudaMemcpyAsync(segment.data, from[s].data,
                              static_cast<std::size_t>(segment.count * size_of(to.type)),
                              cudaMemcpyDeviceToDevice, stream.get()),
              stream.label_text());
      }
    }
  }

  /// My part becomes the sum over the members.
  void reduce(const CudaStream& stream, const std::vector<Arrival>& all, std::size_t mine) {
    const Message& message = *all[mine].message;
    for (std::size_t s = 0; s < message.parts[mine].size(); ++s) {
      SumOfSources work = {};
      work.type = message.type;
      work.n = message.parts[mine][s].count;
      work.count = static_cast<int>(all.size());
      work.out = message.parts[mine][s].data;
      for (std::size_t i = 0; i < all.size(); ++i)
        work.sources[i] = all[i].message->parts[mine][s].data;
      check(launch(stream.get(), work), stream.label_text());
    }
  }

  const std::shared_ptr<Context> context_;
  const std::shared_ptr<PeerMeeting> meeting_;
  const int size_;
  const int position_;
  SharedEvent ready_, reduced_, done_;
};

/// The meetings of all groups, by who opened them how early.
class PeerHub {
 public:
  explicit PeerHub(const PeerOptions& options) : options_(options) {}

  /// `number` counts the calls of open() of a rank.
  std::shared_ptr<PeerMeeting> meeting(int number, int group, const SubMesh& mesh) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<PeerMeeting>& found = meetings_[{number, group}];
    if (!found)
      found = std::make_shared<PeerMeeting>(
          mesh.size(), fmt::format("group {} of {}", group, to_string(mesh)), options_.timeout);
    return found;
  }

 private:
  const PeerOptions options_;
  std::mutex mutex_;
  std::map<std::pair<int, int>, std::shared_ptr<PeerMeeting>> meetings_;
};

class PeerFabric final : public Fabric {
 public:
  PeerFabric(std::shared_ptr<PeerHub> hub, CudaDevice& device, Rank rank, int size)
      : hub_(std::move(hub)), context_(device.context()), rank_(rank), size_(size) {}

  std::string description() const override {
    return "virtual ranks: numerics and schedule only, no interconnect";
  }
  std::unique_ptr<Communicator> open(const SubMesh& mesh, Mesh dp) override {
    AMSP_CHECK(dp.size() == size_, "dp has {} ranks, the process {}", dp.size(), size_);
    if (mesh.size() > kMaxSources)
      throw ConfigError(fmt::format("group of {} virtual ranks ({}): at most {}", mesh.size(),
                                    to_string(mesh), kMaxSources));
    const GroupPosition mine = group_position(mesh, dp, rank_);
    return std::make_unique<PeerCommunicator>(context_, hub_->meeting(opened_++, mine.group, mesh),
                                              mesh.size(), mine.position);
  }

 private:
  const std::shared_ptr<PeerHub> hub_;
  const std::shared_ptr<Context> context_;
  const Rank rank_;
  const int size_;
  int opened_ = 0;
};

}  // namespace
}  // namespace cuda

std::vector<std::unique_ptr<Fabric>> make_peer_fabrics(const std::vector<Device*>& devices,
                                                       const PeerOptions& options) {
  auto hub = std::make_shared<cuda::PeerHub>(options);
  std::vector<std::unique_ptr<Fabric>> fabrics;
  for (Device* device : devices)
    fabrics.push_back(std::make_unique<cuda::PeerFabric>(hub, cuda::cuda_device(*device),
                                                         static_cast<Rank>(fabrics.size()),
                                                         static_cast<int>(devices.size())));
  return fabrics;
}

}  // namespace amsp
