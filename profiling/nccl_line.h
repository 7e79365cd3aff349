#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiling/nccl_log.h"

namespace amsp {

/// A line without mpirun's tags ("[1,0]<stdout>:", wherever they stand) and without what NCCL
/// printed into it ("host:12:34 [0] NCCL INFO ..." to its end).
struct CleanLine {
  std::string text;
  bool had_nccl = false;  // something was cut off
};
CleanLine clean_line(std::string_view line);

/// A word between blanks, and how many blanks are before it.
struct Word {
  std::string text;
  std::size_t blanks = 0;
};
std::vector<Word> split_words(std::string_view line);

std::optional<std::int64_t> parse_whole(std::string_view text);

/// Bytes of an element; 0 for a type whose size isn't known, nothing for what is no type.
std::optional<int> bytes_of_type(std::string_view name);

/// "all_reduce" of "./build/all_reduce_perf" or "all_reduce_perf_mpi"; empty if that is no test.
std::string test_of_program(std::string_view word);

/// std::nullopt for anything but a rank's line.
std::optional<NcclRank> parse_rank(std::string_view line);

/// What stands where in a row, from the line of column heads.
struct NcclColumns {
  enum class Kind { kTime, kAlgbw, kBusbw, kWrong, kDelta, kOther };
  int before = 0;                         // columns between the type and the first time
  std::vector<std::vector<Kind>> blocks;  // out-of-place, in-place
  bool milliseconds = false;              // version 1
  bool cpu_time = false;
};
/// std::nullopt for anything but a line of column heads.
std::optional<NcclColumns> parse_columns(const std::vector<Word>& words);
/// Where a row begins: two whole numbers and a type. std::nullopt if the line has none.
struct RowStart {
  std::size_t word;
  NcclRow row;
};
std::optional<RowStart> find_row(const std::vector<Word>& words);

/// A row whose words may come in several pieces: NCCL prints between them.
class RowPieces {
 public:
  /// `words` are those after the type. `is_cut`: something was cut off their end.
  RowPieces(NcclRow row, std::vector<Word> words, std::optional<NcclColumns> columns, bool is_cut);

  const NcclRow& row() const { return row_; }
  /// Whether nothing may follow.
  bool is_full() const;
  /// Takes the next piece, which holds nothing but numbers; false if that is not what it is.
  bool add(const std::vector<Word>& words);
  /// Fills both halves. Returns what is wrong, or empty.
  std::string finish(NcclRow& row) const;

 private:
  /// Words before the first time: the reduction and the root, which no reader needs.
  std::size_t before() const;
  std::size_t numbers() const { return words_.size() - std::min(words_.size(), before()); }
  std::vector<std::vector<NcclColumns::Kind>> blocks() const;

  NcclRow row_;
  std::vector<Word> words_;  // without time stamps
  std::optional<NcclColumns> columns_;
  std::optional<std::size_t> lost_before_;  // where part of `before` was cut off: what is left
};

}  // namespace amsp
