#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/units.h"
#include "trace_reader/json_cursor.h"

namespace amsp {

/// The members of "args" that anybody here looks at.
enum class Arg : std::uint8_t {
  kCorrelation,
  kExternalId,
  kStream,
  kDevice,
  kBytes,
  kCollectiveName,
  kInElements,
  kOutElements,
  kGroupSize,
  kDtype,
  kGroupName,
  kGroupDescription,
  kGroupRanks,
  kSeq,
  kSourceRank,
  kDestinationRank,
  kKey,  // sk
  kPhase,
  kLayer,
  kModule,
  kOp,
  kGroup,
  kWait,
  kDeps,
  kName,
  kGrid,
  kBlock,
  kCount
};

/// One element of traceEvents, as it stands.
struct RawEvent {
  std::int64_t number = 0;   // position in traceEvents, from 0
  std::uint64_t offset = 0;  // of its '{' in the unpacked text
  std::string ph, cat, name;
  ScalarValue pid, tid, ts, dur;

  const ScalarValue* arg(Arg key) const {
    const auto i = static_cast<std::size_t>(key);
    return (present_ >> i & 1U) != 0 ? &args_[i] : nullptr;
  }
  /// As a whole number; nothing if it is missing or none.
  std::optional<std::int64_t> integer(Arg key) const;
  /// As text, whatever it is; empty if it is missing.
  std::string_view text(Arg key) const;

  void clear();
  ScalarValue& set(Arg key) {
    present_ |= 1U << static_cast<unsigned>(key);
    return args_[static_cast<std::size_t>(key)];
  }

 private:
  static_assert(static_cast<unsigned>(Arg::kCount) <= 32);
  std::array<ScalarValue, static_cast<std::size_t>(Arg::kCount)> args_;
  std::uint32_t present_ = 0;
};

/// Which member of "args" a key is.
std::optional<Arg> arg_of(std::string_view key);

/// Microseconds in decimal text, also with an exponent, to integer nanoseconds, never through a
/// double; finer digits are rounded half away from zero. std::nullopt if it isn't a number or
/// does not fit.
std::optional<Nanoseconds> parse_microseconds(std::string_view text);

/// A whole number, possibly with a fraction of zeros; std::nullopt for anything else.
std::optional<std::int64_t> parse_integer(std::string_view text);

}  // namespace amsp
