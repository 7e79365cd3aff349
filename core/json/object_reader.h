#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json_fwd.h"
#include "core/units.h"

namespace amsp {

/// Reads one JSON object and remembers where it sits, so that every error names the file, the
/// JSON pointer, what was found, what is allowed, and for a misspelt key the nearest valid one.
/// A key that nobody asked for is an error as well: call finish() once all known keys were read.
///
/// All failures throw ConfigError. Messages have the form `FILE#/POINTER: REASON`, e.g.
///   scenario.json#/cluster/nodes: is missing
///   scenario.json#/cluster/nodes: is missing; is 'noodes' a misspelling of it?
///   scenario.json#/cluster/nodes: must be a whole number from 1 to 1048576, found "8"
///   scenario.json#/cluster/noodes: is not a known key; did you mean 'nodes'? (allowed: gpu, nodes)
class ObjectReader {
 public:
  /// `where` is "FILE#/POINTER" of this object (the root is "FILE#"). Fails if `value` is no
  /// object. Keeps a reference to `value`, which must outlive the reader.
  ObjectReader(const Json& value, std::string where);

  const std::string& where() const { return where_; }
  /// "FILE#/POINTER/key", with the escapes of RFC 6901.
  std::string where(std::string_view key) const;

  bool has(const std::string& key);

  std::string string(const std::string& key);
  bool boolean(const std::string& key);
  /// A whole number in [low, high]; 8.0 is accepted, 8.5 and "8" are not.
  std::int64_t integer(const std::string& key, std::int64_t low, std::int64_t high);
  /// A plain number in [low, high].
  double number(const std::string& key, double low, double high);
  /// Dimensioned values are strings with a unit (core/quantity.h). A bare number says which
  /// units are allowed.
  Bytes bytes(const std::string& key);
  BytesPerSec bandwidth(const std::string& key);
  Seconds time(const std::string& key);
  FlopPerSec flop_rate(const std::string& key);
  /// One of `allowed`; otherwise an error with the nearest of them.
  std::string choice(const std::string& key, const std::vector<std::string>& allowed);
  /// A nested object, or any value.
  ObjectReader object(const std::string& key);
  const Json& value(const std::string& key);

  /// As above, or `fallback` if the key is absent.
  std::string string_or(const std::string& key, const std::string& fallback);
  bool boolean_or(const std::string& key, bool fallback);
  std::int64_t integer_or(const std::string& key, std::int64_t low, std::int64_t high,
                          std::int64_t fallback);
  Bytes bytes_or(const std::string& key, Bytes fallback);
  std::string choice_or(const std::string& key, const std::vector<std::string>& allowed,
                        const std::string& fallback);

  [[noreturn]] void fail(const std::string& key, const std::string& why) const;
  /// Of this object itself.
  [[noreturn]] void fail(const std::string& why) const;

  /// Marks a key as known without reading it.
  void allow(const std::string& key);
  /// Fails on the first (in document order of nlohmann: alphabetical) key that nobody asked for.
  void finish() const;

 private:
  const Json& member(const std::string& key);

  const Json* object_;
  std::string where_;
  std::set<std::string> known_;  // keys asked for so far, present or not
};

/// A short rendering of a value for messages: at most 40 characters, strings in quotes.
std::string describe(const Json& value);

}  // namespace amsp
