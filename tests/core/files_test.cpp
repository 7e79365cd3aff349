#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/json/json.h"
#include "core/writable.h"
#include "tests/core/message_of.h"

namespace amsp {
namespace {

namespace fs = std::filesystem;

/// Each test has an empty folder of its own.
class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::path(testing::TempDir()) / "amsp-files-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      result.push_back(entry.path().lexically_relative(folder_).string());
    return result;
  }

  fs::path folder_;
};

TEST_F(Files, ContentComesBackByteForByte) {
  std::string content(200'000, 'x');
  for (int byte = 0; byte < 256; ++byte) content[std::size_t(byte) * 700] = char(byte);
  write_file(path("a.bin"), content);
  EXPECT_EQ(read_file(path("a.bin")), content);
  write_file(path("empty"), "");
  EXPECT_EQ(read_file(path("empty")), "");
}

TEST_F(Files, WritingReplacesAndLeavesNothingElse) {
  write_file(path("a.txt"), "a long first version");
  write_file(path("a.txt"), "second");
  EXPECT_EQ(read_file(path("a.txt")), "second");
  EXPECT_THAT(names(), testing::ElementsAre("a.txt"));
}

TEST_F(Files, AReaderOfTheOldFileKeepsIt) {
  write_file(path("a.txt"), "old");
  std::ifstream reader(path("a.txt"));
  write_file(path("a.txt"), "new");
  std::string word;
  reader >> word;
  EXPECT_EQ(word, "old");
}

TEST_F(Files, WritingThroughASymbolicLinkKeepsTheLink) {
  write_file(path("target"), "old");
  fs::create_symlink("target", path("link"));
  write_file(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("target")), "new");
  EXPECT_THAT(names(), testing::UnorderedElementsAre("target", "link"));
}

TEST_F(Files, FailedWriteLeavesNothingBehind) {
  fs::create_directory(path("folder"));
  write_file(path("file"), "kept");
  const std::string missing = path("no/such/out.json");
  const std::string below_file = path("file/out.json");

  EXPECT_EQ(message_of([&] { write_file(path("folder"), "x"); }),
            path("folder") + ": cannot be written: Is a directory");
  EXPECT_EQ(message_of([&] { write_file(path("new/"), "x"); }),
            path("new/") + ": cannot be written: No such file or directory");
  EXPECT_EQ(message_of([&] { write_file(missing, "x"); }),
            missing + ": cannot be written: No such file or directory");
  EXPECT_EQ(message_of([&] { write_file(below_file, "x"); }),
            below_file + ": cannot be written: Not a directory");

  EXPECT_THAT(names(), testing::UnorderedElementsAre("folder", "file"));
  EXPECT_EQ(read_file(path("file")), "kept");
}

TEST_F(Files, CheckingWhetherAFileCanBeWrittenSaysTheSameAndChangesNothing) {
  fs::create_directory(path("folder"));
  write_file(path("file"), "kept");
  for (const std::string& bad :
       {path("folder"), path("new/"), path("no/such/out.json"), path("file/out.json"),
        path(std::string(255, 'n')), std::string()}) {
    const std::string message = message_of([&] { write_file(bad, "x"); });
    EXPECT_NE(message, "");
    EXPECT_EQ(message_of([&] { check_writable(bad); }), message);
  }
  check_writable(path("file"));
  check_writable(path("new"));
  check_writable("/dev/null");
  EXPECT_THAT(names(), testing::UnorderedElementsAre("folder", "file"));
  EXPECT_EQ(read_file(path("file")), "kept");
}

TEST_F(Files, NameWithoutRoomForTheTemporaryOneIsRefused) {
  const std::string longest = path(std::string(255, 'n'));
  EXPECT_EQ(message_of([&] { write_file(longest, "x"); }),
            longest + ": cannot be written: File name too long");
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_F(Files, FailedRenameRemovesTheTemporaryFile) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  EXPECT_EQ(message_of([] { write_file("", "x"); }),
            ": cannot be written: No such file or directory");
  fs::current_path(before);
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_F(Files, FailureInTheMiddleRemovesTheTemporaryFile) {
  write_file(path("a.txt"), "kept");
  // a limit on the size of files stands for a full disk
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small{10'000, limit.rlim_max};
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string message =
      message_of([&] { write_file(path("a.txt"), std::string(20'000, 'x')); });
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::signal(SIGXFSZ, old_handler);

  EXPECT_EQ(message, path("a.txt") + ": cannot be written: File too large");
  EXPECT_EQ(read_file(path("a.txt")), "kept");
  EXPECT_THAT(names(), testing::ElementsAre("a.txt"));
}

TEST_F(Files, DevicesAreWrittenTo) {
  if (!fs::is_character_file("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  EXPECT_NO_THROW(write_file("/dev/null", "x"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(message_of([] { write_file("/dev/full", "x"); }),
            "/dev/full: cannot be written: No space left on device");
}

TEST_F(Files, ReadingSaysWhatIsWrong) {
  EXPECT_EQ(message_of([&] { read_file(path("none")); }),
            path("none") + ": cannot be read: No such file or directory");
  EXPECT_EQ(message_of([&] { read_file(folder_.string()); }),
            folder_.string() + ": cannot be read: Is a directory");
}

TEST_F(Files, JsonErrorsNameTheFile) {
  write_file(path("a.json"), "{\"a\": 1}");
  EXPECT_EQ(read_json_file(path("a.json")), Json({{"a", 1}}));
  write_file(path("b.json"), "{\n!");
  EXPECT_EQ(message_of([&] { read_json_file(path("b.json")); }),
            path("b.json") + ":2:1: expected a key in double quotes or '}', found '!'");
}

}  // namespace
}  // namespace amsp
