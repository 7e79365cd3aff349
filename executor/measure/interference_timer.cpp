#include "executor/measure/interference_timer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "core/error.h"
#include "core/statistics.h"
#include "executor/measure/even_message.h"

namespace amsp {

namespace {

constexpr double kLeastRun = 1e-3;  // seconds: below, wake-ups are most of it
constexpr int kMoreTries = 4;       // where they didn't run at once
constexpr double kNever = std::numeric_limits<double>::infinity();

/// The same work again and again on a stream of its own, a batch at a time, with an event before
/// each batch and after the last.
class Repeated {
 public:
  Repeated(Device& device, const char* stream, std::function<void(Stream&)> work)
      : device_(device), stream_(device.make_stream(stream)), work_(std::move(work)) {}

  void set_batch(int batch) { batch_ = batch; }
  int batch() const { return batch_; }
  void enqueue(int batches) {
    batches_ = static_cast<std::size_t>(batches);
    while (events_.size() <= batches_) events_.push_back(device_.make_event());
    for (std::size_t i = 0; i < batches_; ++i) {
      stream_->record(*events_[i]);
      for (int j = 0; j < batch_; ++j) work_(*stream_);
    }
    stream_->record(*events_[batches_]);
  }
  void wait() { stream_->synchronize(); }
  std::int64_t begin_ns() { return events_[0]->time_ns(); }
  std::int64_t end_ns() { return events_[batches_]->time_ns(); }

  /// Mean seconds of one piece of work, over the batches that lie within [from, to]; kNever if none
  /// does.
  double mean(std::int64_t from = INT64_MIN, std::int64_t to = INT64_MAX) {
    std::int64_t sum = 0;
    std::int64_t count = 0;
    for (std::size_t i = 0; i < batches_; ++i) {
      const std::int64_t start = events_[i]->time_ns();
      const std::int64_t end = events_[i + 1]->time_ns();
      if (start < from || end > to) continue;
      sum += end - start;
      count += batch_;
    }
    return count == 0 ? kNever : static_cast<double>(sum) / 1e9 / static_cast<double>(count);
  }

 private:
  Device& device_;
  std::unique_ptr<Stream> stream_;
  std::function<void(Stream&)> work_;
  std::vector<std::unique_ptr<Event>> events_;
  int batch_ = 1;
  std::size_t batches_ = 0;
};

/// One product and its memory.
class Product {
 public:
  Product(Device& device, DType type, const ProductShape& shape)
      : device_(device),
        a_(matrix(type, shape.m, shape.k)),
        b_(matrix(type, shape.k, shape.n)),
        c_(matrix(type, shape.m, shape.n)),
        work_{.type = type,
              .c_type = type,
              .m = shape.m,
              .n = shape.n,
              .k = shape.k,
              .a = a_.get(),
              .a_stride = shape.k,
              .transpose_a = false,
              .b = b_.get(),
              .b_stride = shape.n,
              .transpose_b = false,
              .c = c_.get(),
              .c_stride = shape.n,
              .accumulate = false} {}
  void enqueue(Stream& stream) const { device_.run(stream, work_); }

 private:
  std::shared_ptr<void> matrix(DType type, std::int64_t rows, std::int64_t columns) {
    return device_.allocate(static_cast<std::size_t>(rows * columns * size_of(type)));
  }

  Device& device_;
  std::shared_ptr<void> a_, b_, c_;
  Gemm work_;
};

/// The largest of all ranks.
double largest(World& world, double mine) {
  double most = mine;
  for (const std::string& text :
       world.exchange({reinterpret_cast<const char*>(&mine), sizeof mine})) {
    double of_rank = 0;
    std::memcpy(&of_rank, text.data(), sizeof of_rank);
    most = std::max(most, of_rank);
  }
  return most;
}

Seconds median(const std::vector<double>& seconds) {
  return Seconds{quantile_by_place(seconds, 0.5)};
}

}  // namespace

double Interference::compute_share() const {
  const double lost = 1 - product_alone / product_beside;
  return std::clamp(lost * (collectives_beside / collectives_alone), 0.0, 1.0);
}

Interference time_interference(World& world, Fabric& fabric, Device& device, CollectiveKind kind,
                               const SubMesh& mesh, Mesh dp, DType type,
                               const std::vector<Bytes>& sizes, const ProductShape& shape,
                               const InterferenceRules& rules) {
  const std::unique_ptr<Communicator> communicator = fabric.open(mesh, dp);
  std::vector<EvenMessage> messages;
  messages.reserve(sizes.size());
  for (const Bytes bytes : sizes)
    messages.emplace_back(device, *communicator, kind, type, bytes.value);
  const Product product(device, type, shape);
  Repeated products(device, "compute", [&](Stream& stream) { product.enqueue(stream); });
  Repeated collectives(device, "timed collectives", [&](Stream& stream) {
    for (const EvenMessage& message : messages) message.enqueue(stream);
  });

  const auto alone = [&](Repeated& repeated, int batches) {
    world.exchange("");
    repeated.enqueue(batches);
    repeated.wait();
    return largest(world, repeated.mean());
  };
  const auto times = [](double seconds, double once) {
    return static_cast<int>(std::clamp(std::ceil(seconds / std::max(once, 1e-9)), 1.0, 1e4));
  };
  /// Seconds of a batch.
  const auto prepare = [&](Repeated& repeated) {
    alone(repeated, 2);
    repeated.set_batch(times(kLeastRun, alone(repeated, 4)));
    return repeated.batch() * alone(repeated, 4);
  };
  const double product_batch = prepare(products);
  const double send_batch = prepare(collectives);
  const double round = std::max(rules.round_time.value, 2 * std::max(send_batch, product_batch));
  std::vector<double> product_alone, product_beside, send_alone, send_beside;
  double longer = 3;  // both slow down, and products have to outlast collectives
  int tries = rules.rounds + kMoreTries;
  while (product_beside.size() < static_cast<std::size_t>(rules.rounds) && tries-- > 0) {
    product_alone.push_back(alone(products, times(round, product_batch)));
    send_alone.push_back(alone(collectives, times(round, send_batch)));
    world.exchange("");
    collectives.enqueue(times(round, send_batch));
    products.enqueue(times(longer * round, product_batch));
    collectives.wait();
    products.wait();
    const double product_time =
        largest(world, products.mean(collectives.begin_ns(), collectives.end_ns()));
    const double send_time =
        largest(world, collectives.mean(products.begin_ns(), products.end_ns()));
    if (product_time == kNever || send_time == kNever) {
      longer *= 2;
      continue;
    }
    product_beside.push_back(product_time);
    send_beside.push_back(send_time);
  }
  if (product_beside.empty())
    throw DeviceError(fmt::format("{} on {} never ran beside matrix products, in {} tries",
                                  to_string(kind), to_string(mesh), rules.rounds + kMoreTries));
  return {median(product_alone), median(product_beside), median(send_alone), median(send_beside)};
}

}  // namespace amsp
