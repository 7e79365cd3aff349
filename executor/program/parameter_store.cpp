#include "executor/program/parameter_store.h"

#include <algorithm>

#include "core/error.h"
#include "executor/program/message_plan.h"

namespace amsp {

ParameterStore::ParameterStore(ProgramContext& context) : context_(context) {
  const ShardLayout& shards = context.shards;
  const auto lay_out = [&](auto slice_of, std::vector<std::int64_t>& offsets) {
    std::int64_t end = 0;
    for (TensorId id = 0; id < static_cast<TensorId>(context.tensors.size()); ++id) {
      offsets.push_back(end);
      end += align_tensor(context.bytes(slice_of(id)));
    }
    return end;
  };
  slices_ = context.table.persistent(
      MemoryUse::kParameters, lay_out([&](TensorId id) { return shards.slice(id); }, offsets_));
  if (shards.secondary_ways() > 0)
    secondary_ = context.table.persistent(
        MemoryUse::kSecondary,
        lay_out([&](TensorId id) { return shards.secondary_slice(id); }, secondary_offsets_));
}

Ref ParameterStore::whole(int block, TensorId id) {
  if (context_.shards.ways() == 1) return slice(id);
  const auto found = gathered_.find({block, id});
  AMSP_CHECK(found != gathered_.end(), "{} uses {} before it was gathered",
             context_.graph.key(context_.current), context_.tensor(id).name);
  return context_.use(found->second);
}

TaskLaunch ParameterStore::prepare_gather(const Task& task) {
  const CollectiveWork& work = context_.graph.collective(task);
  const ShardLayout& shards = context_.shards;
  const bool secondary = shards.secondary_ways() > 0 && task.key.phase != Phase::kForward;
  const bool keep = shards.secondary_ways() > 0 && task.key.phase == Phase::kForward;
  const int ways = secondary ? shards.secondary_ways() : shards.ways();
  const int position = secondary ? shards.secondary_position() : shards.position();
  struct Copy {
    Ref from, to;
    std::int64_t n;
  };
  std::vector<Copy> before, after;
  MessagePlan message(CollectiveKind::kAllGather, context_.type, ways);
  for (const TensorId id : work.tensors) {
    const std::int64_t n = secondary ? shards.secondary_slice(id) : shards.slice(id);
    const BufferId buffer =
        context_.table.transient(MemoryUse::kGathered, context_.bytes(n * ways));
    gathered_[{task.key.block, id}] = buffer;
    const Ref whole = context_.use(buffer);
    const auto i = static_cast<std::size_t>(id);
    const Ref own = secondary ? Ref{secondary_, secondary_offsets_[i]} : slice(id);
    before.push_back({own, whole + context_.bytes(n * position), n});
    for (int member = 0; member < ways; ++member)
      message.add(member, whole + context_.bytes(n * member), n);
    if (keep) {
      // The last secondary slices may reach beyond the padded tensor.
      const std::int64_t part = shards.secondary_slice(id);
      const std::int64_t from = part * shards.secondary_position();
      const std::int64_t count = std::clamp<std::int64_t>(n * ways - from, 0, part);
      if (count > 0)
        after.push_back({whole + context_.bytes(from), {secondary_, secondary_offsets_[i]}, count});
    }
  }
  Communicator* communicator = context_.communicators[static_cast<std::size_t>(task.stream)].get();
  return [&device = context_.device, type = context_.type, at = context_.addresses, before, after,
          message, communicator](Stream& stream, const StepContext&) {
    const auto copy = [&](const Copy& one) {
      device.run(stream, Convert{one.n, type, (*at)(one.from), type, (*at)(one.to), false});
    };
    for (const Copy& one : before) copy(one);
    communicator->enqueue(stream, message.at(*at));
    for (const Copy& one : after) copy(one);
  };
}

TaskLaunch ParameterStore::prepare_update(const Task& task) {
  const CollectiveWork& work = context_.graph.collective(task);
  const ShardLayout& shards = context_.shards;
  MessagePlan message(work.call.kind, context_.type, shards.owners());
  for (const TensorId id : work.tensors)
    for (int owner = 0; owner < shards.owners(); ++owner) {
      const SliceRange& part = shards.owned(id, owner);
      message.add(owner, slice(id) + context_.bytes(part.offset), part.count);
    }
  Communicator* communicator = context_.communicators[static_cast<std::size_t>(task.stream)].get();
  return [at = context_.addresses, message, communicator](Stream& stream, const StepContext&) {
    communicator->enqueue(stream, message.at(*at));
  };
}

}  // namespace amsp
