#include "executor/cuda/cuda_device.h"
#include "tests/executor/cuda/device_under_test.h"

namespace amsp {

std::unique_ptr<Device> device_under_test(std::string& why) {
  why = why_no_cuda_device();
  return why.empty() ? make_cuda_device({}) : nullptr;
}
bool set_descending_threads(bool) {
  return false;
}

}  // namespace amsp
