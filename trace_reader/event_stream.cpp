#include "trace_reader/event_stream.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"

namespace amsp {
namespace {

constexpr std::size_t kLongestArgument = 1 << 20;  // kept of an array in "args"

/// Top-level keys that real traces have after traceEvents.
const std::vector<std::string_view> kKeysBehindEvents = {
    "traceName",   "distributedInfo", "displayTimeUnit", "baseTimeNanoseconds", "metadata",
    "stackFrames", "samples",         "otherData",       "systemTraceEvents"};

/// Whether "args" matter to anyone here. Some writers put them first: then they are read.
bool wants_args(const RawEvent& event) {
  if (event.ph.empty() || event.name.empty() || event.ph == "M") return true;
  if (event.ph != "X") return false;
  if (event.cat == "python_function" || event.cat == "user_annotation") return false;
  if (event.cat == "cpu_op" || event.cat == "Operator") return event.name == "record_param_comms";
  return true;
}

/// Says what a file is whose first character opens neither an object nor an array.
std::string describe_start(char c) {
  switch (c) {
    case '\x0A':
      return "looks like a Perfetto protobuf trace; export Chrome JSON instead";
    case 'P':
      return "looks like a ZIP archive; unpack it first";
    case '\x28':
      return "looks like a zstd archive; unpack it first";
    case '\xFF':
    case '\xFE':
      return "looks like UTF-16; traces are UTF-8";
    default:
      return "is no Chrome trace: JSON must start with '{' or '['";
  }
}

class EventStream {
 public:
  EventStream(ByteSource& source, const std::string& file, const ReadOptions& options,
              const std::function<void(const RawEvent&)>& on_event)
      : source_(source),
        file_(file),
        options_(options),
        on_event_(on_event),
        cursor_(source, outcome_.repairs) {}

  StreamOutcome run() {
    try {
      read_root();
    } catch (const SyntaxFault& fault) {
      if (!fault.at_end && source_.damage().empty()) fail(fault);
      outcome_.incomplete = describe_end(fault);
    }
    outcome_.bytes = cursor_.bytes_read();
    if (!source_.damage().empty() && outcome_.incomplete.empty())
      outcome_.repairs.add("damaged gzip", source_.damage());
    if (!outcome_.incomplete.empty() && !options_.allow_partial)
      throw ConfigError(
          fmt::format("{}: incomplete file: {}; {}{} events recovered, "
                      "--allow-partial uses them",
                      file_, outcome_.incomplete, source_.damage().empty() ? "" : "at least ",
                      outcome_.events));
    return std::move(outcome_);
  }

 private:
  [[noreturn]] void fail(const SyntaxFault& fault) const {
    const std::string place = cursor_.place(fault.offset);
    if (in_event_)
      throw ConfigError(fmt::format("{}:{}: event {}: {} (--salvage skips such events)", file_,
                                    place, event_.number, fault.what()));
    throw ConfigError(fmt::format("{}:{}: {}", file_, place, fault.what()));
  }

  std::string describe_end(const SyntaxFault& fault) const {
    std::string text = source_.damage().empty() ? "" : source_.damage() + ", ";
    return text + fmt::format("the text ends at {} {}", cursor_.place(fault.offset),
                              in_event_ ? fmt::format("inside event {}", event_.number)
                                        : std::string("before the trace is complete"));
  }

  void read_root() {
    const char first = cursor_.peek_byte();
    const char c = cursor_.peek();
    if (cursor_.at_end()) {
      if (!source_.damage().empty()) cursor_.fail("expected a trace");
      throw ConfigError(file_ + ": empty file");
    }
    if (c == '[') {
      outcome_.array_form = true;
      read_events();
      return;
    }
    if (c != '{') throw ConfigError(file_ + ": " + describe_start(first));
    bool has_events = false;
    cursor_.read_object([&](std::string_view key) {
      has_events = has_events || key == "traceEvents";
      read_top(std::string(key));
    });
    if (!has_events) throw ConfigError(file_ + ": has no traceEvents");
    cursor_.peek();
    if (!cursor_.at_end()) cursor_.fail("expected nothing behind the trace");
  }

  void read_top(const std::string& key) {
    if (key == "traceEvents") {
      if (cursor_.peek() != '[') {
        if (cursor_.peek() == '\0') cursor_.fail("expected traceEvents");
        throw ConfigError(fmt::format("{}:{}: traceEvents is not an array", file_,
                                      cursor_.place(cursor_.offset())));
      }
      read_events();
    } else if (key == "distributedInfo") {
      outcome_.distributed = Json::parse(cursor_.copy_value(), nullptr, false);
    } else if (key == "metadata") {
      outcome_.metadata = Json::parse(cursor_.copy_value(), nullptr, false);
    } else if (key == "deviceProperties") {
      const Json devices = Json::parse(cursor_.copy_value(), nullptr, false);
      if (devices.is_array() && !devices.empty() && devices[0].is_object())
        if (const auto name = devices[0].find("name");
            name != devices[0].end() && name->is_string())
          outcome_.device_name = *name;
    } else if (key == "traceName" || key == "baseTimeNanoseconds") {
      ScalarValue value;
      cursor_.read_value(value, 0);
      if (key == "traceName")
        outcome_.trace_name = value.text;
      else
        read_base(value);
    } else {
      cursor_.skip_value();
    }
  }

  void read_base(const ScalarValue& value) {
    const auto base = parse_integer(value.text);
    constexpr std::int64_t kFar = std::int64_t{1} << 61;
    if (!base || *base < 0 || *base > kFar)
      throw ConfigError(
          fmt::format("{}: baseTimeNanoseconds must be a whole number from 0 to 2^61, found {}",
                      file_, value.text));
    outcome_.base = {*base};
  }

  void read_events() {
    cursor_.expect('[', "the array of events");
    if (cursor_.accept(']')) return;
    for (std::int64_t number = 0;; ++number) {
      if (outcome_.array_form && cursor_.peek() == '\0' && source_.damage().empty()) {
        outcome_.repairs.add("the array of events is not closed", "allowed by the format");
        return;
      }
      read_element(number);
      if (std::exchange(resumed_, false) && cursor_.peek() == '{') continue;
      if (cursor_.accept(']')) return;
      if (cursor_.peek() == '{') {
        outcome_.repairs.add(
            "missing comma",
            fmt::format("{}: before event {}", cursor_.place(cursor_.offset()), number + 1));
      } else if (!(outcome_.array_form && cursor_.peek() == '\0')) {
        cursor_.expect(',', "',' or ']'");
        if (cursor_.repaired_comma(']')) return;
      }
    }
  }

  void read_element(std::int64_t number) {
    event_.clear();
    event_.number = number;
    cursor_.peek();
    event_.offset = cursor_.offset();
    in_event_ = true;
    cursor_.pin();
    try {
      if (cursor_.peek() == '{') {
        read_event();
        ++outcome_.events;
        if (!event_.ph.empty() || !event_.name.empty()) on_event_(event_);
      } else {
        const std::string place = cursor_.place(cursor_.offset());
        cursor_.skip_value();
        outcome_.repairs.add("an element of traceEvents is no object", place);
      }
    } catch (const SyntaxFault& fault) {
      if (!options_.salvage) throw;
      skip_broken(fault);
    }
    cursor_.unpin();
    in_event_ = false;
  }

  void skip_broken(const SyntaxFault& fault) {
    const std::string where =
        fmt::format("{}: event {}: {}", cursor_.place(fault.offset), event_.number, fault.what());
    cursor_.return_to(event_.offset + 1);
    const std::string key = first_key_.empty() ? "ph" : first_key_;
    if (cursor_.seek_object(key, kKeysBehindEvents) == JsonCursor::Found::kNothing) throw fault;
    outcome_.rejected.add("syntax error", where);
    resumed_ = true;
  }

  void read_event() {
    bool first = first_key_.empty();
    cursor_.read_object([&](std::string_view key) {
      if (first) pending_first_key_ = key;
      first = false;
      read_member(key);
    });
    if (first_key_.empty()) first_key_ = pending_first_key_;
  }

  void read_member(std::string_view key) {
    const auto text = [&](std::string& out) {
      cursor_.read_value(value_, 0);
      std::swap(out, value_.text);
    };
    if (key == "ph") return text(event_.ph);
    if (key == "cat") return text(event_.cat);
    if (key == "name") return text(event_.name);
    if (key == "pid") return cursor_.read_value(event_.pid, 0);
    if (key == "tid") return cursor_.read_value(event_.tid, 0);
    if (key == "ts") return cursor_.read_value(event_.ts, 0);
    if (key == "dur") return cursor_.read_value(event_.dur, 0);
    if (key != "args" || cursor_.peek() != '{' || !wants_args(event_)) return cursor_.skip_value();
    cursor_.read_object([&](std::string_view name) {
      if (const auto arg = arg_of(name))
        cursor_.read_value(event_.set(*arg), kLongestArgument);
      else
        cursor_.skip_value();
    });
  }

  ByteSource& source_;
  const std::string& file_;
  const ReadOptions& options_;
  const std::function<void(const RawEvent&)>& on_event_;
  StreamOutcome outcome_;
  JsonCursor cursor_;
  RawEvent event_;
  ScalarValue value_;
  bool in_event_ = false;
  bool resumed_ = false;  // behind a broken event, at the next one or at the end of the array
  std::string first_key_, pending_first_key_;  // of events in this file
};

}  // namespace

StreamOutcome stream_events(ByteSource& source, const std::string& file, const ReadOptions& options,
                            const std::function<void(const RawEvent&)>& on_event) {
  return EventStream(source, file, options, on_event).run();
}

}  // namespace amsp
