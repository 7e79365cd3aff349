#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "tests/kernels/toy_table.h"

namespace amsp {
namespace {

struct BadTable {
  const char* found;    // in the toy table
  const char* instead;  // what stands there
  const char* message;
};
constexpr BadTable kBadTables[] = {
    {"amsp.kernels/1", "amsp.kernels/2",
     "toy.json#/schema: must be one of amsp.kernels/1; found \"amsp.kernels/2\"; did you mean "
     "'amsp.kernels/1'?"},
    {R"("clocks": "made up")", R"("clock": "made up")",
     "toy.json#/clocks: is missing; is 'clock' a misspelling of it?"},
    {R"("rate_unit": 1000000000000)", R"("rate_unit": 0)",
     "toy.json#/rate_unit: must be a number from 1 to 1000000000000000, found 0"},
    {R"("assumed: x", "gap_s")", R"("guessed: x", "gap_s")",
     "toy.json#/launch/sources/fixed_s: must start with measured:, derived:, modelled:, datasheet: "
     "or "
     "assumed: and a space"},
    {R"("type": "bf16")", R"("type": "bf17")",
     "toy.json#/gemm/0/type: must be one of bf16, fp8; found \"bf17\"; did you mean 'bf16'?"},
    {R"("m": [1000, 2000])", R"("m": [2000, 1000])",
     "toy.json#/gemm/0/axes/m/1: must be more than 2000, found 1000"},
    {R"("m": [1000, 2000])", R"("m": [1000, 1500.5])",
     "toy.json#/gemm/0/axes/m/1: must be a whole number, found 1500.5"},
    {R"("m": [1000, 2000])", R"("m": [])",
     "toy.json#/gemm/0/axes/m: must be a list with entries, found []"},
    {"[[1, 2], [2, 4], [2, 4], [4, 8]]", "[[1, 2], [2, 4], [2, 4]]",
     "toy.json#/gemm/0/rates: must have 4 rows, found 3"},
    {"[2, 4], [4, 8]]", "[2, 4], [4]]",
     "toy.json#/gemm/0/rates/3: must be a row of 2 numbers, found [4]"},
    {"[2, 4], [4, 8]]", "[2, 4], [4, -8]]",
     "toy.json#/gemm/0/rates/3/1: must be a number above 0 and at most 1e+06, found -8"},
    {"[2, 4], [4, 8]]", "[2, 4], [4, 8e9]]",
     "toy.json#/gemm/0/rates/3/1: must be a number above 0 and at most 1e+06, found 8000000000.0"},
    {R"("outside": 0.2)", R"("beyond": 0.2)", "toy.json#/gemm/0/spread/outside: is missing"},
    {R"("flops": 6e12)", R"("flops": "6T")",
     "toy.json#/gemm/0/sustained/flops: must be a number from 1 to 1e+18, found \"6T\""},
    {R"("kernel": "triton", "of": "flash2")", R"("kernel": "flash2", "of": "flash2")",
     "toy.json#/attention_scaled/0/kernel: stands twice: flash2"},
    {R"("of": "flash2")", R"("of": "flash3")",
     "toy.json#/attention_scaled/0/of: has no rates before this entry: flash3"},
    {"[[1000, 0.5], [4000, 1]]", "[[1000, 0.5], [1000, 1]]",
     "toy.json#/attention_backward/0/rows/1/0: must be more than in the row before, found 1000"},
    {"[[1000, 0.5], [4000, 1]]", "[[1000, 0.5, 1]]",
     "toy.json#/attention_backward/0/rows/0: must be a sequence length and a ratio, found "
     "[1000,0.5,1]"},
    {R"("kernel": "flash2", "source": "derived: x")",
     R"("kernel": "cudnn", "source": "derived: x")",
     "toy.json#/attention_backward/0/kernel: has no forward rates: cudnn"},
    {R"("kernel": "flash2", "source": "measured: x",)",
     R"("kernel": "flash2", "source": "measured: x", "note": 1,)",
     "toy.json#/attention/0/note: is not a known key (allowed: axes, kernel, left_out, rates, "
     "source, "
     "spread)"},
};

TEST(BadKernelTables, AreRefusedWithThePlace) {
  for (const auto& [found, instead, message] : kBadTables) {
    std::string text = kToyTable;
    const std::size_t place = text.find(found);
    ASSERT_NE(place, std::string::npos) << found;
    text.replace(place, std::string(found).size(), instead);
    SCOPED_TRACE(std::string(found) + " -> " + instead);
    try {
      toy_table(text);
      ADD_FAILURE() << "was accepted";
    } catch (const ConfigError& error) {
      EXPECT_STREQ(error.what(), message);
    }
  }
}

}  // namespace
}  // namespace amsp
