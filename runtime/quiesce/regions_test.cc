// SPDX-License-Identifier: BSD-3-Clause
// Goal:   regions come back as they were saved, or nothing is changed and the reason is said.
// Method: files of this test, whole, of other regions, and cut at every byte.
#include "runtime/quiesce/regions.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/base/descriptor.h"

namespace lamina::quiesce {
namespace {

class RegionsTest : public testing::Test {
 protected:
  RegionsTest() {
    std::string name = testing::TempDir() + "/regions.XXXXXX";
    path_ = mkdtemp(name.data());
    folder_ = Descriptor(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  ~RegionsTest() override { std::filesystem::remove_all(path_); }

  std::string path_;
  Descriptor folder_;
  double numbers_[4] = {1, 2, 3, 4};
  int step_ = 7;
};

TEST_F(RegionsTest, ComeBackAsTheyWereSaved) {
  Regions regions;
  regions.Protect(5, numbers_, sizeof numbers_);
  regions.Protect(-1, &step_, sizeof step_);
  regions.Protect(6, &step_, sizeof step_);
  regions.Protect(6, nullptr, 0);
  ASSERT_TRUE(regions.Save(folder_.value()).ok());
  EXPECT_EQ(std::filesystem::file_size(path_ + "/regions"), 16u + 2 * 16u + 32u + 4u);
  numbers_[3] = step_ = 0;
  ASSERT_TRUE(regions.Restore(folder_.value()).ok());
  EXPECT_EQ(numbers_[3], 4);
  EXPECT_EQ(step_, 7);
  EXPECT_EQ(regions.Save(folder_.value()).code(), Code::kExists);
}

TEST_F(RegionsTest, OnesThatDoNotFitChangeNothing) {
  Regions saved;
  saved.Protect(1, &step_, sizeof step_);
  saved.Protect(2, numbers_, sizeof numbers_);
  ASSERT_TRUE(saved.Save(folder_.value()).ok());
  step_ = 8;
  Regions shorter;
  shorter.Protect(1, &step_, sizeof step_);
  shorter.Protect(2, numbers_, 8);
  EXPECT_EQ(shorter.Restore(folder_.value()).message(), "region 2 has 8 bytes, and 32 were saved");
  Regions more;
  more.Protect(1, &step_, sizeof step_);
  more.Protect(3, numbers_, 8);
  EXPECT_EQ(more.Restore(folder_.value()).message(), "region 3 was not saved");
  EXPECT_EQ(step_, 8);
}

TEST_F(RegionsTest, AFileThatIsCutAnywhereIsRefused) {
  Regions regions;
  regions.Protect(1, &step_, sizeof step_);
  regions.Protect(2, numbers_, sizeof numbers_);
  EXPECT_EQ(regions.Restore(folder_.value()).code(), Code::kNotFound);
  ASSERT_TRUE(regions.Save(folder_.value()).ok());
  step_ = 8;
  for (auto bytes = std::filesystem::file_size(path_ + "/regions"); bytes-- > 0;) {
    std::filesystem::resize_file(path_ + "/regions", bytes);
    EXPECT_EQ(regions.Restore(folder_.value()).code(), Code::kInvalid) << bytes;
    EXPECT_EQ(step_, 8);
  }
}

}  // namespace
}  // namespace lamina::quiesce
