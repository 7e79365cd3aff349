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

}  // namespace amsp
