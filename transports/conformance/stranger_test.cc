// SPDX-License-Identifier: BSD-3-Clause
// Goal:   UCX delivers no frame of a process that has not read the receiver's card.
// Method: two transports in this process; one reaches the other with an address whose secret is
//         wrong, then with the right one.
#include <gtest/gtest.h>

#include <algorithm>

#include "transports/conformance/node.h"
#include "transports/ucx/address.h"

namespace lamina::conformance {
namespace {

constexpr std::uint32_t kWrong = 1, kRight = 2;

TEST(Stranger, IsNotHeard) {
  const std::vector<Configuration> all = AllConfigurations();
  const auto tcp = std::find_if(all.begin(), all.end(),
                                [](const Configuration& it) { return it.name == "ucx_tcp"; });
  ASSERT_NE(tcp, all.end());
  Node sender(*tcp, 0, 3), receiver(*tcp, 1, 3);
  ASSERT_TRUE(sender.ok() && receiver.ok());
  const std::vector<std::byte> right = receiver.Address();
  auto wrong = ucx::DecodeAddress(right);
  ASSERT_TRUE(wrong.ok()) << wrong.status().message();
  wrong->secret ^= 1;
  ASSERT_TRUE(sender.Connect(kWrong, ucx::Encode(*wrong)).ok());
  ASSERT_TRUE(sender.Connect(kRight, right).ok());
  const auto progress = [&] { receiver.transport().Progress(16); };
  const auto drained = [&] {
    progress();
    return sender.transport().Drained();
  };
  testing::internal::CaptureStderr();
  ASSERT_EQ(sender.Send(kWrong, 100, progress), Code::kOk);
  ASSERT_TRUE(sender.PollUntil(drained));
  ASSERT_EQ(sender.Send(kRight, 10, progress), Code::kOk);
  ASSERT_TRUE(sender.PollUntil(drained));
  EXPECT_TRUE(receiver.PollUntil([&] { return receiver.inbox().arrived[PeerId{0}] == 1; }));
  sender.End();
  receiver.End();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("not in this job"), std::string::npos) << said;
}

}  // namespace
}  // namespace lamina::conformance
