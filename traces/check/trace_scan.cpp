#include "traces/check/trace_scan.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/json/json_syntax.h"
#include "core/json/sax_error.h"
#include "core/utf8.h"

namespace amsp {
namespace {

constexpr std::size_t kMaxDepth = 64;

class Scanner : public nlohmann::json_sax<Json> {
 public:
  Scanner(std::string_view text, const std::function<void(const ScannedEvent&)>& on_event)
      : text_(text), on_event_(on_event) {}

  ScannedTrace take() { return std::move(trace_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override {
    return number(value, std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return number(value, std::to_string(value));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    return number(value, text);
  }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& value) override { return add(std::move(value)); }

  bool start_object(std::size_t) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool key(string_t& key) override {
    key_ = std::move(key);
    after_key_ = true;
    if (open_.size() == 1) trace_.keys.push_back(key_);
    if (key_ == "rank" && trace_.first_rank_section.empty() && !trace_.keys.empty())
      trace_.first_rank_section = trace_.keys.back();
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    const Json* innermost = open_.empty() ? nullptr : open_.back();
    trace_.error = explain_sax_error(text_, innermost, after_key_, position, error);
    return false;
  }

 private:
  bool in_events() const {
    if (open_.empty()) return false;
    if (open_[0]->is_array()) return true;
    return open_.size() >= 2 && trace_.keys.back() == "traceEvents" && open_[1]->is_array();
  }
  /// Containers that are open inside an event: the root, traceEvents if it is no array, the event.
  std::size_t event_depth() const { return open_[0]->is_array() ? 2 : 3; }

  template <class Number>
  bool number(Number value, const std::string& text) {
    if (in_events() && open_.size() == event_depth()) {
      if (key_ == "ts") event_.ts = text;
      if (key_ == "dur") event_.dur = text;
    }
    return add(value);
  }

  Json& place(Json value) {
    after_key_ = false;
    if (open_.empty()) return trace_.top = std::move(value);
    Json& parent = *open_.back();
    if (parent.is_object()) return parent[key_] = std::move(value);
    parent.push_back(std::move(value));
    return parent.back();
  }

  bool add(Json value) {
    place(std::move(value));
    hand_out();
    return true;
  }

  bool open(Json container) {
    if (open_.size() == kMaxDepth) {
      trace_.error = fmt::format("is nested deeper than {} levels", kMaxDepth);
      return false;
    }
    open_.push_back(&place(std::move(container)));
    return true;
  }

  bool close() {
    open_.pop_back();
    hand_out();
    return true;
  }

  /// Call when a value is complete: an element of traceEvents leaves the tree.
  void hand_out() {
    if (!in_events() || open_.size() + 1 != event_depth()) return;
    Json& events = *open_.back();
    event_.value = std::move(events.back());
    events.clear();
    on_event_(event_);
    event_ = {event_.number + 1, {}, {}, {}};
  }

  std::string_view text_;
  const std::function<void(const ScannedEvent&)>& on_event_;
  ScannedTrace trace_;
  ScannedEvent event_{0, {}, {}, {}};
  std::vector<Json*> open_;  // the containers that are not closed yet, outermost first
  std::string key_;
  bool after_key_ = false;
};

}  // namespace

ScannedTrace scan_trace(std::string_view text,
                        const std::function<void(const ScannedEvent&)>& on_event) {
  // nlohmann takes a NUL byte for the end of the text, and reports bad UTF-8 only inside strings
  const std::size_t bad = std::min(utf8_error(text), text.find('\0'));
  if (bad != std::string_view::npos) {
    ScannedTrace trace;
    trace.error = fmt::format("{}: byte 0x{:02X} is not allowed", line_and_column(text, bad),
                              static_cast<unsigned char>(text[bad]));
    return trace;
  }
  Scanner scanner(text, on_event);
  Json::sax_parse(text, &scanner);
  return scanner.take();
}

}  // namespace amsp
