#include "core/units.h"

#include <gtest/gtest.h>

#include <concepts>

namespace amsp {
namespace {

template <class A, class B>
concept CanAdd = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept CanDivide = requires(A a, B b) {
  a / b;
};

TEST(Units, NonsenseDoesNotCompile) {
  static_assert(CanAdd<Bytes, Bytes>);
  static_assert(!CanAdd<Bytes, Seconds>);
  static_assert(!CanAdd<Bytes, std::int64_t>);
  static_assert(!CanDivide<Seconds, Bytes>);
  static_assert(!CanDivide<Flop, BytesPerSec>);
  static_assert(!std::convertible_to<double, Seconds>);
}

TEST(Units, DivisionsHaveTheirDimension) {
  EXPECT_EQ((Bytes{1000} / BytesPerSec{4.0}), Seconds{250});
  EXPECT_EQ((Flop{6e12} / FlopPerSec{3e12}), Seconds{2});
  EXPECT_EQ((Bytes{1000} / Seconds{4}), BytesPerSec{250});
  EXPECT_EQ((Flop{10} / Seconds{4}), FlopPerSec{2.5});
  EXPECT_EQ(Bytes{7} / Bytes{2}, 3.5);
  EXPECT_EQ(Bytes{7} / std::int64_t{2}, Bytes{3});
}

TEST(Units, ArithmeticIsThatOfTheNumbers) {
  Seconds time{1};
  time += Seconds{2};
  time -= Seconds{0.5};
  EXPECT_EQ(time, Seconds{2.5});
  EXPECT_EQ(2.0 * time, time * 2.0);
  EXPECT_LT(Seconds{1}, Seconds{2});
}

TEST(Units, LiteralsAreTheNearestDoubles) {
  EXPECT_EQ(1_KiB, 1024_B);
  EXPECT_EQ(3_MiB, Bytes{3'145'728});
  EXPECT_EQ(80_GiB, Bytes{85'899'345'920});
  EXPECT_EQ(25_GBps, BytesPerSec{25e9});
  EXPECT_EQ(312_TFLOPS, FlopPerSec{312e12});
  // 5 * 1e-6 is not the double nearest to 0.000005
  EXPECT_EQ(5_us, Seconds{5e-6});
  EXPECT_EQ(57_us, Seconds{57e-6});
}

}  // namespace
}  // namespace amsp
