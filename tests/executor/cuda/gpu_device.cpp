#include <gtest/gtest.h>

#include "executor/cuda/cuda_device.h"
#include "tests/executor/cuda/device_under_test.h"

namespace amsp {
namespace {

class SkipWithoutGpu final : public testing::Environment {
 public:
  // gtest prints only the text, and ctest looks for this mark.
  void SetUp() override {
    if (const std::string why = why_no_cuda_device(); !why.empty())
      GTEST_SKIP() << "[  SKIPPED ] no GPU: " << why;
  }
};
[[maybe_unused]] const testing::Environment* const kSkipWithoutGpu =
    testing::AddGlobalTestEnvironment(new SkipWithoutGpu);

}  // namespace

std::unique_ptr<Device> make_test_device() {
  return make_cuda_device({});
}
bool set_descending_threads(bool) {
  return false;
}

}  // namespace amsp
