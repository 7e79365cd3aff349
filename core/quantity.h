#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/units.h"

namespace amsp {

/// Values as people write them: a decimal number, an optional blank, a unit. The unit is
/// required. Prefixes k K M G T P are powers of 1000, Ki Mi Gi Ti Pi of 1024; b is bit, B is byte.
///   bytes:     "80GiB", "1.5 MB", "512B"           (no bits)
///   bandwidth: "200Gbps", "25GBps", "25GB/s", "200Gb/s"
///   time:      "3us", "1.5 ms", "2s", "10ns"
///   flop rate: "312TFLOPS", "1PFLOP/s"
/// Bytes are rounded to a whole number.
/// std::nullopt where the text isn't of that form or the number isn't finite and >= 0.
std::optional<Bytes> parse_bytes(std::string_view text);
std::optional<BytesPerSec> parse_bandwidth(std::string_view text);
std::optional<Seconds> parse_time(std::string_view text);
std::optional<FlopPerSec> parse_flop_rate(std::string_view text);

/// For people: three or four significant digits and a unit that keeps the number in [1, 1000)
/// (or [1, 1024)): "13.5 GB", "74.6 GiB", "95.2 GB/s", "1.273 s", "312.4 us", "312 TFLOP/s".
std::string format_bytes(Bytes bytes);         // powers of 1000
std::string format_bytes_binary(Bytes bytes);  // powers of 1024
std::string format_bandwidth(BytesPerSec rate);
std::string format_time(Seconds time);
std::string format_flop_rate(FlopPerSec rate);

}  // namespace amsp
