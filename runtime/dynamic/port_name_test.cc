// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a port's name survives the way to another process, and a damaged one is refused.
// Method: one name to and fro; every letter of it changed, every beginning of it.
#include "runtime/dynamic/port_name.h"

#include <gtest/gtest.h>

namespace lamina::dynamic {
namespace {

PortName Example() {
  return {
      {0x0123456789abcdefu, 0xfedcba9876543210u}, 0xdeadbeef, {"127.0.0.1:40123", "10.0.0.7:1"}};
}

TEST(PortNameTest, ToAndFro) {
  const std::string text = Write(Example());
  EXPECT_EQ(
      text,
      "lamina1-0123456789abcdeffedcba9876543210-deadbeef-5a1fb7dc@127.0.0.1:40123,10.0.0.7:1");
  const Result<PortName> read = ReadPortName(text);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->secret, Example().secret);
  EXPECT_EQ(read->loopback, Example().loopback);
  EXPECT_EQ(read->addresses, Example().addresses);
}

TEST(PortNameTest, DamageIsFound) {
  const std::string text = Write(Example());
  for (std::size_t at = 0; at < text.size(); ++at) {
    EXPECT_FALSE(ReadPortName(text.substr(0, at)).ok()) << at;
    std::string damaged = text;
    damaged[at] = damaged[at] == '1' ? '2' : '1';
    EXPECT_FALSE(ReadPortName(damaged).ok()) << at;
  }
}

// D10: a name has to fit into MPI_MAX_PORT_NAME, however many addresses the machine has.
TEST(PortNameTest, ItIsNeverTooLong) {
  PortName name = Example();
  for (int i = 0; i < 100; ++i) name.addresses.push_back("[2001:0db8:0000:0000::0001]:40123");
  const std::string text = Write(name);
  EXPECT_LT(text.size(), 420u);
  EXPECT_TRUE(ReadPortName(text).ok());
}

}  // namespace
}  // namespace lamina::dynamic
