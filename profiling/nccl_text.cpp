#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "profiling/nccl_line.h"

namespace amsp {
namespace {

/// "2.28.9" of "NCCL version 2.28.9+cuda13.1", or empty.
std::string nccl_version_in(std::string_view line) {
  constexpr std::string_view kWords = "NCCL version ";
  const std::size_t at = line.find(kWords);
  if (at == std::string_view::npos) return "";
  line.remove_prefix(at + kWords.size());
  return std::string(line.substr(0, line.find_first_not_of("0123456789.")));
}

/// The whole number behind `name` in a line such as "nThread 1 nGpus 8 ... agg iters: 1".
std::optional<std::int64_t> number_behind(std::string_view line, std::string_view name) {
  const std::size_t at = line.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  const std::vector<Word> words = split_words(line.substr(at + name.size()));
  return words.empty() ? std::nullopt : parse_whole(words.front().text);
}

class TextReader {
 public:
  TextReader(std::string_view text, const std::string& file) : text_(text) { log_.file = file; }

  NcclLog read() {
    while (!text_.empty()) {
      const std::size_t end = text_.find('\n');
      ++line_;
      read_line(text_.substr(0, end));
      text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
    }
    finish_row(true);
    std::erase_if(log_.runs, [](const NcclRun& run) { return run.rows.empty(); });
    if (log_.runs.empty())
      throw ConfigError(log_.file + ": has no row of nccl-tests' results (size, count, type, ...)");
    return std::move(log_);
  }

 private:
  std::string place() const { return fmt::format("{}:{}", log_.file, line_); }

  /// The run that lines of a header belong to. Several processes that don't know of each other
  /// print theirs before any row.
  NcclRun& header() {
    finish_row(false);
    if (log_.runs.empty() || !log_.runs.back().rows.empty() || log_.runs.back().empty_rows > 0 ||
        is_over_)
      begin_run();
    return log_.runs.back();
  }

  void begin_run() {
    is_over_ = false;
    columns_.reset();
    log_.runs.emplace_back();
    log_.runs.back().place = place();
    log_.runs.back().nccl_version = nccl_version_;
    log_.runs.back().command = commands_.size() == 1 ? commands_.front() : "";
    commands_.clear();
  }

  NcclRun& run() {
    if (log_.runs.empty()) begin_run();
    return log_.runs.back();
  }

  void read_line(std::string_view raw) {
    if (const std::string version = nccl_version_in(raw); !version.empty()) {
      nccl_version_ = version;
      if (!log_.runs.empty() && !is_over_) log_.runs.back().nccl_version = version;
    }
    const CleanLine line = clean_line(raw);
    const std::vector<Word> words = split_words(line.text);
    if (words.empty()) return;
    if (auto start = find_row(words)) return begin_row(std::move(*start), words, line.had_nccl);
    if (row_ && row_->add(words)) {
      if (row_->is_full()) finish_row(false);
      return;
    }
    read_head(line.text, words);
  }

  void read_head(const std::string& line, const std::vector<Word>& words) {
    constexpr std::string_view kTitle = "Collective test starting:";
    if (line.find("nThread ") != std::string::npos && line.find("nGpus ") != std::string::npos) {
      read_options(line);
    } else if (const std::size_t at = line.find(kTitle); at != std::string::npos) {
      const std::vector<Word> title = split_words(line.substr(at + kTitle.size()));
      NcclRun& run = header();
      if (!title.empty()) run.titles.push_back(title.front().text);
    } else if (const auto version = line.find("nccl-tests version ");
               version != std::string::npos) {
      const std::vector<Word> rest = split_words(line.substr(version));
      if (rest.size() > 2) header().tests_version = rest[2].text;
    } else if (const auto rank = parse_rank(line)) {
      auto& ranks = header().ranks;
      if (std::find(ranks.begin(), ranks.end(), *rank) == ranks.end()) ranks.push_back(*rank);
    } else if (auto columns = parse_columns(words)) {
      finish_row(false);
      if (log_.runs.empty() || is_over_) begin_run();
      if (columns->cpu_time) run().cpu_time = true;
      columns_ = std::move(columns);
    } else if (line.find("Blocking Enabled") != std::string::npos) {
      header().blocking = true;
    } else if (line.find("Out of bounds values") != std::string::npos) {
      finish_row(false);
      if (line.find("FAILED") != std::string::npos && !log_.runs.empty())
        log_.runs.back().failed = place() + ": " + line.substr(line.find("Out of bounds"));
      is_over_ = true;
    } else if (line.find("Avg bus bandwidth") != std::string::npos ||
               line.find("Collective test concluded") != std::string::npos) {
      finish_row(false);
      is_over_ = true;
    } else if (!words.front().text.starts_with('#')) {
      for (const Word& word : words)
        if (!test_of_program(word.text).empty()) remember_command(word.text);
    }
  }

  void read_options(const std::string& line) {
    NcclRun& run = header();
    const auto threads = number_behind(line, "nThread"), gpus = number_behind(line, "nGpus");
    if (threads && gpus && *threads > 0 && *gpus > 0 && *threads <= 1024 && *gpus <= 1024)
      run.ranks_per_process = static_cast<int>(*threads * *gpus);
    if (const auto count = number_behind(line, "agg iters:"))
      run.aggregated = static_cast<int>(std::clamp<std::int64_t>(*count, 1, 1 << 30));
    const auto side_work = number_behind(line, "side_work:");
    run.side_work = side_work && *side_work != 0;
  }

  void remember_command(const std::string& word) {
    for (const std::string& known : commands_)
      if (test_of_program(known) == test_of_program(word)) return;
    commands_.push_back(word);
  }

  void begin_row(RowStart start, const std::vector<Word>& words, bool is_cut) {
    finish_row(false);
    run();
    start.row.place = place();
    const auto after = words.begin() + static_cast<std::ptrdiff_t>(start.word) + 3;
    row_.emplace(std::move(start.row), std::vector<Word>(after, words.end()), columns_, is_cut);
    if (row_->is_full()) finish_row(false);
  }

  void finish_row(bool at_end) {
    if (!row_) return;
    NcclRow row;
    const std::string wrong = row_->finish(row);
    row_.reset();
    NcclRun& into = log_.runs.back();
    if (wrong.empty()) {
      if (row.bytes == 0)
        ++into.empty_rows;
      else
        into.rows.push_back(std::move(row));
    } else if (at_end) {
      log_.notes.push_back(
          fmt::format("{}: the file ends within the row of {} bytes", row.place, row.bytes));
    } else {
      throw ConfigError(fmt::format("{}: the row of {} bytes {}", row.place, row.bytes, wrong));
    }
  }

  std::string_view text_;
  int line_ = 0;
  NcclLog log_;
  std::optional<NcclColumns> columns_;
  std::optional<RowPieces> row_;  // not yet whole
  bool is_over_ = false;          // the last run has printed its footer
  std::string nccl_version_;
  std::vector<std::string> commands_;  // since the last run began
};

}  // namespace

NcclLog read_nccl_text(std::string_view text, const std::string& file) {
  return TextReader(text, file).read();
}

NcclLog read_nccl_log(std::string_view text, const std::string& file) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string_view::npos && text[first] == '{';
  return is_json ? read_nccl_json(text, file) : read_nccl_text(text, file);
}

}  // namespace amsp
