#pragma once

#include <string>

#include "core/json/json.h"
#include "kernels/kernel_table.h"

namespace amsp {

/// bf16 GEMMs at 1 to 8 Tflop/s: doubling m, n or k doubles the rate. 3 us of fixed time in GEMMs,
/// 2 us in others. FlashAttention-2 at 1 Tflop/s with one
/// head, 4 with eight.
constexpr const char* kToyTable = R"({
  "schema": "amsp.kernels/1",
  "name": "toy",
  "provenance": "made up",
  "clocks": "made up",
  "rate_unit": 1000000000000,
  "launch": {"fixed_s": 2e-6, "gap_s": 1e-6,
             "sources": {"fixed_s": "assumed: x", "gap_s": "assumed: x"}},
  "gemm": [{"type": "bf16", "source": "measured: x", "fixed_s": 3e-6,
            "spread": {"grid": 0.05, "between": 0.1, "outside": 0.2},
            "sustained": {"flops": 6e12, "source": "derived: x"},
            "axes": {"m": [1000, 2000], "n": [100, 200], "k": [100, 200]},
            "rates": [[1, 2], [2, 4], [2, 4], [4, 8]]}],
  "attention": [{"kernel": "flash2", "source": "measured: x",
                 "spread": {"grid": 0.03, "between": 0.06},
                 "axes": {"head_dim": [64], "seq": [1000, 2000], "batch_heads": [1, 8]},
                 "rates": [[1, 4], [1, 4]]}],
  "attention_scaled": [{"kernel": "triton", "of": "flash2", "source": "assumed: x",
                        "rows": [[1000, 0.5]]}],
  "attention_backward": [{"kernel": "flash2", "source": "derived: x",
                          "rows": [[1000, 0.5], [4000, 1]]}]
})";

inline KernelTable toy_table(const std::string& text = kToyTable) {
  return read_kernel_table(parse_json(text, "toy.json"), "toy.json");
}

}  // namespace amsp
