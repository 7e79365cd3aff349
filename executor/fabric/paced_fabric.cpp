#include "executor/fabric/paced_fabric.h"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/quantity.h"
#include "executor/fabric/chunks.h"
#include "executor/host/host_stream.h"
#include "executor/interface/host_identity.h"

namespace amsp {
namespace {

using Clock = std::chrono::steady_clock;

/// Nanoseconds of the monotonic clock: whole numbers below 2^53 for a hundred days of uptime.
double now_ns() {
  return static_cast<double>(std::chrono::nanoseconds(Clock::now().time_since_epoch()).count());
}

void sleep_until_ns(double when) {
  // By default Linux wakes sleepers up to 50 us late, to wake several at once.
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  std::this_thread::sleep_until(
      Clock::time_point(std::chrono::nanoseconds(static_cast<std::int64_t>(when))));
}

std::string to_string(const Pace& pace) {
  return format_bandwidth(pace.bandwidth) + " and " + format_time(pace.latency);
}

}  // namespace

class PacedFabric::Counters {
 public:
  void count(Seconds lateness) {
    const std::lock_guard lock(mutex_);
    ++report_.collectives;
    if (lateness.value <= 0) return;
    ++report_.late;
    report_.lateness += lateness;
  }
  PaceReport report() const {
    const std::lock_guard lock(mutex_);
    return report_;
  }

 private:
  mutable std::mutex mutex_;
  PaceReport report_;
};

class PacedFabric::PacedCommunicator : public Communicator {
 public:
  PacedCommunicator(std::unique_ptr<Communicator> inner, const SubMesh& mesh, const Pace& pace,
                    bool one_clock, std::shared_ptr<Counters> counters)
      : mesh_(mesh),
        pace_(pace),
        one_clock_(one_clock),
        counters_(std::move(counters)),
        arrivals_(std::make_shared<std::vector<double>>(static_cast<std::size_t>(mesh.size()))),
        inner_(std::move(inner)) {}

  int size() const override { return inner_->size(); }
  int position() const override { return inner_->position(); }

  void enqueue(Stream& stream, const Message& message) override {
    if (size() == 1) return inner_->enqueue(stream, message);
    auto* host = dynamic_cast<HostStream*>(&stream);
    AMSP_CHECK(host != nullptr, "a communicator of the host on a stream of another device");
    const double hold_ns = 1e9 * duration(message).value;
    const auto me = static_cast<std::size_t>(position());

    host->enqueue([arrivals = arrivals_, me] { (*arrivals)[me] = now_ns(); });
    Message gathering{CollectiveKind::kAllGather, DType::kF64, {}};
    for (double& arrival : *arrivals_) gathering.parts.push_back({{&arrival, 1}});
    inner_->enqueue(stream, gathering);
    host->enqueue([arrivals = arrivals_, me, one_clock = one_clock_] {
      (*arrivals)[me] =
          one_clock ? *std::max_element(arrivals->begin(), arrivals->end()) : now_ns();
    });
    inner_->enqueue(stream, message);
    host->enqueue(
        [arrivals = arrivals_, me, hold_ns, counters = counters_] {
          const double end = (*arrivals)[me] + hold_ns;
          counters->count({1e-9 * (now_ns() - end)});
          sleep_until_ns(end);
        },
        "pace");
  }

 private:
  Seconds duration(const Message& message) const {
    std::int64_t count = 0;
    for (const auto& part : message.parts) count += count_of(part);
    const Bytes bytes{count * size_of(message.type)};
    return pace_.latency +
           Seconds{wire_bytes_per_rank({message.kind, mesh_, bytes, {}}) / pace_.bandwidth.value};
  }

  SubMesh mesh_;
  Pace pace_;
  bool one_clock_;
  std::shared_ptr<Counters> counters_;
  std::shared_ptr<std::vector<double>> arrivals_;  // of the stream, from call to call
  std::unique_ptr<Communicator> inner_;
};

PacedFabric::PacedFabric(World& world, Fabric& inner, const PaceOptions& options)
    : inner_(inner),
      options_(options),
      one_clock_(has_one_clock(world)),
      counters_(std::make_shared<Counters>()) {
  for (const Pace& pace : {options.inside, options.across}) {
    AMSP_CHECK(pace.bandwidth.value > 0 && pace.latency.value >= 0, "a pace of {}",
               to_string(pace));
  }
}

PacedFabric::~PacedFabric() = default;

std::string PacedFabric::description() const {
  std::string text = fmt::format("{}, paced: {}", inner_.description(), to_string(options_.inside));
  if (options_.across != options_.inside)
    text += fmt::format(" inside a node, {} across", to_string(options_.across));
  return text + (one_clock_ ? "" : "; no common clock");
}

std::unique_ptr<Communicator> PacedFabric::open(const SubMesh& mesh, Mesh dp) {
  const Pace& pace = mesh.shape.inter > 1 ? options_.across : options_.inside;
  return std::make_unique<PacedCommunicator>(inner_.open(mesh, dp), mesh, pace, one_clock_,
                                             counters_);
}

PaceReport PacedFabric::report() const {
  return counters_->report();
}

}  // namespace amsp
