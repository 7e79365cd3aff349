#include "trace_reader/byte_source.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "core/error.h"

namespace amsp {
namespace {

constexpr std::size_t kPackedBuffer = 1 << 16;
constexpr int kGzip = 15 + 16;  // the largest window, gzip's header
constexpr std::string_view kGzipMagic = "\x1f\x8b";

[[noreturn]] void fail(const std::string& path, int error) {
  throw ConfigError(
      fmt::format("{}: cannot be read: {}", path, std::generic_category().message(error)));
}

}  // namespace

struct ByteSource::Inflater {
  Inflater() {
    const int status = inflateInit2(&stream, kGzip);
    AMSP_CHECK(status == Z_OK, "zlib does not start: {}", status);
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream stream{};
};

ByteSource::ByteSource(const std::string& path)
    : path_(path), file_(std::fopen(path.c_str(), "rb")) {
  if (!file_) fail(path, errno);
  detect();
}

ByteSource::ByteSource(std::string_view text) : text_(text) {
  detect();
}

ByteSource::~ByteSource() = default;

void ByteSource::detect() {
  char magic[kGzipMagic.size()];
  while (head_.size() < kGzipMagic.size()) {
    const std::size_t count = read_raw(magic, kGzipMagic.size() - head_.size());
    if (count == 0) break;
    head_.append(magic, count);
  }
  if (head_ != kGzipMagic) return;
  inflater_ = std::make_unique<Inflater>();
  packed_.resize(kPackedBuffer);
  std::memcpy(packed_.data(), head_.data(), head_.size());
  inflater_->stream.next_in = reinterpret_cast<Bytef*>(packed_.data());
  inflater_->stream.avail_in = static_cast<uInt>(head_.size());
  head_.clear();
}

std::size_t ByteSource::read_raw(char* out, std::size_t size) {
  if (!file_) {
    const std::size_t count = std::min(size, text_.size());
    if (count > 0) std::memcpy(out, text_.data(), count);
    text_.remove_prefix(count);
    return count;
  }
  errno = 0;
  const std::size_t count = std::fread(out, 1, size, file_.get());
  if (count == 0 && std::ferror(file_.get()) != 0) fail(path_, errno);
  return count;
}

std::size_t ByteSource::read(char* out, std::size_t size) {
  if (inflater_) return inflate_some(out, size);
  if (head_.empty()) return read_raw(out, size);
  const std::size_t count = std::min(size, head_.size());
  std::memcpy(out, head_.data(), count);
  head_.erase(0, count);
  return count;
}

bool ByteSource::feed() {
  z_stream& stream = inflater_->stream;
  if (stream.avail_in > 0) return true;
  stream.next_in = reinterpret_cast<Bytef*>(packed_.data());
  stream.avail_in = static_cast<uInt>(read_raw(packed_.data(), packed_.size()));
  return stream.avail_in > 0;
}

bool ByteSource::next_member() {
  z_stream& stream = inflater_->stream;
  if (!feed()) return false;
  if (*stream.next_in != static_cast<unsigned char>(kGzipMagic.front())) {
    damage_ = "bytes after the end of the gzip data are ignored";
    return false;
  }
  inflateReset(&stream);
  return true;
}

std::size_t ByteSource::inflate_some(char* out, std::size_t size) {
  z_stream& stream = inflater_->stream;
  stream.next_out = reinterpret_cast<Bytef*>(out);
  stream.avail_out = static_cast<uInt>(std::min<std::size_t>(size, 1U << 30));
  const uInt wanted = stream.avail_out;
  while (!ended_ && stream.avail_out > 0) {
    if (!feed()) {
      damage_ = "the gzip data end early";
      ended_ = true;
      break;
    }
    const int status = inflate(&stream, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      ended_ = !next_member();
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      damage_ = fmt::format("the gzip data are corrupt: {}",
                            stream.msg != nullptr ? stream.msg : "unknown reason");
      ended_ = true;
    }
  }
  return wanted - stream.avail_out;
}

}  // namespace amsp
