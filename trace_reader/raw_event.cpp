#include "trace_reader/raw_event.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <unordered_map>

namespace amsp {
namespace {

const std::unordered_map<std::string_view, Arg>& arg_names() {
  static const std::unordered_map<std::string_view, Arg> names = {
      {"correlation", Arg::kCorrelation},
      {"External id", Arg::kExternalId},
      {"external id", Arg::kExternalId},
      {"stream", Arg::kStream},
      {"device", Arg::kDevice},
      {"bytes", Arg::kBytes},
      {"Collective name", Arg::kCollectiveName},
      {"In msg nelems", Arg::kInElements},
      {"In msg size", Arg::kInElements},
      {"Out msg nelems", Arg::kOutElements},
      {"Out msg size", Arg::kOutElements},
      {"Group size", Arg::kGroupSize},
      {"dtype", Arg::kDtype},
      {"Process Group Name", Arg::kGroupName},
      {"Process Group Description", Arg::kGroupDescription},
      {"Process Group Ranks", Arg::kGroupRanks},
      {"Seq", Arg::kSeq},
      {"Src Rank", Arg::kSourceRank},
      {"Dst Rank", Arg::kDestinationRank},
      {"sk", Arg::kKey},
      {"phase", Arg::kPhase},
      {"layer", Arg::kLayer},
      {"module", Arg::kModule},
      {"op", Arg::kOp},
      {"group", Arg::kGroup},
      {"wait_ns", Arg::kWait},
      {"deps", Arg::kDeps},
      {"name", Arg::kName},
      {"grid", Arg::kGrid},
      {"block", Arg::kBlock},
  };
  return names;
}

constexpr int kDecimalsOfUs = 3;  // a nanosecond is 0.001 us
constexpr int kLargestExponent = 1000;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

std::optional<Arg> arg_of(std::string_view key) {
  const auto found = arg_names().find(key);
  if (found == arg_names().end()) return std::nullopt;
  return found->second;
}

void RawEvent::clear() {
  for (std::string* text : {&ph, &cat, &name}) text->clear();
  for (ScalarValue* value : {&pid, &tid, &ts, &dur}) value->kind = ValueKind::kMissing;
  present_ = 0;
}

std::string_view RawEvent::text(Arg key) const {
  const ScalarValue* value = arg(key);
  return value == nullptr || value->kind == ValueKind::kMissing ? std::string_view() : value->text;
}

std::optional<std::int64_t> RawEvent::integer(Arg key) const {
  return parse_integer(text(key));
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (const auto point = text.find('.'); point != std::string_view::npos) {
    if (text.find_first_not_of('0', point + 1) != std::string_view::npos) return std::nullopt;
    text = text.substr(0, point);
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::optional<Nanoseconds> parse_microseconds(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  // value = digits * 10^exponent ns, in at most 19 digits; what follows only rounds
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  std::int64_t digits = 0;
  int exponent = kDecimalsOfUs;
  bool seen = false, after_point = false, full = false;
  std::string_view rest = text;
  const std::size_t e = text.find_first_of("eE");
  if (e != std::string_view::npos) {
    rest = text.substr(0, e);
    std::string_view power = text.substr(e + 1);
    if (power.starts_with('+')) power.remove_prefix(1);
    const auto parsed = parse_integer(power);
    if (!parsed || *parsed > kLargestExponent || *parsed < -kLargestExponent) return std::nullopt;
    exponent += static_cast<int>(*parsed);
  }
  for (const char c : rest) {
    if (c == '.' && !after_point) {
      after_point = true;
      continue;
    }
    if (!is_digit(c)) return std::nullopt;
    seen = true;
    full = full || digits > (kMost - 9) / 10;
    if (full) {
      exponent += after_point ? 0 : 1;
      continue;
    }
    digits = 10 * digits + (c - '0');
    exponent -= after_point ? 1 : 0;
  }
  if (!seen) return std::nullopt;
  for (; exponent > 0 && digits != 0; --exponent) {
    if (digits > kMost / 10) return std::nullopt;
    digits *= 10;
  }
  for (; exponent < 0 && digits != 0; ++exponent) {
    const bool last = exponent == -1;
    digits = digits / 10 + (last && digits % 10 >= 5 ? 1 : 0);
  }
  return Nanoseconds{negative ? -digits : digits};
}

}  // namespace amsp
