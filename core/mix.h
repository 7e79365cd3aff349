#pragma once

#include <cstdint>

namespace amsp {

/// A number whose every bit depends on every bit of `x`: splitmix64's finaliser (Steele et al.
/// 2014).
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace amsp
