#include "executor/cuda/fabric/nccl_fabric.h"

#include <fmt/core.h>

#include <cstring>

#include "core/error.h"
#include "executor/cuda/device_impl.h"
#include "executor/cuda/fabric/nccl_calls.h"
#include "executor/cuda/fabric/nccl_link.h"

namespace amsp {
namespace cuda {
namespace {

ncclDataType_t nccl_type(DType type) {
  switch (type) {
    case DType::kBf16:
      return ncclBfloat16;
    case DType::kF32:
      return ncclFloat32;
    case DType::kF64:
      return ncclFloat64;
    case DType::kI32:
      return ncclInt32;
  }
  throw InternalError("an element type that NCCL doesn't have");
}

/// Text can travel by any World.
std::string to_hex(const ncclUniqueId& id) {
  std::string text;
  for (const char byte : id.internal)
    text += fmt::format("{:02x}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
  return text;
}
ncclUniqueId from_hex(const std::string& text) {
  ncclUniqueId id;
  if (text.size() != 2 * sizeof(id.internal)) throw DeviceError("rank 0 gave no id of NCCL");
  for (std::size_t i = 0; i < sizeof(id.internal); ++i)
    id.internal[i] = static_cast<char>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  return id;
}

ncclResult_t run(const NcclCall& call, DType type, int position, ncclComm_t comm,
                 cudaStream_t stream) {
  using Kind = NcclCall::Kind;
  const auto count = static_cast<std::size_t>(call.count);
  const ncclDataType_t as = nccl_type(type);
  char* const mine = static_cast<char*>(call.data) + position * call.count * size_of(type);
  switch (call.kind) {
    case Kind::kAllGather:
      return ncclAllGather(mine, call.data, count, as, comm, stream);
    case Kind::kReduceScatter:
      return ncclReduceScatter(call.data, mine, count, as, ncclSum, comm, stream);
    case Kind::kAllReduce:
      return ncclAllReduce(call.data, call.data, count, as, ncclSum, comm, stream);
    case Kind::kBroadcast:
      return ncclBroadcast(call.data, call.data, count, as, call.root, comm, stream);
    case Kind::kReduce:
      return ncclReduce(call.data, call.data, count, as, ncclSum, call.root, comm, stream);
  }
  return ncclInvalidArgument;
}

class NcclCommunicator final : public Communicator {
 public:
  /// `link` is null for a group of one.
  NcclCommunicator(int size, int position, std::unique_ptr<NcclLink> link)
      : size_(size), position_(position), link_(std::move(link)) {}

  int size() const override { return size_; }
  int position() const override { return position_; }
  void enqueue(Stream& stream, const Message& message) override {
    const std::vector<NcclCall> calls = nccl_calls(message, size_);
    if (calls.empty()) return;
    CudaStream& ours = cuda_stream(stream);
    link_->group(ours, [&] {
      for (const NcclCall& call : calls)
        if (const ncclResult_t result =
                run(call, message.type, position_, link_->get(), ours.get());
            result != ncclSuccess && result != ncclInProgress)
          return result;
      return ncclSuccess;
    });
  }

 private:
  const int size_;
  const int position_;
  const std::unique_ptr<NcclLink> link_;
};

class NcclFabric final : public Fabric {
 public:
  NcclFabric(World& world, CudaDevice& device, const NcclOptions& options)
      : context_(device.context()), rank_(world.rank()), size_(world.size()), options_(options) {
    // Rank 0's failure must reach the others, who wait for its text.
    std::string text;
    std::string problem;
    if (rank_ == 0) {
      ncclUniqueId id;
      const ncclResult_t result = ncclGetUniqueId(&id);
      if (result == ncclSuccess)
        text = to_hex(id);
      else
        problem = fmt::format("rank 0: ncclGetUniqueId: {}", ncclGetErrorString(result));
    }
    const std::string id_text = world.exchange(text).front();
    if (!problem.empty()) throw DeviceError(problem);
    const ncclUniqueId id = from_hex(id_text);
    all_ = std::make_unique<NcclLink>(
        context_, fmt::format("rank {}, all {} ranks", rank_, size_), options.timeout,
        [&](ncclComm_t* comm, ncclConfig_t* config) {
          return ncclCommInitRankConfig(comm, size_, id, rank_, config);
        },
        nullptr);
  }

  std::string description() const override {
    int version = 0;
    ncclGetVersion(&version);
    return fmt::format("NCCL {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
  }

  std::unique_ptr<Communicator> open(const SubMesh& mesh, Mesh dp) override {
    AMSP_CHECK(dp.size() == size_, "dp has {} ranks, the world {}", dp.size(), size_);
    const GroupPosition mine = group_position(mesh, dp, rank_);
    std::unique_ptr<NcclLink> link;
    if (mesh.size() > 1)
      link = std::make_unique<NcclLink>(
          context_, fmt::format("rank {}, group {} of {}", rank_, mine.group, to_string(mesh)),
          options_.timeout,
          [&](ncclComm_t* comm, ncclConfig_t* config) {
            return ncclCommSplit(all_->get(), mine.group, mine.position, comm, config);
          },
          all_.get());
    return std::make_unique<NcclCommunicator>(mesh.size(), mine.position, std::move(link));
  }

 private:
  const std::shared_ptr<Context> context_;
  const Rank rank_;
  const int size_;
  const NcclOptions options_;
  std::unique_ptr<NcclLink> all_;
};

}  // namespace
}  // namespace cuda

std::unique_ptr<Fabric> make_nccl_fabric(World& world, Device& device, const NcclOptions& options) {
  return std::make_unique<cuda::NcclFabric>(world, cuda::cuda_device(device), options);
}

}  // namespace amsp
