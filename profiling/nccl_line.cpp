#include "profiling/nccl_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

namespace amsp {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

/// Length of "[1,0]<stdout>:" at the beginning of `text`, or 0. The colon may be missing.
std::size_t tag_length(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t first = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at > first;
  };
  const auto skip = [&](std::string_view word) {
    if (!text.substr(at).starts_with(word)) return false;
    at += word.size();
    return true;
  };
  if (!skip("[") || !digits() || !skip(",") || !digits() || !skip("]")) return 0;
  if (!skip("<stdout>") && !skip("<stderr>") && !skip("<stddiag>")) return 0;
  skip(":");
  return at;
}

/// Where "host:12:34 [0] NCCL INFO" begins, or npos.
std::size_t find_nccl(std::string_view text) {
  for (const std::string_view level :
       {" NCCL INFO ", " NCCL WARN ", " NCCL TRACE ", " NCCL ERROR ", " NCCL ABORT "}) {
    std::size_t at = text.find(level);
    if (at == std::string_view::npos) continue;
    if (at > 0 && text[at - 1] == ']') at = text.rfind('[', at);
    while (at != std::string_view::npos && at > 0 && is_blank(text[at - 1])) --at;
    while (at != std::string_view::npos && at > 0 && !is_blank(text[at - 1])) --at;
    return at == std::string_view::npos ? 0 : at;
  }
  return std::string_view::npos;
}

/// "2025-10-17", "12:00:00": of -S, at the end of a row.
bool is_stamp(std::string_view text) {
  std::size_t digits = 0, marks = 0;
  for (const char c : text) {
    if (is_digit(c))
      ++digits;
    else if (c == '-' || c == ':')
      ++marks;
    else
      return false;
  }
  return marks == 2 && digits >= 6 && is_digit(text.front());
}

void drop_stamps(std::vector<Word>& words) {
  while (!words.empty() && is_stamp(words.back().text)) words.pop_back();
}

Printed scaled(Printed number, double factor) {
  return {number.value * factor, number.unit * factor};
}

bool is_number(std::string_view text) {
  while (text.ends_with('*')) text.remove_suffix(1);
  return text == "N/A" || parse_printed(text);
}

using Kind = NcclColumns::Kind;

Kind kind_of_head(std::string_view name) {
  if (name == "time" || name == "cputime") return Kind::kTime;
  if (name == "algbw") return Kind::kAlgbw;
  if (name == "busbw") return Kind::kBusbw;
  if (name == "#wrong" || name == "wrong") return Kind::kWrong;
  if (name == "error" || name == "res" || name == "delta") return Kind::kDelta;
  return Kind::kOther;
}

/// One half from its words. Returns what is wrong, or empty.
std::string fill_half(std::optional<NcclTimes>& half, const Word* words,
                      const std::vector<Kind>& columns, bool milliseconds) {
  NcclTimes times;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::string_view text = words[i].text;
    const bool is_marked = text.ends_with('*');  // rccl-tests: beyond what it tolerates
    while (text.ends_with('*')) text.remove_suffix(1);
    const std::optional<Printed> number = parse_printed(text);
    switch (columns[i]) {
      case Kind::kTime:
        if (!number) return fmt::format("has \"{}\" for a time", text);
        // divided, so that 34.26 us is the double nearest to 34.26e-6
        times.time = {number->value / (milliseconds ? 1e3 : 1e6),
                      number->unit / (milliseconds ? 1e3 : 1e6)};
        break;
      case Kind::kAlgbw:
      case Kind::kBusbw:
        if (!number) return fmt::format("has \"{}\" for a bandwidth", text);
        (columns[i] == Kind::kAlgbw ? times.algbw : times.busbw) = scaled(*number, 1e9);
        break;
      case Kind::kWrong:
        if (!number && text != "N/A") return fmt::format("has \"{}\" for #wrong", text);
        if (number) times.wrong = number->value;
        if (is_marked) times.wrong = std::max(1.0, times.wrong.value_or(1));
        break;
      case Kind::kDelta:  // the largest difference: rounding, unless marked
        if (!number && text != "N/A") return fmt::format("has \"{}\" for an error", text);
        if (is_marked) times.wrong = 1;
        break;
      case Kind::kOther:
        break;
    }
  }
  half = times;
  return "";
}

}  // namespace

std::optional<Printed> parse_printed(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value)) return std::nullopt;
  const std::size_t mark = text.find_first_of("eE");
  const std::string_view mantissa = text.substr(0, mark);
  int exponent = 0;
  if (mark != std::string_view::npos) {
    std::string_view digits = text.substr(mark + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  }
  const std::size_t point = mantissa.find('.');
  const auto decimals =
      point == std::string_view::npos ? 0 : static_cast<int>(mantissa.size() - point) - 1;
  return Printed{value, std::pow(10.0, exponent - decimals)};
}

CleanLine clean_line(std::string_view line) {
  CleanLine clean;
  while (!line.empty() && (line.back() == '\r' || is_blank(line.back()))) line.remove_suffix(1);
  while (!line.empty()) {
    if (const std::size_t tag = line[0] == '[' ? tag_length(line) : 0; tag > 0) {
      line.remove_prefix(tag);
    } else {
      clean.text += line[0];
      line.remove_prefix(1);
    }
  }
  const std::size_t nccl = find_nccl(clean.text);
  clean.had_nccl = nccl != std::string::npos;
  if (clean.had_nccl) clean.text.resize(nccl);
  return clean;
}

std::vector<Word> split_words(std::string_view line) {
  std::vector<Word> words;
  std::size_t at = 0;
  while (at < line.size()) {
    const std::size_t begin = at;
    while (at < line.size() && is_blank(line[at])) ++at;
    const std::size_t word = at;
    while (at < line.size() && !is_blank(line[at])) ++at;
    if (at > word) words.push_back({std::string(line.substr(word, at - word)), word - begin});
  }
  return words;
}

std::optional<std::int64_t> parse_whole(std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::optional<int> bytes_of_type(std::string_view name) {
  static const std::map<std::string_view, int> sizes = {
      {"int8", 1},   {"char", 1},    {"uint8", 1},    {"int", 4},     {"int32", 4},
      {"uint32", 4}, {"int64", 8},   {"uint64", 8},   {"half", 2},    {"float16", 2},
      {"float", 4},  {"float32", 4}, {"double", 8},   {"float64", 8}, {"bfloat16", 2},
      {"f8e4m3", 1}, {"f8e5m2", 1},  {"fp8_e4m3", 1}, {"fp8_e5m2", 1}};
  const auto found = sizes.find(name);
  if (found == sizes.end()) return std::nullopt;
  return found->second;
}

std::string test_of_program(std::string_view word) {
  word = word.substr(word.find_last_of('/') + 1);
  const std::size_t suffix = word.find("_perf");
  if (suffix == std::string_view::npos || suffix == 0) return "";
  const std::string_view rest = word.substr(suffix + 5);
  if (!rest.empty() && rest[0] != '_' && rest[0] != '.') return "";
  const std::string_view name = word.substr(0, suffix);
  const bool is_name = std::all_of(name.begin(), name.end(),
                                   [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
  return is_name ? std::string(name) : "";
}

std::optional<NcclRank> parse_rank(std::string_view line) {
  const std::vector<Word> words = split_words(line);
  std::size_t at = 0;
  while (at < words.size() && words[at].text != "Rank") ++at;
  const auto number = [&](std::string_view name) -> std::optional<std::int64_t> {
    if (at + 1 >= words.size() || words[at].text != name) return std::nullopt;
    const auto value = parse_whole(words[at + 1].text);
    if (value) at += 2;
    return value;
  };
  const auto as_int = [](std::int64_t value) {
    return static_cast<int>(std::clamp<std::int64_t>(value, -1, 1 << 30));
  };
  NcclRank result;
  const auto rank = number("Rank");
  if (!rank) return std::nullopt;
  result.rank = as_int(*rank);
  if (const auto group = number("Group")) result.group = as_int(*group);
  if (const auto pid = number("Pid")) result.pid = *pid;
  if (at + 1 >= words.size() || words[at].text != "on") return std::nullopt;
  result.host = words[at + 1].text;
  at += 2;
  const auto device = number("device");
  if (!device) return std::nullopt;
  result.device = as_int(*device);
  if (at < words.size() && words[at].text.starts_with('[')) {
    const std::string& bus = words[at].text;
    result.bus = bus.substr(1, bus.find(']') - 1);
    ++at;
  }
  for (; at < words.size(); ++at) {
    if (!result.gpu.empty()) result.gpu += ' ';
    result.gpu += words[at].text;
  }
  return result;
}

std::optional<NcclColumns> parse_columns(const std::vector<Word>& words) {
  const auto is = [](const char* text) {
    return [text](const Word& word) { return word.text == text; };
  };
  const auto find = [&](const char* text) {
    return std::find_if(words.begin(), words.end(), is(text));
  };
  auto head = find("size");
  const bool is_first = head == words.end();  // version 1
  if (is_first) head = find("bytes");
  const auto type = std::find_if(head, words.end(), is("type"));
  if (head == words.end() || type == words.end() || find("algbw") == words.end() ||
      find("busbw") == words.end())
    return std::nullopt;
  NcclColumns columns;
  columns.milliseconds = is_first;
  for (auto word = std::next(type); word != words.end() && word->text != "timestamp"; ++word) {
    const Kind kind = kind_of_head(word->text);
    const bool is_figure = kind == Kind::kTime || kind == Kind::kAlgbw || kind == Kind::kBusbw;
    columns.cpu_time = columns.cpu_time || word->text == "cputime";
    auto& blocks = columns.blocks;
    const bool begins =
        is_figure && (blocks.empty() || std::find(blocks.back().begin(), blocks.back().end(),
                                                  kind) != blocks.back().end());
    if (begins) blocks.emplace_back();
    if (blocks.empty())
      ++columns.before;
    else
      blocks.back().push_back(kind);
  }
  if (columns.blocks.empty() || columns.blocks.size() > 2) return std::nullopt;
  for (const auto& block : columns.blocks)
    for (const Kind kind : {Kind::kTime, Kind::kAlgbw, Kind::kBusbw})
      if (std::count(block.begin(), block.end(), kind) != 1) return std::nullopt;
  return columns;
}

std::optional<RowStart> find_row(const std::vector<Word>& words) {
  for (std::size_t i = 0; i + 2 < words.size() && !words[i].text.starts_with('#'); ++i) {
    const auto bytes = parse_whole(words[i].text);
    const auto count = parse_whole(words[i + 1].text);
    if (!bytes || !count || *bytes < 0 || *count < 0 || !bytes_of_type(words[i + 2].text)) continue;
    RowStart start{i, {}};
    start.row.bytes = *bytes;
    start.row.count = *count;
    start.row.type = words[i + 2].text;
    return start;
  }
  return std::nullopt;
}

RowPieces::RowPieces(NcclRow row, std::vector<Word> words, std::optional<NcclColumns> columns,
                     bool is_cut)
    : row_(std::move(row)), words_(std::move(words)), columns_(std::move(columns)) {
  drop_stamps(words_);
  if (is_cut && columns_ && words_.size() < static_cast<std::size_t>(columns_->before))
    lost_before_ = words_.size();
}

std::size_t RowPieces::before() const {
  if (lost_before_) return *lost_before_;
  if (columns_) return static_cast<std::size_t>(columns_->before);
  std::size_t before = 0;
  if (before < words_.size() && !is_number(words_[before].text)) ++before;
  if (before < words_.size() && (words_.size() - before) % 4 == 1 &&
      parse_whole(words_[before].text))
    ++before;
  return before;
}

std::vector<std::vector<Kind>> RowPieces::blocks() const {
  if (columns_) return columns_->blocks;
  // what all versions have in common
  const std::vector<Kind> block = {Kind::kTime, Kind::kAlgbw, Kind::kBusbw, Kind::kWrong};
  return std::vector<std::vector<Kind>>(numbers() > 4 ? 2 : 1, block);
}

bool RowPieces::is_full() const {
  if (!columns_) return numbers() == 8;
  std::size_t all = 0;
  for (const auto& block : columns_->blocks) all += block.size();
  return numbers() == all;
}

bool RowPieces::add(const std::vector<Word>& words) {
  std::vector<Word> piece = words;
  drop_stamps(piece);
  const bool is_piece =
      !piece.empty() &&
      std::all_of(piece.begin(), piece.end(), [](const Word& w) { return is_number(w.text); });
  if (is_piece) words_.insert(words_.end(), piece.begin(), piece.end());
  return is_piece;
}

std::string RowPieces::finish(NcclRow& row) const {
  row = row_;
  const auto halves = blocks();
  std::size_t all = 0;
  for (const auto& half : halves) all += half.size();
  const std::size_t given = numbers();
  const Word* at = words_.data() + std::min(words_.size(), before());
  // A row with the second half only has blanks in place of the first.
  constexpr std::size_t kBlanksOfHalf = 30;
  const bool second_only =
      given > 0 && given != all && given == halves.back().size() && at->blanks >= kBlanksOfHalf;
  if (given != all && given != halves.front().size() && !second_only)
    return fmt::format("has {} columns after the type, not {}", words_.size(), before() + all);
  for (std::size_t half = second_only ? 1 : 0; half < halves.size(); ++half) {
    if (at == words_.data() + words_.size()) break;
    auto& into = half == 0 ? row.out_of_place : row.in_place;
    std::string wrong = fill_half(into, at, halves[half], columns_ && columns_->milliseconds);
    if (!wrong.empty()) return wrong;
    at += halves[half].size();
  }
  return "";
}

}  // namespace amsp
