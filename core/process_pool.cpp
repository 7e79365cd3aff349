#include "core/process_pool.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <utility>

#include "core/error.h"

namespace amsp {
namespace {

constexpr int kTickMilliseconds = 100;

bool send_all(int socket, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t sent = ::send(socket, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, void* data, std::size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = ::recv(socket, at, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

/// What a child sends first: how many bytes of which kind follow.
struct Header {
  JobOutcome::Kind kind;
  std::uint64_t bytes;
};

bool send_outcome(int socket, const JobOutcome& outcome) {
  const bool values = outcome.kind == JobOutcome::Kind::kValues;
  const Header header{outcome.kind,
                      values ? outcome.values.size() * sizeof(double) : outcome.message.size()};
  return send_all(socket, &header, sizeof header) &&
         (values ? send_all(socket, outcome.values.data(), header.bytes)
                 : send_all(socket, outcome.message.data(), header.bytes));
}

std::optional<JobOutcome> receive_outcome(int socket) {
  Header header{};
  if (!receive_all(socket, &header, sizeof header)) return std::nullopt;
  JobOutcome outcome{header.kind, {}, {}};
  if (header.kind == JobOutcome::Kind::kValues) {
    outcome.values.resize(header.bytes / sizeof(double));
    if (!receive_all(socket, outcome.values.data(), header.bytes)) return std::nullopt;
  } else {
    outcome.message.resize(header.bytes);
    if (!receive_all(socket, outcome.message.data(), header.bytes)) return std::nullopt;
  }
  return outcome;
}

JobOutcome outcome_of(std::size_t index, const Job& job) {
  using Kind = JobOutcome::Kind;
  try {
    return {Kind::kValues, job(index), {}};
  } catch (const ConfigError& error) {
    return {Kind::kConfigError, {}, error.what()};
  } catch (const InfeasibleError& error) {
    return {Kind::kInfeasible, {}, error.what()};
  } catch (const std::exception& error) {
    return {Kind::kInternal, {}, error.what()};
  }
}

[[noreturn]] void run_child(int socket, pid_t parent, const Job& job) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  ::signal(SIGINT, SIG_IGN);  // an interrupt is the parent's to handle
  std::uint64_t index = 0;
  while (receive_all(socket, &index, sizeof index))
    if (!send_outcome(socket, outcome_of(static_cast<std::size_t>(index), job))) break;
  ::_exit(0);  // no destructors: those of a simulation would take as long as it did
}

class Pool {
 public:
  Pool(std::size_t count, const Job& job,
       const std::function<void(std::size_t, const JobOutcome&)>& done)
      : outcomes_(count), job_(job), done_(done) {}

  void start(int workers) {
    const auto most = std::min(outcomes_.size(), static_cast<std::size_t>(std::max(1, workers)));
    for (std::size_t i = 0; i < most; ++i) {
      workers_.emplace_back(job_);
      give_next(workers_.back());
    }
  }
  bool finished() const { return ended_ == outcomes_.size(); }
  std::size_t ended() const { return ended_; }

  void wait_a_moment() {
    std::vector<pollfd> polls;
    for (const Worker& worker : workers_)
      polls.push_back({worker.socket(), static_cast<short>(worker.busy() ? POLLIN : 0), 0});
    if (::poll(polls.data(), polls.size(), kTickMilliseconds) <= 0) return;
    for (std::size_t i = 0; i < polls.size(); ++i)
      if (workers_[i].busy() && polls[i].revents != 0) collect(workers_[i]);
    report(false);
  }

  void stop() {
    workers_.clear();
    report(true);
  }

 private:
  void give_next(Worker& worker) {
    if (next_ < outcomes_.size()) worker.give(next_++);
  }

  void collect(Worker& worker) {
    const std::size_t job = worker.job();
    std::optional<JobOutcome> outcome = worker.take();
    if (!outcome) {
      outcome = {JobOutcome::Kind::kInternal, {}, "its process " + worker.end()};
      worker = Worker(job_);
    }
    outcomes_[job] = std::move(outcome);
    ++ended_;
    give_next(worker);
  }

  /// In order; over gaps only when nothing more is to come.
  void report(bool over_gaps) {
    for (; reported_ < outcomes_.size(); ++reported_) {
      std::optional<JobOutcome>& outcome = outcomes_[reported_];
      if (outcome)
        done_(reported_, *outcome);
      else if (!over_gaps)
        return;
      outcome.reset();
    }
  }

  std::vector<std::optional<JobOutcome>> outcomes_;
  const Job& job_;
  const std::function<void(std::size_t, const JobOutcome&)>& done_;
  std::vector<Worker> workers_;
  std::size_t next_ = 0, ended_ = 0, reported_ = 0;
};

}  // namespace

Worker::Worker(const Job& job) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
    throw InternalError(fmt::format("no socket for a worker: {}", std::strerror(errno)));
  std::fflush(nullptr);  // else the child would print again what is still buffered
  const pid_t parent = ::getpid();
  child_ = ::fork();
  if (child_ < 0) {
    ::close(ends[0]);
    ::close(ends[1]);
    throw InternalError(fmt::format("no process for a worker: {}", std::strerror(errno)));
  }
  if (child_ == 0) {
    ::close(ends[0]);
    run_child(ends[1], parent, job);
  }
  ::close(ends[1]);
  socket_ = ends[0];
}

Worker::~Worker() {
  if (child_ >= 0) end();
}

Worker::Worker(Worker&& other) noexcept
    : child_(std::exchange(other.child_, -1)), socket_(other.socket_), at_(other.at_) {}

Worker& Worker::operator=(Worker&& other) noexcept {
  std::swap(child_, other.child_);
  std::swap(socket_, other.socket_);
  std::swap(at_, other.at_);
  return *this;
}

void Worker::give(std::size_t job) {
  at_ = job;
  const auto index = static_cast<std::uint64_t>(job);
  send_all(socket_, &index, sizeof index);
}

std::optional<JobOutcome> Worker::take() {
  at_.reset();
  return receive_outcome(socket_);
}

std::string Worker::end() {
  ::kill(child_, SIGKILL);
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  ::close(socket_);
  child_ = -1;
  if (WIFSIGNALED(status)) return fmt::format("was ended by signal {}", WTERMSIG(status));
  return fmt::format("ended with code {}", WEXITSTATUS(status));
}

std::size_t run_jobs(std::size_t count, int workers, const Job& job,
                     const std::function<void(std::size_t, const JobOutcome&)>& done,
                     const std::function<bool(std::size_t)>& proceed) {
  Pool pool(count, job, done);
  if (!proceed(0)) return 0;
  pool.start(workers);
  while (!pool.finished()) {
    pool.wait_a_moment();
    if (!proceed(pool.ended())) break;
  }
  pool.stop();
  return pool.ended();
}

}  // namespace amsp
