#include "sim/isolated.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "core/error.h"

namespace amsp {

namespace {

/// What the child sends first: how many bytes of which kind follow.
struct Header {
  enum Kind : std::int32_t { kResult, kError } kind;
  std::uint64_t bytes;
};

bool write_all(int file, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(file, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

bool read_all(int file, void* data, std::size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = ::read(file, at, size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

[[noreturn]] void run_child(int file, pid_t parent,
                            const std::function<std::vector<double>()>& work) {
  // A simulation nobody waits for ends with its parent.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  bool sent = false;
  try {
    const std::vector<double> result = work();
    const Header header{Header::kResult, result.size() * sizeof(double)};
    sent = write_all(file, &header, sizeof header) && write_all(file, result.data(), header.bytes);
  } catch (const std::exception& error) {
    const std::string message = error.what();
    const Header header{Header::kError, message.size()};
    sent = write_all(file, &header, sizeof header) && write_all(file, message.data(), header.bytes);
  }
  ::_exit(sent ? 0 : 1);  // no destructors: SimGrid's would take as long as the simulation
}

std::string fate(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was ended by signal {}", WTERMSIG(status));
  return fmt::format("ended with code {}", WEXITSTATUS(status));
}

}  // namespace

std::vector<double> run_isolated(const std::function<std::vector<double>()>& work) {
  int ends[2];
  if (::pipe(ends) != 0)
    throw InternalError(fmt::format("no pipe to the simulation: {}", std::strerror(errno)));
  std::fflush(nullptr);  // else the child would print again what is still buffered
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    ::close(ends[0]);
    ::close(ends[1]);
    throw InternalError(fmt::format("no process for the simulation: {}", std::strerror(errno)));
  }
  if (child == 0) {
    ::close(ends[0]);
    run_child(ends[1], parent, work);
  }
  ::close(ends[1]);
  Header header{};
  std::vector<double> result;
  std::string message;
  bool complete = read_all(ends[0], &header, sizeof header);
  if (complete && header.kind == Header::kResult) {
    result.resize(header.bytes / sizeof(double));
    complete = read_all(ends[0], result.data(), header.bytes);
  } else if (complete) {
    message.resize(header.bytes);
    complete = read_all(ends[0], message.data(), header.bytes);
  }
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!complete) throw InternalError("the simulation's process " + fate(status));
  if (header.kind == Header::kError) throw InternalError(message);
  return result;
}

}  // namespace amsp
