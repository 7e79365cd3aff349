#pragma once

#include <string>

#include "core/json/object_reader.h"
#include "core/units.h"

namespace amsp {

/// Rates outside [low, high) are refused as slips of the pen, such as GBps for Gbps.
struct PlausibleRates {
  const char* what;  // "one NIC"
  BytesPerSec low;   // 0: everything above 0 is plausible
  BytesPerSec high;
};
inline constexpr PlausibleRates kNvlinkRates{"NVLink", {1e9}, {10e12}};
inline constexpr PlausibleRates kPcieRates{"PCIe", {0}, {512e9}};
inline constexpr PlausibleRates kNicRates{"one NIC", {0}, {400e9}};
inline constexpr PlausibleRates kLeafSpineRates{"a leaf-spine pair", {0}, {10e12}};
inline constexpr PlausibleRates kSpineCoreRates{"a spine-core pair", {0}, {10e12}};
inline constexpr PlausibleRates kSwitchRates{"two switches", {0}, {10e12}};

struct Rates {
  BytesPerSec bandwidth;
  BytesPerSec capacity;
};

/// Reads a bandwidth. Throws ConfigError if it isn't plausible, with the unit that was probably
/// meant.
BytesPerSec read_rate(ObjectReader& reader, const std::string& key, const PlausibleRates& rates);

/// Reads "bandwidth" and "capacity", which is the bandwidth if absent and must not exceed it.
Rates read_rates(ObjectReader& reader, const PlausibleRates& rates);

/// `; did you mean "200Gbps"?`: the number of `text` in Gbps or GBps, if either lies within
/// `rates`; else "".
std::string did_you_mean_rate(const std::string& text, const PlausibleRates& rates);

}  // namespace amsp
