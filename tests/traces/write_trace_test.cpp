#include <gtest/gtest.h>
#include <zlib.h>

#include <random>

#include "core/error.h"
#include "core/json/json.h"
#include "traces/write/chrome_writer.h"

namespace amsp {
namespace {

std::string temporary(const std::string& name) {
  return testing::TempDir() + "/" + name;
}

std::string unpacked(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  std::string text;
  char buffer[4096];
  for (int count = 0; (count = gzread(file, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));
  gzclose(file);
  return text;
}

TEST(WriteTrace, WritesTextAsItIs) {
  const std::string path = temporary("plain.json");
  write_trace(path, "{\"a\": 1}\n");
  EXPECT_EQ(read_file(path), "{\"a\": 1}\n");
}

TEST(WriteTrace, GzipHasNoTimeStampAndComesBack) {
  std::mt19937 random(1);
  std::string text;
  for (int i = 0; i < 500'000; ++i) text += static_cast<char>('a' + random() % 26);
  for (const std::string& content : {text, std::string("{}"), std::string()}) {
    const std::string path = temporary("trace.json.gz");
    write_trace(path, content);
    const std::string packed = read_file(path);
    ASSERT_GT(packed.size(), 10U);
    EXPECT_EQ(packed.substr(0, 3), "\x1f\x8b\x08");
    EXPECT_EQ(packed[3], 0) << "no file name";
    EXPECT_EQ(packed.substr(4, 4), std::string(4, '\0')) << "no time";
    EXPECT_EQ(unpacked(path), content);
  }
}

TEST(WriteTrace, TheSuffixMayBeInCapitals) {
  const std::string path = temporary("TRACE.JSON.GZ");
  write_trace(path, "{\"a\": 1}\n");
  EXPECT_EQ(read_file(path).substr(0, 2), "\x1f\x8b");
  EXPECT_EQ(unpacked(path), "{\"a\": 1}\n");
}

TEST(WriteTrace, SaysWhichFileCannotBeWritten) {
  const std::string path = temporary("no_such_folder/trace.json");
  try {
    write_trace(path, "{}");
    ADD_FAILURE() << "was written";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.what(), path + ": cannot be written: No such file or directory");
  }
}

}  // namespace
}  // namespace amsp
