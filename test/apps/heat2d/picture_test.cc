// SPDX-License-Identifier: BSD-3-Clause
// Goal:   what is written reads back the same; damaged files are refused with a reason.
// Method: files made on the spot, every kind of PGM and PPM, every prefix of a good file.
#include "picture.h"

#include <gtest/gtest.h>

#include <fstream>

namespace heat2d {
namespace {

std::string Put(const std::string& bytes) {
  const std::string path = testing::TempDir() + "/picture";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

TEST(Picture, EveryKindIsRead) {
  const std::string raw = std::string("\x00\xff", 2);
  const std::string files[] = {
      "P2\n# a comment\n2 1\n255\n0 255\n",
      "P5 2 1 255 " + raw,
      "P3 2 1 15\n0 0 0 15 15 15",
      "P6 2 1 255\n" + std::string("\x00\x00\x00\xff\xff\xff", 6),
      "P5 2 1 65535\n" + std::string("\x00\x00\xff\xff", 4),
  };
  for (const std::string& bytes : files) {
    Picture picture;
    std::string problem;
    ASSERT_TRUE(ReadPicture(Put(bytes), &picture, &problem)) << problem;
    EXPECT_EQ(picture.width, 2u);
    EXPECT_EQ(picture.height, 1u);
    EXPECT_NEAR(picture.values.at(0), 0, 1e-9);
    EXPECT_NEAR(picture.values.at(1), 255, 1e-9);
  }
}

TEST(Picture, EveryTruncationIsRefused) {
  const std::string whole = "P5 3 2 255\n" + std::string("\x01\x02\x03\x04\x05\x06", 6);
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    Picture picture;
    std::string problem;
    EXPECT_FALSE(ReadPicture(Put(whole.substr(0, bytes)), &picture, &problem)) << bytes;
    EXPECT_FALSE(problem.empty());
    EXPECT_EQ(picture.width, 0u) << "changed by a failed read";
  }
}

TEST(Picture, NonsenseIsRefused) {
  for (const char* bytes : {"GIF89a", "P4 1 1 1", "P5 0 1 255 ", "P5 -1 1 255 x", "P2 1 1 0 0",
                            "P2 1 1 65536 0", "P5 99999999 99999999 255 x", "P2 1 1 255 x"}) {
    Picture picture;
    std::string problem;
    EXPECT_FALSE(ReadPicture(Put(bytes), &picture, &problem)) << bytes;
  }
}

TEST(Picture, GreyComesBack) {
  Picture picture{3, 1, {0, 127, 255}}, again;
  std::string problem;
  const std::string path = Put("");
  ASSERT_TRUE(WriteGrey(path, picture, &problem)) << problem;
  ASSERT_TRUE(ReadPicture(path, &again, &problem)) << problem;
  EXPECT_EQ(again.values, picture.values);
}

}  // namespace
}  // namespace heat2d
