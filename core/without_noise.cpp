#include "core/without_noise.h"

#include <cmath>

namespace amsp {

double without_noise(double value) {
  constexpr int kBits = 36;
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return std::ldexp(std::round(std::ldexp(mantissa, kBits)), exponent - kBits);
}

}  // namespace amsp
