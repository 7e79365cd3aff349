#include "executor/fabric/local_world.h"

#include <exception>
#include <thread>

#include "core/error.h"
#include "executor/fabric/local_ranks.h"
#include "executor/fabric/local_ring.h"
#include "executor/fabric/lost_rank.h"
#include "executor/fabric/ring_communicator.h"

namespace amsp {
namespace {

class LocalFabric : public Fabric {
 public:
  LocalFabric(std::shared_ptr<LocalRanks> ranks, Rank rank)
      : ranks_(std::move(ranks)), rank_(rank) {}

  std::string description() const override { return "threads of one process"; }

  std::unique_ptr<Communicator> open(const SubMesh& mesh, Mesh dp) override {
    AMSP_CHECK(dp.size() == ranks_->size(), "mesh {} in a world of {} ranks", to_string(dp),
               ranks_->size());
    const std::string text = to_string(mesh) + " in " + to_string(dp);
    for (const std::string& other : ranks_->exchange(rank_, text)) {
      AMSP_CHECK(other == text, "ranks open {} and {}", text, other);
    }
    const auto [group, position] = group_position(mesh, dp, rank_);
    const std::string key = std::to_string(opened_++) + "/" + std::to_string(group);
    auto ring = ranks_->ring(key, process_groups(mesh, dp)[static_cast<std::size_t>(group)]);
    return std::make_unique<RingCommunicator>(
        LocalRing::links(std::move(ring), position),
        [ranks = ranks_](Rank failed) { ranks->note_failure(failed); });
  }

 private:
  std::shared_ptr<LocalRanks> ranks_;
  Rank rank_;
  int opened_ = 0;
};

std::string message_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "unknown failure";
  }
}

}  // namespace

LocalWorld::LocalWorld(std::shared_ptr<LocalRanks> ranks, Rank rank)
    : ranks_(std::move(ranks)), rank_(rank) {}

int LocalWorld::size() const {
  return ranks_->size();
}

std::vector<std::string> LocalWorld::exchange(const std::string& text) {
  return ranks_->exchange(rank_, text);
}

void run_local(int n, const std::function<void(World&, Fabric&)>& rank_program,
               const LocalOptions& options) {
  AMSP_CHECK(n > 0, "{} ranks", n);
  const auto ranks = std::make_shared<LocalRanks>(n, options.patience);
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(n));
  const auto run_rank = [&](Rank rank) {
    LocalWorld world(ranks, rank);
    LocalFabric fabric(ranks, rank);
    try {
      rank_program(world, fabric);
      ranks->lose(rank, lost_rank_text(rank, "it has ended"));
    } catch (...) {
      failures[static_cast<std::size_t>(rank)] = std::current_exception();
      // Whoever fails because of another does so after that one was noted.
      ranks->note_failure(rank);
      ranks->lose(rank, lost_rank_text(rank, message_of(std::current_exception())));
    }
  };
  {
    std::vector<std::jthread> threads;
    for (Rank rank = 0; rank < n; ++rank) threads.emplace_back(run_rank, rank);
  }
  const Rank first = ranks->first_failure();
  if (first >= 0 && failures[static_cast<std::size_t>(first)]) {
    std::rethrow_exception(failures[static_cast<std::size_t>(first)]);
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace amsp
