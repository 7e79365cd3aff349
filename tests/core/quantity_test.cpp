#include "core/quantity.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace amsp {
namespace {

struct Factor {
  std::string name;
  double value;
};
const std::vector<Factor> kPrefixes = {
    {"", 1},
    {"k", 1'000},
    {"K", 1'000},
    {"M", 1'000'000},
    {"G", 1'000'000'000},
    {"T", 1'000'000'000'000},
    {"P", 1'000'000'000'000'000},
    {"Ki", 1'024},
    {"Mi", 1'048'576},
    {"Gi", 1'073'741'824},
    {"Ti", 1'099'511'627'776},
    {"Pi", 1'125'899'906'842'624},
};

struct Number {
  std::string text;
  double value;
};
const std::vector<Number> kNumbers = {{"0", 0},     {"3", 3},     {"1.5", 1.5},  {"0.25", 0.25},
                                      {"007", 7},   {"2e3", 2e3}, {"2E+1", 20},  {"12.5e-1", 1.25},
                                      {"80.0", 80}, {"200", 200}, {"1000", 1000}};

/// Every number with every prefix and unit, with and without the blank.
template <class Parse>
void check_all(Parse parse, const std::vector<Factor>& units) {
  for (const auto& [number, value] : kNumbers)
    for (const auto& [prefix, factor] : kPrefixes)
      for (const auto& [unit, divisor] : units)
        for (const std::string blank : {"", " "}) {
          const std::string text = fmt::format("{}{}{}{}", number, blank, prefix, unit);
          SCOPED_TRACE(text);
          const auto parsed = parse(text);
          ASSERT_TRUE(parsed.has_value());
          EXPECT_DOUBLE_EQ(double(parsed->value), value * factor / divisor);
        }
}

TEST(ParseQuantity, EveryBandwidth) {
  check_all(parse_bandwidth, {{"bps", 8}, {"b/s", 8}, {"Bps", 1}, {"B/s", 1}});
}

TEST(ParseQuantity, EveryFlopRate) {
  check_all(parse_flop_rate, {{"FLOPS", 1}, {"FLOP/s", 1}});
}

TEST(ParseQuantity, EveryByteCount) {
  for (const auto& [prefix, factor] : kPrefixes)
    for (const std::int64_t count : {0, 1, 3, 80, 1000})
      for (const std::string blank : {"", " "}) {
        const std::string text = fmt::format("{}{}{}B", count, blank, prefix);
        EXPECT_EQ(parse_bytes(text), Bytes{count * std::int64_t(factor)}) << text;
      }
}

TEST(ParseQuantity, BytesAreRoundedToTheNearest) {
  EXPECT_EQ(parse_bytes("1.5 MB"), Bytes{1'500'000});
  EXPECT_EQ(parse_bytes("1.1GB"), Bytes{1'100'000'000});
  EXPECT_EQ(parse_bytes("1.3GiB"), Bytes{1'395'864'371});  // 1395864371.2
  EXPECT_EQ(parse_bytes("0.6B"), Bytes{1});
}

TEST(ParseQuantity, BytesMustFit) {
  EXPECT_EQ(parse_bytes("8191PiB"), Bytes{8191LL << 50});
  EXPECT_EQ(parse_bytes("8192PiB"), std::nullopt);  // 2^63
  EXPECT_EQ(parse_bytes("1e300B"), std::nullopt);
}

TEST(ParseQuantity, TimesAreTheNearestDoubles) {
  for (const char* number : {"1", "3", "5", "10", "57", "0.1", "1.5", "2e3"})
    for (const std::string blank : {"", " "}) {
      const std::string text = number + blank;
      EXPECT_EQ(parse_time(text + "s"), Seconds{std::stod(number)});
      EXPECT_EQ(parse_time(text + "ms"), Seconds{std::stod(number) / 1e3});
      EXPECT_EQ(parse_time(text + "us"), Seconds{std::stod(number) / 1e6});
      EXPECT_EQ(parse_time(text + "ns"), Seconds{std::stod(number) / 1e9});
    }
  EXPECT_EQ(parse_time("5us"), Seconds{5e-6});
  EXPECT_EQ(parse_time("5us"), 5_us);
}

TEST(ParseQuantity, TheDocumentedExamples) {
  EXPECT_EQ(parse_bytes("80GiB"), 80_GiB);
  EXPECT_EQ(parse_bytes("512B"), 512_B);
  EXPECT_EQ(parse_bandwidth("200Gbps"), 25_GBps);
  EXPECT_EQ(parse_bandwidth("25GBps"), 25_GBps);
  EXPECT_EQ(parse_bandwidth("25GB/s"), 25_GBps);
  EXPECT_EQ(parse_bandwidth("200Gb/s"), 25_GBps);
  EXPECT_EQ(parse_flop_rate("312TFLOPS"), 312_TFLOPS);
  EXPECT_EQ(parse_flop_rate("1PFLOP/s"), 1000_TFLOPS);
}

// Of all units, each parser must take its own and no other.
TEST(ParseQuantity, UnitsOfOtherKindsAreRefused) {
  const std::set<std::string> sizes = {"B"};
  const std::set<std::string> rates = {"bps", "b/s", "Bps", "B/s"};
  const std::set<std::string> times = {"s", "ms", "us", "ns"};
  const std::set<std::string> flops = {"FLOPS", "FLOP/s"};
  const std::vector<std::string> all = {
      "",    "B",     "b",      "bps",  "b/s",   "Bps", "B/s",   "s",     "ms",     "us",
      "ns",  "FLOPS", "FLOP/s", "FLOP", "flops", "BPS", "byte",  "bit",   "Byte/s", "m",
      "sec", "min",   "h",      "B/ms", "Bs",    "b s", "FLOPs", "Bps/s", "S",      "\xC2\xB5s"};
  for (const std::string& unit : all) {
    SCOPED_TRACE(unit);
    EXPECT_EQ(parse_bytes("1" + unit).has_value(), sizes.contains(unit));
    EXPECT_EQ(parse_bandwidth("1" + unit).has_value(), rates.contains(unit));
    EXPECT_EQ(parse_time("1" + unit).has_value(), times.contains(unit));
    EXPECT_EQ(parse_flop_rate("1" + unit).has_value(), flops.contains(unit));
  }
}

TEST(ParseQuantity, PrefixesAreCaseSensitiveAndSingle) {
  for (const std::string prefix : {"g", "m", "t", "p", "ki", "KI", "gi", "GI", "kk", "GM", "i",
                                   "GiG", "E", "Z", "u", " G", "G "}) {
    EXPECT_EQ(parse_bytes("1" + prefix + "B").has_value(), prefix == " G") << prefix;
    EXPECT_EQ(parse_bandwidth("1" + prefix + "bps").has_value(), prefix == " G") << prefix;
  }
  EXPECT_EQ(parse_time("1ks"), std::nullopt);
  EXPECT_EQ(parse_time("1Ms"), std::nullopt);
}

TEST(ParseQuantity, OtherNumbersAreRefused) {
  for (const std::string number :
       {"",      " ",     "-1",   "+1",  "-0",  ".5",       "5.",  "5.e3", "1,5",
        "1'000", "1_000", "0x10", "inf", "nan", "Infinity", "1e",  "1e+",  "1.5.5",
        "1e999", "--1",   "one",  " 1",  "1  ", "1\t",      "1 e3"}) {
    SCOPED_TRACE(number);
    EXPECT_EQ(parse_bytes(number + "GB"), std::nullopt);
    EXPECT_EQ(parse_bandwidth(number + "GBps"), std::nullopt);
    EXPECT_EQ(parse_time(number + "us"), std::nullopt);
    EXPECT_EQ(parse_flop_rate(number + "TFLOPS"), std::nullopt);
  }
  EXPECT_EQ(parse_bandwidth("1e305GBps"), std::nullopt);  // overflows only with its prefix
  EXPECT_EQ(parse_bytes("1GB "), std::nullopt);
  EXPECT_EQ(parse_bytes(std::string_view("1GB\0", 4)), std::nullopt);
}

struct Shown {
  double value;
  const char* text;
};

TEST(FormatQuantity, Bytes) {
  const std::vector<std::pair<std::int64_t, const char*>> cases = {
      {0, "0 B"},
      {5, "5 B"},
      {999, "999 B"},
      {1'000, "1.00 kB"},
      {1'234, "1.23 kB"},
      {9'996, "10.0 kB"},
      {99'950'000, "100 MB"},  // 99.95 rounds up
      {13'500'000'000, "13.5 GB"},
      {999'499'999, "999 MB"},
      {999'500'001, "1.00 GB"},  // never "1000 MB"
      {2'000'000'000'000, "2.00 TB"},
      {3'140'000'000'000'000, "3.14 PB"},
      {std::numeric_limits<std::int64_t>::max(), "9.22 EB"},
      {-13'500'000'000, "-13.5 GB"},
      {-5, "-5 B"},
      {std::numeric_limits<std::int64_t>::min(), "-9.22 EB"},
  };
  for (const auto& [value, text] : cases) EXPECT_EQ(format_bytes(Bytes{value}), text);
}

TEST(FormatQuantity, BytesBinary) {
  const std::vector<std::pair<std::int64_t, const char*>> cases = {
      {0, "0 B"},
      {1'000, "1000 B"},
      {1'023, "1023 B"},
      {1'024, "1.00 KiB"},
      {80LL << 30, "80.0 GiB"},
      {80'101'400'000, "74.6 GiB"},  // 80.1014e9 / 2^30 = 74.600...
      {1'000LL << 20, "1000 MiB"},
      {1'023LL << 20, "1023 MiB"},
      {(1'024LL << 20) - 1, "1.00 GiB"},  // never "1024 MiB"
      {5LL << 40, "5.00 TiB"},
      {7LL << 50, "7.00 PiB"},
      {std::numeric_limits<std::int64_t>::max(), "8.00 EiB"},
  };
  for (const auto& [value, text] : cases) EXPECT_EQ(format_bytes_binary(Bytes{value}), text);
}

TEST(FormatQuantity, Bandwidth) {
  for (const auto& [value, text] : {Shown{0, "0 B/s"},
                                    {0.5, "0.50 B/s"},
                                    {512, "512 B/s"},
                                    {25e9, "25.0 GB/s"},
                                    {95.24e9, "95.2 GB/s"},
                                    {999.6e9, "1.00 TB/s"},
                                    {4e15, "4.00 PB/s"},
                                    {5e18, "5.00 EB/s"},
                                    {5e22, "50000 EB/s"}})
    EXPECT_EQ(format_bandwidth(BytesPerSec{value}), text);
}

TEST(FormatQuantity, Time) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const auto& [value, text] : {Shown{0, "0 s"},
                                    {1.2734, "1.273 s"},
                                    {312.4e-6, "312.4 us"},
                                    {1e-9, "1.000 ns"},
                                    {2.5e-12, "0.003 ns"},
                                    {20.5e-3, "20.50 ms"},
                                    {999.94e-6, "999.9 us"},
                                    {999.96e-6, "1.000 ms"},
                                    {999.96e-3, "1.000 s"},
                                    {1234.4, "1234 s"},
                                    {86400, "86400 s"},
                                    {-1.2734, "-1.273 s"},
                                    {kInfinity, "inf s"}})
    EXPECT_EQ(format_time(Seconds{value}), text);
}

TEST(FormatQuantity, FlopRate) {
  for (const auto& [value, text] : {Shown{0, "0 FLOP/s"},
                                    {989.5e12, "990 TFLOP/s"},
                                    {312e12, "312 TFLOP/s"},
                                    {1e15, "1.00 PFLOP/s"},
                                    {4.2e18, "4.20 EFLOP/s"}})
    EXPECT_EQ(format_flop_rate(FlopPerSec{value}), text);
}

// What we print we read: within half a unit of the last of three digits, up to the prefix P.
TEST(FormatQuantity, RoundTrips) {
  for (int exponent = 0; exponent < 17; ++exponent)
    for (const double mantissa : {1.0, 1.005, 1.2345, 3.14159, 9.99, 9.996}) {
      const double value = mantissa * std::pow(10.0, exponent);
      SCOPED_TRACE(value);
      const auto rate = parse_bandwidth(format_bandwidth(BytesPerSec{value}));
      ASSERT_TRUE(rate.has_value());
      EXPECT_NEAR(rate->value / value, 1, 0.005);
      const auto flops = parse_flop_rate(format_flop_rate(FlopPerSec{value}));
      ASSERT_TRUE(flops.has_value());
      EXPECT_NEAR(flops->value / value, 1, 0.005);
      const auto time = parse_time(format_time(Seconds{value * 1e-9}));
      ASSERT_TRUE(time.has_value());
      EXPECT_NEAR(time->value / (value * 1e-9), 1, 0.0005);

      const Bytes size{std::llround(value)};
      for (const std::string& text : {format_bytes(size), format_bytes_binary(size)}) {
        const auto bytes = parse_bytes(text);
        ASSERT_TRUE(bytes.has_value()) << text;
        EXPECT_NEAR(*bytes / size, 1, 0.005) << text;
      }
    }
}

}  // namespace
}  // namespace amsp
