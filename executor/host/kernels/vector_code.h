#pragma once

#include <cmath>

// Vector code for the processor at hand: a function with AMSP_VECTOR_CLONES is compiled for several
// generations of x86-64, and the loader picks one.
//
// Not with sanitizers: the loader would run instrumented code before their run time is set up.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define AMSP_VECTOR_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define AMSP_VECTOR_CLONES
#endif

// glibc has vector forms of these (libmvec, at most 4 ulp), which its headers only tell the
// compiler with -ffast-math, and that means more than is wanted here.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
extern "C" {
__attribute__((simd("notinbranch"))) float expf(float) noexcept;
__attribute__((simd("notinbranch"))) double exp(double) noexcept;
__attribute__((simd("notinbranch"))) double sin(double) noexcept;
__attribute__((simd("notinbranch"))) double cos(double) noexcept;
}
#endif

/// Before a loop whose outputs may be the very same arrays as its inputs, but don't overlap
/// otherwise: iterations don't depend on each other.
#if defined(__GNUC__) && !defined(__clang__)
#define AMSP_INDEPENDENT _Pragma("GCC ivdep")
#else
#define AMSP_INDEPENDENT
#endif
