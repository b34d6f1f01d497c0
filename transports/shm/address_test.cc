// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the address on the card keeps its byte layout, and no damaged one is taken for good.
// Method: golden bytes; every cut, and every field out of range.
#include "transports/shm/address.h"

#include <gtest/gtest.h>

#include <functional>

namespace lamina::shm {
namespace {

Address Sample() {
  Address address;
  for (std::size_t i = 0; i < 16; ++i) address.boot_id[i] = static_cast<std::byte>(0xa0 + i);
  address.pid_namespace = 0xeffffffc;
  address.pid = 4711;
  address.descriptor = 9;
  address.uid = 1000;
  address.cells = 128;
  address.area_bytes = 32768;
  address.rings_max = 66;
  address.token = 0x1122334455667788;
  address.inode = 12;
  address.offset = 4096;
  address.probe_address = 0x7f0000001000;
  return address;
}

std::string Hex(const std::vector<std::byte>& bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    const auto value = std::to_integer<unsigned>(byte);
    text += "0123456789abcdef"[value >> 4];
    text += "0123456789abcdef"[value & 15];
  }
  return text;
}

TEST(ShmAddress, BytesAreAsTheReadmeSays) {
  EXPECT_EQ(Hex(Encode(Sample())),
            "4c53484d"
            "0200"
            "5800"
            "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"
            "fcffffef00000000"
            "67120000"
            "09000000"
            "e8030000"
            "80000000"
            "00800000"
            "42000000"
            "8877665544332211"
            "0c00000000000000"
            "0010000000000000"
            "00100000007f0000");
}

TEST(ShmAddress, ComesBackAsItWas) {
  auto decoded = DecodeAddress(Encode(Sample()));
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(*decoded, Sample());
}

TEST(ShmAddress, EveryCutAndExtensionIsRefused) {
  std::vector<std::byte> bytes = Encode(Sample());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_EQ(DecodeAddress(std::span(bytes).first(length)).status().code(), Code::kInvalid);
  bytes.push_back(std::byte{0});
  EXPECT_EQ(DecodeAddress(bytes).status().code(), Code::kInvalid);
}

TEST(ShmAddress, FieldsOutOfRangeAreRefused) {
  const std::function<void(Address&)> spoilers[] = {
      [](Address& it) { it.pid = 0; },
      [](Address& it) { it.pid = -4; },
      [](Address& it) { it.descriptor = -1; },
      [](Address& it) { it.cells = 0; },
      [](Address& it) { it.cells = 1; },
      [](Address& it) { it.cells = 96; },
      [](Address& it) { it.cells = 1u << 31; },
      [](Address& it) { it.area_bytes = 448; },
      [](Address& it) { it.area_bytes = 32769; },
      [](Address& it) { it.area_bytes = 1u << 31; },
      [](Address& it) { it.rings_max = 0; },
      [](Address& it) { it.rings_max = 1u << 31; },
  };
  for (const auto& spoil : spoilers) {
    Address address = Sample();
    spoil(address);
    EXPECT_EQ(DecodeAddress(Encode(address)).status().code(), Code::kInvalid);
  }
}

TEST(ShmAddress, ThisMachineHasAnIdentity) {
  Address a, b;
  ASSERT_TRUE(FillMachine(&a).ok());
  ASSERT_TRUE(FillMachine(&b).ok());
  EXPECT_EQ(a, b);
  EXPECT_NE(a.boot_id, Address().boot_id);
  EXPECT_NE(a.pid_namespace, 0u);
}

}  // namespace
}  // namespace lamina::shm
