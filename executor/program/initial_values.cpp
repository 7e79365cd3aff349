#include "executor/program/initial_values.h"

#include <cmath>
#include <numbers>

#include "core/mix.h"

namespace amsp {

namespace {

/// In (0, 1].
double uniform(std::uint64_t bits) {
  return static_cast<double>((bits >> 11) + 1) * 0x1p-53;
}

}  // namespace

void initial_values(const Tensor& tensor, TensorId id, std::uint64_t seed, double deviation,
                    std::int64_t first, std::span<double> values) {
  const bool norm = tensor.name.ends_with("norm.weight");
  const bool bias = tensor.name.ends_with(".bias");
  const std::uint64_t stream = mix(mix(seed) ^ static_cast<std::uint64_t>(id));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t element = first + static_cast<std::int64_t>(i);
    if (element >= tensor.elements || bias) {
      values[i] = 0;
    } else if (norm) {
      values[i] = 1;
    } else {  // Box and Muller
      const std::uint64_t counter = stream + 2 * static_cast<std::uint64_t>(element);
      const double radius = std::sqrt(-2 * std::log(uniform(mix(counter))));
      values[i] = deviation * radius * std::cos(2 * std::numbers::pi * uniform(mix(counter + 1)));
    }
  }
}

}  // namespace amsp
