#include "executor/host/host_device.h"
#include "kernel_test.h"

namespace amsp {

std::unique_ptr<Device> make_test_device() {
  return make_host_device();
}

}  // namespace amsp
