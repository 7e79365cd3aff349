#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"

namespace amsp {

/// Builds a value from nlohmann's events, whose parser keeps its own stack, so that depth costs no
/// recursion; refuses deep nesting all the same.
class SaxTree : public nlohmann::json_sax<Json> {
 public:
  explicit SaxTree(std::string_view text) : text_(text) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& value) override { return add(std::move(value)); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }
  bool key(string_t& key) override;
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override;

 protected:
  /// Throws, or keeps the reason and returns false, which ends the parsing. The reason starts with
  /// "LINE:COLUMN: " if `has_place`.
  virtual bool fail(const std::string& reason, bool has_place) = 0;
  /// A value is complete: it is the last one of the innermost container that is open.
  virtual void complete() {}

  Json root_;
  std::vector<Json*> open_;  // the containers that are not closed yet, outermost first
  std::string key_;          // the last one

 private:
  /// Puts the value where it belongs; the address stays valid until the container is closed.
  Json& place(Json value);
  bool add(Json value);
  bool open(Json container);
  bool close();

  std::string_view text_;
  bool after_key_ = false;
};

}  // namespace amsp
