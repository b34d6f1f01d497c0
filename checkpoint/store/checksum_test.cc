// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the checksum is CRC-32C, however it is computed and in whatever pieces.
// Method: the published values of RFC 3720 B.4; both ways against each other on random bytes, cut
//         anywhere.
#include "checkpoint/store/checksum.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/base/dice.h"

namespace lamina::checkpoint {
namespace {

TEST(Checksum, PublishedValues) {
  std::string counting;
  for (char byte = 0; byte < 32; ++byte) counting += byte;
  const struct {
    std::string bytes;
    std::uint32_t crc;
  } published[] = {{"", 0},
                   {"123456789", 0xe3069283},
                   {std::string(32, '\0'), 0x8a9136aa},
                   {std::string(32, '\xff'), 0x62a8ab43},
                   {counting, 0x46dd794e}};
  for (const auto& [bytes, crc] : published) {
    EXPECT_EQ(Checksum(bytes), crc);
    EXPECT_EQ(ChecksumByTable(bytes), crc);
  }
}

TEST(Checksum, AnyPiecesGiveTheSame) {
  std::mt19937 dice = Dice();
  for (int round = 0; round < 300; ++round) {
    std::string bytes(dice() % 200, '\0');
    for (char& byte : bytes) byte = static_cast<char>(dice());
    const std::size_t cut = dice() % (bytes.size() + 1);
    const std::string_view all = bytes;
    EXPECT_EQ(Checksum(all), ChecksumByTable(all));
    EXPECT_EQ(Checksum(all.substr(cut), Checksum(all.substr(0, cut))), Checksum(all));
    EXPECT_EQ(ChecksumByTable(all.substr(cut), Checksum(all.substr(0, cut))), Checksum(all));
  }
}

}  // namespace
}  // namespace lamina::checkpoint
