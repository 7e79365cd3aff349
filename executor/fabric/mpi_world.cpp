#include "executor/fabric/mpi_world.h"

#include <mpi.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "core/error.h"
#include "executor/fabric/lost_rank.h"
#include "executor/interface/host_identity.h"

namespace amsp {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

// Between looks at MPI, which doesn't wake anybody: short while the others are likely on their way.
constexpr microseconds kFirstNap{20};
constexpr microseconds kLongestNap{2000};

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw DeviceError(
      fmt::format("{}: {}", call, std::string(text, static_cast<std::size_t>(length))));
}

}  // namespace

MpiWorld::MpiWorld(std::chrono::milliseconds patience) : patience_(patience) {
  int provided = 0;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  if (provided < MPI_THREAD_FUNNELED) throw DeviceError("this MPI doesn't allow threads");
  check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size");
  watch_peers();
}

MpiWorld::~MpiWorld() {
  for (const int watch : watches_) close(watch);
  if (!failed_ && std::uncaught_exceptions() == 0) MPI_Finalize();
}

void MpiWorld::watch_peers() {
  const std::string domain = process_domain();
  const auto all = exchange(std::to_string(getpid()) + " " + domain);
  for (Rank rank = 0; rank < size_; ++rank) {
    const std::string& text = all[static_cast<std::size_t>(rank)];
    const std::size_t space = text.find(' ');
    if (rank == rank_ || text.substr(space + 1) != domain) continue;
    const long watch = syscall(SYS_pidfd_open, std::stoi(text.substr(0, space)), 0);
    if (watch < 0) continue;  // an old kernel: patience has to do
    watched_.push_back(rank);
    watches_.push_back(static_cast<int>(watch));
  }
}

template <typename IsDone>
void MpiWorld::wait(IsDone is_done) {
  const auto end = Clock::now() + patience_;
  std::vector<pollfd> polled;
  for (const int watch : watches_) polled.push_back({watch, POLLIN, 0});
  for (auto nap = kFirstNap; !is_done(); nap = std::min(2 * nap, kLongestNap)) {
    if (Clock::now() > end) {
      throw LostRank(fmt::format("lost a rank: not all came within {} ms", patience_.count()));
    }
    const timespec time{0, std::chrono::nanoseconds(nap).count()};
    if (ppoll(polled.data(), polled.size(), &time, nullptr) <= 0 || is_done()) continue;
    for (std::size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].revents != 0) {
        throw LostRank(lost_rank_text(watched_[i], "its process has ended"));
      }
    }
  }
}

std::vector<std::string> MpiWorld::exchange(const std::string& text) {
  if (failed_) throw DeviceError("an exchange after the loss of a rank");
  failed_ = true;  // until all went well
  const auto finish = [this](MPI_Request request) {
    wait([&] {
      int done = 0;
      check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      return done != 0;
    });
  };
  const auto n = static_cast<std::size_t>(size_);
  const int length = static_cast<int>(text.size());
  std::vector<int> lengths(n);
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD, &request),
        "MPI_Iallgather");
  finish(request);

  std::vector<int> begins(n);
  int total = 0;
  for (std::size_t i = 0; i < n; ++i) {
    begins[i] = total;
    total += lengths[i];
  }
  std::string joined(static_cast<std::size_t>(total), '\0');
  check(MPI_Iallgatherv(text.data(), length, MPI_CHAR, joined.data(), lengths.data(), begins.data(),
                        MPI_CHAR, MPI_COMM_WORLD, &request),
        "MPI_Iallgatherv");
  finish(request);
  failed_ = false;

  std::vector<std::string> texts;
  for (std::size_t i = 0; i < n; ++i) {
    texts.push_back(
        joined.substr(static_cast<std::size_t>(begins[i]), static_cast<std::size_t>(lengths[i])));
  }
  return texts;
}

void MpiWorld::abort(int exit_code) {
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

}  // namespace amsp
