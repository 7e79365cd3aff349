#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace amsp {

/// A number as a program printed it. What was printed is less than `unit` away: one of the last
/// digit.
struct Printed {
  double value = 0;
  double unit = 0;
};
/// Plain or scientific notation. std::nullopt for anything else, "N/A" too.
std::optional<Printed> parse_printed(std::string_view text);

/// The out-of-place or in-place half of a row.
struct NcclTimes {
  Printed time;                 // seconds, of one operation
  Printed algbw, busbw;         // bytes per second
  std::optional<double> wrong;  // elements that came out wrong; nothing where it wasn't checked
};

/// One message size of one test.
struct NcclRow {
  std::string place;       // "run.log:31", "run.json#/results/3"
  std::int64_t bytes = 0;  // the larger of send and receive buffer: the whole message
  std::int64_t count = 0;  // elements; a rank's part of all_gather and reduce_scatter
  std::string type;        // "float"
  std::optional<NcclTimes> out_of_place, in_place;
};

/// A line "Rank  0 Group  0 Pid 1234 on host device  0 [0000:0f:00] NVIDIA H100 80GB HBM3".
struct NcclRank {
  int rank = 0;
  int group = 0;
  std::int64_t pid = -1;  // -1: versions before 2 don't say
  std::string host;
  int device = 0;
  std::string bus;  // "0000:0f:00"; may be empty
  std::string gpu;  // "NVIDIA H100 80GB HBM3"

  bool operator==(const NcclRank&) const = default;
};

/// One test, as far as the log says what it was.
struct NcclRun {
  std::string place;                // where it begins
  std::vector<std::string> titles;  // programs that it names: "all_reduce_perf"
  std::string command;              // the program in the command line before it, or empty
  std::string tests_version, nccl_version;
  std::vector<NcclRank> ranks;  // each line once
  int ranks_per_process = 0;    // nThread * nGpus; 0: not said
  bool one_line_per_process = false;
  int aggregated = 1;     // operations of a group call, whose mean the times are
  bool blocking = false;  // the host waits after each operation
  bool cpu_time = false;  // times are the host's
  bool side_work = false;
  std::string failed;  // the line that says that results are wrong, with its place
  std::vector<NcclRow> rows;
  int empty_rows = 0;  // of size 0: the test did nothing
};

/// The tests of a file, in order; those without rows are left out.
struct NcclLog {
  std::string file;
  std::vector<NcclRun> runs;
  std::vector<std::string> notes;  // what was left out
};

/// Reads what nccl-tests and rccl-tests print, of any version, or write by -J. `file` is for
/// messages.
///
/// Text: tags of launchers (mpirun, srun, kubectl) are dropped wherever they stand, and what NCCL
/// itself prints, between lines or within. A row is two whole numbers, the name of a type and what
/// the last line of column heads announces; without one, the columns that all versions have.
/// Throws ConfigError with file and line for a row that isn't whole (a note if the file ends
/// there), and for a file without rows.
NcclLog read_nccl_log(std::string_view text, const std::string& file);

// The two kinds of files.
NcclLog read_nccl_text(std::string_view text, const std::string& file);
NcclLog read_nccl_json(std::string_view text, const std::string& file);

}  // namespace amsp
