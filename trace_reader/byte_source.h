#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace amsp {

/// The bytes of a trace, in pieces: plain or gzip (also of several members), told by the magic
/// bytes and not by the name. What is missing or wrong at the end of gzip data is no failure:
/// what came before it is handed out, and `damage()` says what happened.
class ByteSource {
 public:
  /// Throws ConfigError naming the path if it can't be read.
  explicit ByteSource(const std::string& path);
  /// From memory; the text must live as long. For text that was never a file.
  explicit ByteSource(std::string_view text);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Up to `size` (> 0) bytes; 0 at the end.
  std::size_t read(char* out, std::size_t size);
  /// "the gzip data end early" or the like; empty while all is well.
  const std::string& damage() const { return damage_; }

 private:
  struct Inflater;
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void detect();
  std::size_t read_raw(char* out, std::size_t size);
  std::size_t inflate_some(char* out, std::size_t size);
  /// More packed bytes; false at the end.
  bool feed();
  /// After the end of a member: whether another one follows.
  bool next_member();

  std::string path_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::string_view text_;
  std::vector<char> packed_;
  std::unique_ptr<Inflater> inflater_;
  std::string head_;  // read to detect the format, not handed out yet
  std::string damage_;
  bool ended_ = false;
};

}  // namespace amsp
