#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/json/json.h"
#include "core/units.h"
#include "trace_reader/byte_source.h"
#include "trace_reader/notes.h"
#include "trace_reader/raw_event.h"

namespace amsp {

/// How much a reader may forgive beyond what it always repairs.
struct ReadOptions {
  bool salvage = false;        // events with a syntax error are skipped and listed
  bool allow_partial = false;  // a file that ends early counts as far as it goes
};

/// What a trace says about itself, and how reading it went.
struct StreamOutcome {
  bool array_form = false;  // the root is an array: no header
  Json distributed;         // distributedInfo, or null
  Json metadata;            // or null
  std::string trace_name;
  Nanoseconds base;         // baseTimeNanoseconds
  std::string device_name;  // of the first of deviceProperties
  std::int64_t events = 0;  // elements of traceEvents, those in `rejected` not counted
  std::uint64_t bytes = 0;  // unpacked
  std::string incomplete;   // why the file is incomplete; empty: it is complete
  Notes repairs;            // by kind
  Notes rejected;           // events that were skipped because of a syntax error, by reason
};

/// Reads Chrome trace JSON (docs/trace-format.md; object or array form, gzip or plain) and hands
/// out its events one by one in the order of the file. Memory doesn't grow with the file. `args`
/// are read for the events that need them; all else is checked and passed over.
///
/// Throws ConfigError for what can't be read: "FILE:LINE:COLUMN: event N: REASON", an empty file,
/// another format (named where it is known), traceEvents that is missing or no array, and, unless
/// options.allow_partial, an incomplete file (with the number of events recovered).
/// `file` is for messages.
StreamOutcome stream_events(ByteSource& source, const std::string& file, const ReadOptions& options,
                            const std::function<void(const RawEvent&)>& on_event);

}  // namespace amsp
