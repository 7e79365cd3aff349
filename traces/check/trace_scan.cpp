#include "traces/check/trace_scan.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/json/json_syntax.h"
#include "core/json/sax_tree.h"
#include "core/utf8.h"

namespace amsp {
namespace {

class Scanner : public SaxTree {
 public:
  Scanner(std::string_view text, const std::function<void(const ScannedEvent&)>& on_event)
      : SaxTree(text), on_event_(on_event) {}

  ScannedTrace take() {
    trace_.top = std::move(root_);
    return std::move(trace_);
  }

  bool number_integer(number_integer_t value) override {
    note(std::to_string(value));
    return SaxTree::number_integer(value);
  }
  bool number_unsigned(number_unsigned_t value) override {
    note(std::to_string(value));
    return SaxTree::number_unsigned(value);
  }
  bool number_float(number_float_t value, const string_t& text) override {
    note(text);
    return SaxTree::number_float(value, text);
  }
  bool key(string_t& key) override {
    SaxTree::key(key);
    if (open_.size() == 1) trace_.keys.push_back(key_);
    if (key_ == "rank" && trace_.first_rank_section.empty() && !trace_.keys.empty())
      trace_.first_rank_section = trace_.keys.back();
    return true;
  }

 private:
  bool fail(const std::string& reason, bool) override {
    trace_.error = reason;
    return false;
  }

  bool in_events() const {
    if (open_.empty()) return false;
    if (open_[0]->is_array()) return true;
    return open_.size() >= 2 && trace_.keys.back() == "traceEvents" && open_[1]->is_array();
  }
  /// Containers that are open inside an event: the root, traceEvents if it is no array, the event.
  std::size_t event_depth() const { return open_[0]->is_array() ? 2 : 3; }

  void note(const std::string& number) {
    if (!in_events() || open_.size() != event_depth()) return;
    if (key_ == "ts") event_.ts = number;
    if (key_ == "dur") event_.dur = number;
  }

  /// An element of traceEvents leaves the tree.
  void complete() override {
    if (!in_events() || open_.size() + 1 != event_depth()) return;
    Json& events = *open_.back();
    event_.value = std::move(events.back());
    events.clear();
    on_event_(event_);
    event_ = {event_.number + 1, {}, {}, {}};
  }

  const std::function<void(const ScannedEvent&)>& on_event_;
  ScannedTrace trace_;
  ScannedEvent event_{0, {}, {}, {}};
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
