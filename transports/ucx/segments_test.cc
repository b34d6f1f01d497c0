// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ucx/segments.h"

#include <gtest/gtest.h>

#include "transports/ucx/tuning.h"

namespace lamina::ucx {
namespace {

TEST(ReceiveBytes, AreMuchInASmallJob) {
  const Params params;
  EXPECT_EQ(ReceiveBytes(params, 2, 1, "cubic"), params.tcp_receive_bytes);
  EXPECT_EQ(ReceiveBytes(params, 0, 0, ""), params.tcp_receive_bytes);
}

TEST(ReceiveBytes, OfAllPeersAreBounded) {
  const Params params;
  EXPECT_EQ(ReceiveBytes(params, 128, 1, "reno"), kReceiveBytesOfAll / 128);
}

TEST(ReceiveBytes, HoldASegment) {
  Params params;
  EXPECT_EQ(ReceiveBytes(params, 100000, 1, "cubic"), params.tcp_segment_bytes);
  params.tcp_segment_bytes = 1u << 20;
  EXPECT_EQ(ReceiveBytes(params, 2, 1, "cubic"), params.tcp_segment_bytes);
}

TEST(ReceiveBytes, AreASegmentWithBbr) {
  const Params params;
  EXPECT_EQ(ReceiveBytes(params, 2, 1, "bbr"), params.tcp_segment_bytes);
  EXPECT_EQ(ReceiveBytes(params, 2, 1, "bbr2"), params.tcp_segment_bytes);
}

TEST(ReceiveBytes, AreMuchWithBbrOnOneNode) {
  const Params params;
  EXPECT_EQ(ReceiveBytes(params, 4, 4, "bbr"), params.tcp_receive_bytes);
}

TEST(CongestionControl, IsOneWord) {
  const std::string name = CongestionControl();
  EXPECT_FALSE(name.empty());
  EXPECT_EQ(name.find_first_of(" \n"), std::string::npos);
}

}  // namespace
}  // namespace lamina::ucx
