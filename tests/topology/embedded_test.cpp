#include "data/embedded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/json/json.h"

namespace amsp {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(AMSP_SOURCE_DIR) / "data";

TEST(Embedded, HasEveryJsonFileOfTheFolderByteForByte) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kFolder))
    if (entry.path().extension() == ".json")
      files.push_back(std::filesystem::relative(entry.path(), kFolder).generic_string());
  EXPECT_THAT(embedded_names(), testing::UnorderedElementsAreArray(files))
      << "data/CMakeLists.txt lists the files";
  for (const std::string& file : files)
    EXPECT_TRUE(embedded(file) == read_file((kFolder / file).string())) << file;
}

TEST(Embedded, NamesAreSortedAndFiltered) {
  const std::vector<std::string> all = embedded_names();
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  EXPECT_THAT(embedded_names("profiles/"), testing::Contains("profiles/a800-4xhdr.json"));
  EXPECT_THAT(embedded_names("profiles/"), testing::Not(testing::Contains("gpus.json")));
  EXPECT_TRUE(embedded_names("nothing").empty());
}

TEST(Embedded, UnknownNameIsABug) {
  EXPECT_THROW(embedded("nothing.json"), InternalError);
}

}  // namespace
}  // namespace amsp
