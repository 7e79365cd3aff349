#include "core/json/object_reader.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/json/json.h"
#include "core/nearest.h"
#include "core/quantity.h"
#include "core/utf8.h"

namespace amsp {
namespace {

constexpr std::size_t kDescriptionLimit = 40;

/// Shorter keys ("tp", "pp") are too close to each other for a guess to help.
constexpr std::size_t kShortestGuess = 4;

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::optional<std::string> guess = nearest(word, candidates);
  return guess ? fmt::format("; did you mean '{}'?", *guess) : "";
}

/// The value as an int64, if it is a whole number of that range.
std::optional<std::int64_t> whole(const Json& value) {
  if (value.is_number_unsigned() && !std::in_range<std::int64_t>(value.get<std::uint64_t>()))
    return std::nullopt;
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const double number = value.get<double>();
  if (std::trunc(number) != number || number < -0x1p63 || number >= 0x1p63) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::string range_text(double low, double high) {
  if (std::isinf(low) && std::isinf(high)) return "";
  if (std::isinf(high)) return fmt::format(" of at least {}", low);
  if (std::isinf(low)) return fmt::format(" of at most {}", high);
  return fmt::format(" from {} to {}", low, high);
}

/// Reads a string with a unit by means of `parse`; `what` describes the texts that it takes.
template <class Parse>
auto quantity(const ObjectReader& reader, const std::string& key, const Json& value, Parse parse,
              std::string_view what) {
  if (value.is_string())
    if (const auto parsed = parse(value.get_ref<const std::string&>())) return *parsed;
  reader.fail(key, fmt::format("must be a {}, found {}", what, describe(value)));
}

}  // namespace

std::string describe(const Json& value) {
  return shorten(value.dump(-1, ' ', false, Json::error_handler_t::replace), kDescriptionLimit);
}

ObjectReader::ObjectReader(const Json& value, std::string where)
    : object_(&value), where_(std::move(where)) {
  if (!value.is_object()) fail("must be an object, found " + describe(value));
}

std::string ObjectReader::where(std::string_view key) const {
  Json::json_pointer pointer;
  pointer.push_back(std::string(key));
  return where_ + pointer.to_string();
}

bool ObjectReader::has(const std::string& key) {
  known_.insert(key);
  return object_->contains(key);
}

const Json& ObjectReader::member(const std::string& key) {
  if (has(key)) return (*object_)[key];
  std::vector<std::string> unknown;
  for (const auto& item : object_->items())
    if (item.key().size() >= kShortestGuess && !known_.contains(item.key()))
      unknown.push_back(item.key());
  const auto misspelling = key.size() >= kShortestGuess ? nearest(key, unknown) : std::nullopt;
  if (misspelling) fail(key, fmt::format("is missing; is '{}' a misspelling of it?", *misspelling));
  fail(key, "is missing");
}

std::string ObjectReader::string(const std::string& key) {
  const Json& found = member(key);
  if (!found.is_string()) fail(key, "must be a string, found " + describe(found));
  // Messages and reports repeat strings: no line breaks or terminal sequences in them.
  const auto text = found.get<std::string>();
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      fail(key, "must not contain control characters");
  return text;
}

bool ObjectReader::boolean(const std::string& key) {
  const Json& found = member(key);
  if (!found.is_boolean()) fail(key, "must be true or false, found " + describe(found));
  return found.get<bool>();
}

std::int64_t ObjectReader::integer(const std::string& key, std::int64_t low, std::int64_t high) {
  const Json& found = member(key);
  const std::optional<std::int64_t> number = whole(found);
  if (!number || *number < low || *number > high)
    fail(key,
         fmt::format("must be a whole number from {} to {}, found {}", low, high, describe(found)));
  return *number;
}

double ObjectReader::number(const std::string& key, double low, double high) {
  const Json& found = member(key);
  if (found.is_number()) {
    const double number = found.get<double>();
    if (number >= low && number <= high) return number;
  }
  fail(key, fmt::format("must be a number{}, found {}", range_text(low, high), describe(found)));
}

Bytes ObjectReader::bytes(const std::string& key) {
  return quantity(*this, key, member(key), parse_bytes,
                  "size with a unit such as \"80GiB\" or \"1.5MB\"");
}

BytesPerSec ObjectReader::bandwidth(const std::string& key) {
  return quantity(*this, key, member(key), parse_bandwidth,
                  "bandwidth with a unit such as \"200Gbps\" or \"25GBps\"");
}

Seconds ObjectReader::time(const std::string& key) {
  return quantity(*this, key, member(key), parse_time,
                  "time with a unit such as \"3us\" or \"1.5ms\"");
}

FlopPerSec ObjectReader::flop_rate(const std::string& key) {
  return quantity(*this, key, member(key), parse_flop_rate,
                  "flop rate with a unit such as \"312TFLOPS\" or \"1PFLOP/s\"");
}

std::string ObjectReader::choice(const std::string& key, const std::vector<std::string>& allowed) {
  const Json& found = member(key);
  std::string guess;
  if (found.is_string()) {
    const auto& word = found.get_ref<const std::string&>();
    for (const std::string& candidate : allowed)
      if (word == candidate) return word;
    guess = did_you_mean(word, allowed);
  }
  fail(key, fmt::format("must be one of {}; found {}{}", join(allowed), describe(found), guess));
}

ObjectReader ObjectReader::object(const std::string& key) {
  return ObjectReader(member(key), where(key));
}

const Json& ObjectReader::value(const std::string& key) {
  return member(key);
}

std::string ObjectReader::string_or(const std::string& key, const std::string& fallback) {
  return has(key) ? string(key) : fallback;
}

bool ObjectReader::boolean_or(const std::string& key, bool fallback) {
  return has(key) ? boolean(key) : fallback;
}

std::int64_t ObjectReader::integer_or(const std::string& key, std::int64_t low, std::int64_t high,
                                      std::int64_t fallback) {
  return has(key) ? integer(key, low, high) : fallback;
}

Bytes ObjectReader::bytes_or(const std::string& key, Bytes fallback) {
  return has(key) ? bytes(key) : fallback;
}

std::string ObjectReader::choice_or(const std::string& key, const std::vector<std::string>& allowed,
                                    const std::string& fallback) {
  return has(key) ? choice(key, allowed) : fallback;
}

void ObjectReader::fail(const std::string& key, const std::string& why) const {
  throw ConfigError(where(key) + ": " + why);
}

void ObjectReader::fail(const std::string& why) const {
  throw ConfigError(where_ + ": " + why);
}

void ObjectReader::allow(const std::string& key) {
  known_.insert(key);
}

void ObjectReader::finish() const {
  const std::vector<std::string> known(known_.begin(), known_.end());
  for (const auto& item : object_->items()) {
    if (known_.contains(item.key())) continue;
    fail(item.key(),
         fmt::format("is not a known key{} (allowed: {})", did_you_mean(item.key(), known),
                     known.empty() ? "none" : join(known)));
  }
}

}  // namespace amsp
