#include <ucontext.h>

#include <array>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cuda_runtime.h"

dim3 threadIdx(0, 0, 0), blockIdx(0, 0, 0), blockDim, gridDim;

namespace {
constexpr std::size_t kLargestShared = 163 * 1024;  // of a block on compute capability 8.0
constexpr std::size_t kSharedWithoutAsking = 48 * 1024;
constexpr std::size_t kStackBytes = 256 * 1024;
constexpr unsigned kWarp = 32;
constexpr std::size_t kExchangeBytes = 32;
}  // namespace

alignas(128) unsigned char amsp_dynamic_shared[kLargestShared];

namespace emulator {
namespace {

enum class Wait { kNothing, kWarp, kBlock, kDone };

struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack = std::make_unique<char[]>(kStackBytes);
  Wait wait = Wait::kNothing;
  std::size_t exchanges = 0;
  std::size_t votes = 0;
};

struct Machine {
  std::vector<std::unique_ptr<Fiber>> fibers;
  // By the parity of the exchange, so that a fast lane doesn't overwrite what a slow one reads.
  std::vector<std::array<std::array<unsigned char, kExchangeBytes>, 2>> given;
  std::array<int, 2> vote = {};
  std::map<const void*, std::size_t> allowed;
  bool descending = false;
  unsigned current = 0;
  unsigned count = 0;  // threads of the block
  ucontext_t scheduler;
  const std::function<void()>* thread = nullptr;
};

Machine& machine() {
  static Machine it;
  return it;
}

void run_thread() {
  Machine& m = machine();
  (*m.thread)();
  m.fibers[m.current]->wait = Wait::kDone;
  swapcontext(&m.fibers[m.current]->context, &m.scheduler);
}

void wait_for(Wait what) {
  Machine& m = machine();
  Fiber& mine = *m.fibers[m.current];
  mine.wait = what;
  swapcontext(&mine.context, &m.scheduler);
}

/// Lets fibers [first, last) go on if all wait for `what`.
bool release(unsigned first, unsigned last, Wait what) {
  Machine& m = machine();
  for (unsigned i = first; i < last; ++i)
    if (m.fibers[i]->wait != what) return false;
  for (unsigned i = first; i < last; ++i) m.fibers[i]->wait = Wait::kNothing;
  return true;
}

void run_block(const std::string& place) {
  Machine& m = machine();
  for (unsigned i = 0; i < m.count; ++i) {
    Fiber& fiber = *m.fibers[i];
    fiber.wait = Wait::kNothing;
    fiber.exchanges = fiber.votes = 0;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, run_thread, 0);
  }
  m.vote = {};
  std::memset(amsp_dynamic_shared, 0xff, sizeof(amsp_dynamic_shared));
  while (true) {
    for (unsigned k = 0; k < m.count; ++k) {
      m.current = m.descending ? m.count - 1 - k : k;
      Fiber& fiber = *m.fibers[m.current];
      if (fiber.wait != Wait::kNothing) continue;
      threadIdx = dim3(m.current, 0, 0);
      swapcontext(&m.scheduler, &fiber.context);
    }
    bool released = release(0, m.count, Wait::kBlock);
    for (unsigned first = 0; first < m.count; first += kWarp)
      released |= release(first, first + kWarp, Wait::kWarp);
    if (released) continue;
    for (unsigned i = 0; i < m.count; ++i)
      if (m.fibers[i]->wait != Wait::kDone)
        throw std::runtime_error(place + ": thread " + std::to_string(i) +
                                 " waits for threads that don't come");
    return;
  }
}

}  // namespace

void set_thread_order(bool descending) {
  machine().descending = descending;
}

void allow_shared(const void* kernel, std::size_t bytes) {
  if (bytes > kLargestShared) throw std::runtime_error("no block has so much shared memory");
  machine().allowed[kernel] = bytes;
}

void launch(const cudaLaunchConfig_t& config, const void* kernel,
            const std::function<void()>& thread) {
  Machine& m = machine();
  const auto allowed = m.allowed.find(kernel);
  if (config.dynamicSmemBytes >
      (allowed == m.allowed.end() ? kSharedWithoutAsking : allowed->second))
    throw std::runtime_error("more shared memory than the kernel was allowed");
  if (config.gridDim.x == 0 || config.gridDim.y == 0 || config.gridDim.z == 0 ||
      config.gridDim.y > 65535 || config.gridDim.z > 65535 || config.blockDim.x == 0 ||
      config.blockDim.x > 1024 || config.blockDim.x % kWarp != 0 || config.blockDim.y != 1 ||
      config.blockDim.z != 1)
    throw std::runtime_error("a grid or block that the emulator doesn't run");
  gridDim = config.gridDim;
  blockDim = config.blockDim;
  m.count = blockDim.x;
  m.thread = &thread;
  while (m.fibers.size() < m.count) m.fibers.push_back(std::make_unique<Fiber>());
  m.given.resize(m.count);
  for (unsigned z = 0; z < gridDim.z; ++z)
    for (unsigned y = 0; y < gridDim.y; ++y)
      for (unsigned x = 0; x < gridDim.x; ++x) {
        blockIdx = dim3(x, y, z);
        run_block("block " + std::to_string(x) + ", " + std::to_string(y) + ", " +
                  std::to_string(z));
      }
}

void block_barrier() {
  wait_for(Wait::kBlock);
}

void exchange(const void* mine, std::size_t bytes) {
  Machine& m = machine();
  if (bytes > kExchangeBytes) throw std::runtime_error("exchange of too large a value");
  Fiber& fiber = *m.fibers[m.current];
  ++fiber.exchanges;
  std::memcpy(m.given[m.current][fiber.exchanges % 2].data(), mine, bytes);
  wait_for(Wait::kWarp);
}

const void* given_by(unsigned lane) {
  Machine& m = machine();
  return m.given[m.current / kWarp * kWarp + lane][m.fibers[m.current]->exchanges % 2].data();
}

int any_in_block(int vote) {
  Machine& m = machine();
  Fiber& fiber = *m.fibers[m.current];
  const std::size_t parity = ++fiber.votes % 2;
  m.vote[parity] |= vote;
  wait_for(Wait::kBlock);
  const int any = m.vote[parity];
  // Nobody votes with the other parity before all have left this barrier.
  wait_for(Wait::kBlock);
  m.vote[parity] = 0;
  return any;
}

}  // namespace emulator
