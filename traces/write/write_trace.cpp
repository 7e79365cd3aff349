#include <zlib.h>

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "core/json/json.h"
#include "traces/write/chrome_writer.h"

namespace amsp {
namespace {

constexpr int kGzip = 15 + 16;  // the largest window, and gzip's header rather than zlib's

/// zlib's own gzip header has neither file name nor time, so equal texts give equal bytes.
std::string gzip(const std::string& text) {
  z_stream stream{};
  int status =
      deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY);
  AMSP_CHECK(status == Z_OK, "zlib does not start: {}", status);
  std::string packed;
  std::string buffer(1 << 16, '\0');
  std::size_t taken = 0;
  do {
    if (stream.avail_in == 0) {  // zlib counts its input with 32 bits
      const std::size_t piece =
          std::min<std::size_t>(text.size() - taken, std::numeric_limits<uInt>::max());
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data() + taken));
      stream.avail_in = static_cast<uInt>(piece);
      taken += piece;
    }
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    status = deflate(&stream, taken == text.size() ? Z_FINISH : Z_NO_FLUSH);
    packed.append(buffer, 0, buffer.size() - stream.avail_out);
  } while (status == Z_OK);
  deflateEnd(&stream);
  AMSP_CHECK(status == Z_STREAM_END, "zlib failed: {}", status);
  return packed;
}

/// Whatever the case of the letters.
bool ends_in_gz(const std::string& path) {
  return path.ends_with(".gz") || path.ends_with(".GZ") || path.ends_with(".Gz") ||
         path.ends_with(".gZ");
}

}  // namespace

void write_trace(const std::string& path, const std::string& text) {
  write_file(path, ends_in_gz(path) ? gzip(text) : text);
}

}  // namespace amsp
