#pragma once

#include <cstdint>
#include <span>

#include "training/model.h"

namespace amsp {

/// The initial value of element `element` of a tensor: 1 for norms, 0 for biases, else normally
/// distributed around 0. A function of its arguments alone, so that it is the same under every
/// plan. Writes elements [first, first + values.size()); those from `tensor.elements` on are 0
/// (padding).
void initial_values(const Tensor& tensor, TensorId id, std::uint64_t seed, double deviation,
                    std::int64_t first, std::span<double> values);

/// A well-mixed number of a counter (splitmix64's finaliser, Steele et al. 2014).
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace amsp
