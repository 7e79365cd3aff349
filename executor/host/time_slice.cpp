#include "executor/host/time_slice.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace amsp {

namespace {

/// The kernel's sched_attr, first version; its header can't be included beside glibc's sched.h.
struct SchedAttr {
  std::uint32_t size = sizeof(SchedAttr);
  std::uint32_t policy = 0;  // SCHED_OTHER
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0, deadline = 0, period = 0;
};
static_assert(sizeof(SchedAttr) == 48);

/// For threads of the usual policy the kernel reads the runtime as their slice; 0: its own choice.
void set_slice(std::uint64_t nanoseconds) {
  SchedAttr attributes;
  attributes.nice = getpriority(PRIO_PROCESS, 0);
  attributes.runtime = nanoseconds;
  syscall(SYS_sched_setattr, 0, &attributes, 0);  // a kernel that can't leaves things as they are
}

}  // namespace

void take_short_time_slices() {
  set_slice(100'000);
}

void take_usual_time_slices() {
  set_slice(0);
}

}  // namespace amsp
