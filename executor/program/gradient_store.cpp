#include "executor/program/gradient_store.h"

#include <algorithm>
#include <set>

#include "core/error.h"
#include "executor/program/message_plan.h"

namespace amsp {

GradientStore::GradientStore(ProgramContext& context)
    : context_(context), owned_only_(context.plan.g != context.plan.p) {
  read_reductions();
  // In the order of the buckets, so that a bucket is one run of memory.
  std::vector<TensorId> order;
  for (const auto& [key, bucket] : buckets_)
    if (key.first == context.training.micro_batches - 1)
      order.insert(order.end(), bucket.tensors.begin(), bucket.tensors.end());
  if (order.empty())
    for (TensorId id = 0; id < static_cast<TensorId>(context.tensors.size()); ++id)
      order.push_back(id);
  AMSP_CHECK(order.size() == context.tensors.size(), "{} of {} tensors are in buckets",
             order.size(), context.tensors.size());
  offsets_.resize(order.size());
  std::int64_t end = 0;
  for (const TensorId id : order) {
    offsets_[static_cast<std::size_t>(id)] = end;
    const std::int64_t elements = owned_only_
                                      ? context.shards.owned(id, context.shards.owner()).count
                                      : context.shards.slice(id);
    end += align_tensor(context.grad_bytes(elements));
  }
  kept_ = context.table.persistent(MemoryUse::kGradients, end);
}

void GradientStore::read_reductions() {
  const TaskGraph& graph = context_.graph;
  std::map<int, std::set<SubMesh>> meshes;  // by micro-batch
  for (const Task& task : graph.tasks()) {
    if (task.key.phase != Phase::kGradSync) continue;
    const CollectiveWork& work = graph.collective(task);
    Bucket& bucket = buckets_[{task.key.micro_batch, task.key.bucket}];
    bucket.tensors = work.tensors;
    ++bucket.reductions;
    bucket.scattered |= work.call.kind == CollectiveKind::kReduceScatter;
    for (const TensorId id : work.tensors)
      bucket_numbers_[{task.key.micro_batch, id}] = task.key.bucket;
    meshes[task.key.micro_batch].insert(work.call.mesh);
  }
  if (meshes.empty()) return;
  first_reduced_ = meshes.begin()->first;
  const int last = context_.training.micro_batches - 1;
  per_batch_ = first_reduced_ < last;
  wider_at_last_ = per_batch_ && meshes.begin()->second != meshes.rbegin()->second;
}

GradientStore::Bucket& GradientStore::bucket_of(int micro_batch, TensorId id) {
  const auto number = bucket_numbers_.find({micro_batch, id});
  AMSP_CHECK(number != bucket_numbers_.end(), "micro-batch {} reduces no bucket with {}",
             micro_batch, context_.tensor(id).name);
  return buckets_.at({micro_batch, number->second});
}

Ref GradientStore::in_bucket(const Bucket& bucket, TensorId id) const {
  const auto position = std::ranges::find(bucket.tensors, id) - bucket.tensors.begin();
  return Ref{bucket.buffer, bucket.offsets[static_cast<std::size_t>(position)]};
}

GradTarget GradientStore::slice_target(int micro_batch, TensorId id) {
  const auto [seen, first_ever] = contributed_.try_emplace(id, micro_batch);
  const bool again = !first_ever && seen->second == micro_batch;  // a tied embedding
  seen->second = micro_batch;
  if (accumulates_first()) {
    const Ref kept{kept_, offsets_[static_cast<std::size_t>(id)]};
    return {kept, again || micro_batch > 0};
  }
  Bucket& bucket = bucket_of(micro_batch, id);
  if (bucket.buffer < 0) {
    std::int64_t end = 0;
    for (const TensorId tensor : bucket.tensors) {
      bucket.offsets.push_back(end);
      end += align_tensor(context_.grad_bytes(context_.shards.slice(tensor)));
    }
    bucket.buffer = context_.table.transient(MemoryUse::kBuckets, end);
  }
  context_.use(bucket.buffer);
  return {in_bucket(bucket, id), again};
}

GradTarget GradientStore::target(const Task& task, TensorId id, TaskLaunch& zero_padding) {
  if (context_.shards.ways() == 1) return slice_target(task.key.micro_batch, id);
  const std::int64_t elements = context_.tensor(id).elements;
  const std::int64_t padded = context_.shards.slice(id) * context_.shards.ways();
  const Ref ref = context_.make(MemoryUse::kPending, context_.grad_bytes(padded));
  pending_[id] = ref.buffer;
  if (padded > elements)
    zero_padding = [&device = context_.device, at = context_.addresses, before = zero_padding,
                    tail = ref + context_.grad_bytes(elements),
                    bytes = static_cast<std::size_t>(context_.grad_bytes(padded - elements))](
                       Stream& stream, const StepContext& step) {
      if (before) before(stream, step);
      device.zero(stream, (*at)(tail), bytes);
    };
  return {ref, false};
}

TaskLaunch GradientStore::prepare_scatter(const Task& task) {
  const ShardLayout& shards = context_.shards;
  struct Addition {
    Ref from, to;
    std::int64_t n;
    bool accumulate;
  };
  std::vector<Addition> additions;
  MessagePlan message(CollectiveKind::kReduceScatter, context_.grad_type, shards.ways());
  for (const TensorId id : context_.graph.collective(task).tensors) {
    const Ref whole = context_.use(pending_.at(id));
    const std::int64_t n = shards.slice(id);
    for (int member = 0; member < shards.ways(); ++member)
      message.add(member, whole + context_.grad_bytes(n * member), n);
    const GradTarget to = slice_target(task.key.micro_batch, id);
    additions.push_back(
        {whole + context_.grad_bytes(n * shards.position()), to.ref, n, to.accumulate});
  }
  Communicator* communicator = context_.communicators[static_cast<std::size_t>(task.stream)].get();
  return [&device = context_.device, type = context_.grad_type, at = context_.addresses, additions,
          message, communicator](Stream& stream, const StepContext&) {
    communicator->enqueue(stream, message.at(*at));
    for (const Addition& one : additions)
      device.run(stream,
                 Convert{one.n, type, (*at)(one.from), type, (*at)(one.to), one.accumulate});
  };
}

Ref GradientStore::slice_or_bucket(const Bucket& bucket, TensorId id) const {
  return accumulates_first() ? Ref{kept_, offsets_[static_cast<std::size_t>(id)]}
                             : in_bucket(bucket, id);
}

Ref GradientStore::owned(TensorId id) const {
  const Ref kept{kept_, offsets_[static_cast<std::size_t>(id)]};
  if (owned_only_) return kept;
  return kept + context_.grad_bytes(context_.shards.owned(id, context_.shards.owner()).offset);
}

TaskLaunch GradientStore::prepare_reduction(const Task& task) {
  const ShardLayout& shards = context_.shards;
  const CollectiveWork& work = context_.graph.collective(task);
  Bucket& bucket = buckets_.at({task.key.micro_batch, task.key.bucket});
  const bool first = bucket.prepared == 0;
  const bool last = ++bucket.prepared == bucket.reductions;
  const bool own_buffer = !accumulates_first();
  if (own_buffer) context_.use(bucket.buffer);
  const bool last_batch = task.key.micro_batch == context_.training.micro_batches - 1;
  const bool adds_kept = own_buffer && wider_at_last_ && last_batch;

  const int members = work.call.mesh.size();
  MessagePlan message(work.call.kind, context_.grad_type, members);
  struct Addition {
    Ref from, to;
    std::int64_t n;
    bool accumulate;
  };
  std::vector<Addition> before, after;
  for (const TensorId id : bucket.tensors) {
    const Ref slice = slice_or_bucket(bucket, id);
    const SliceRange& mine = shards.owned(id, shards.owner());
    const Ref mine_in_slice = slice + context_.grad_bytes(mine.offset);
    if (work.call.kind == CollectiveKind::kReduceScatter) {
      for (int owner = 0; owner < members; ++owner) {
        const SliceRange& part = shards.owned(id, owner);
        message.add(owner, slice + context_.grad_bytes(part.offset), part.count);
      }
    } else if (bucket.scattered) {
      message.add(0, mine_in_slice, mine.count);
    } else {
      message.add(0, slice, shards.slice(id));
    }
    if (!own_buffer) continue;
    if (first && adds_kept && mine.count > 0)
      before.push_back({owned(id), mine_in_slice, mine.count, true});
    if (!last) continue;
    const bool accumulate = task.key.micro_batch != first_reduced_ && !adds_kept;
    if (owned_only_ || bucket.scattered) {
      if (mine.count > 0) after.push_back({mine_in_slice, owned(id), mine.count, accumulate});
    } else {
      after.push_back(
          {slice, {kept_, offsets_[static_cast<std::size_t>(id)]}, shards.slice(id), accumulate});
    }
  }
  Communicator* communicator = context_.communicators[static_cast<std::size_t>(task.stream)].get();
  return [&device = context_.device, type = context_.grad_type, at = context_.addresses, before,
          after, message, communicator](Stream& stream, const StepContext&) {
    const auto add = [&](const Addition& one) {
      device.run(stream,
                 Convert{one.n, type, (*at)(one.from), type, (*at)(one.to), one.accumulate});
    };
    for (const Addition& one : before) add(one);
    communicator->enqueue(stream, message.at(*at));
    for (const Addition& one : after) add(one);
  };
}

}  // namespace amsp
