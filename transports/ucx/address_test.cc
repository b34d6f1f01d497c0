// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the address on the card keeps its byte layout, and UCX never sees a damaged one.
// Method: golden bytes; every cut and every single changed bit must be refused.
#include "transports/ucx/address.h"

#include <gtest/gtest.h>

namespace lamina::ucx {
namespace {

Address Sample() {
  return {"node07", {std::byte{1}, std::byte{2}, std::byte{0xff}}, 0x1122334455667788};
}

TEST(UcxAddress, BytesAreAsTheReadmeSays) {
  const std::vector<std::byte> bytes = Encode(Sample());
  std::string text;
  for (const std::byte byte : bytes) {
    text += "0123456789abcdef"[std::to_integer<unsigned>(byte) >> 4];
    text += "0123456789abcdef"[std::to_integer<unsigned>(byte) & 15];
  }
  EXPECT_EQ(text,
            "4c554358"
            "02"
            "06"
            "0300"
            "8877665544332211"
            "6e6f64653037"
            "0102ff"
            "59eed6793022556f");
}

TEST(UcxAddress, ComesBackAsItWas) {
  auto decoded = DecodeAddress(Encode(Sample()));
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(decoded->node, Sample().node);
  EXPECT_EQ(decoded->worker, Sample().worker);
  EXPECT_EQ(decoded->secret, Sample().secret);
}

TEST(UcxAddress, EveryCutIsRefused) {
  const std::vector<std::byte> bytes = Encode(Sample());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_EQ(DecodeAddress(std::span(bytes).first(length)).status().code(), Code::kInvalid);
}

TEST(UcxAddress, EveryChangedBitIsRefused) {
  const std::vector<std::byte> good = Encode(Sample());
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::vector<std::byte> bad = good;
    bad[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_EQ(DecodeAddress(bad).status().code(), Code::kInvalid) << "bit " << bit;
  }
}

}  // namespace
}  // namespace lamina::ucx
