// SPDX-License-Identifier: BSD-3-Clause
// Goal:   only who knows the secret makes an answer or a frame that is taken, and each of them
// once. Method: golden bytes; every byte changed and every length cut.
#include "runtime/dynamic/frame.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/base/text.h"

namespace lamina::dynamic {
namespace {

constexpr Key kSecret = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
const std::string kHost = std::string(kMark) + "the host's nonce";
const std::string kGuest = std::string(kMark) + "the guest nonce.";

std::vector<std::byte> Bytes(std::string_view text) {
  const auto* at = reinterpret_cast<const std::byte*>(text.data());
  return {at, at + text.size()};
}

TEST(FrameTest, GoldenBytes) {
  const std::string answer = AnswerTo(kHost, kSecret, kGuest);
  EXPECT_EQ(answer.substr(0, kGreetingBytes), kGuest);
  EXPECT_EQ(HexOf(answer.substr(kGreetingBytes)), "2db133a36b3ccef1");
  const FrameSeal seal{KeyOfBoth(kHost, answer, kSecret), true, 1};
  EXPECT_EQ(HexOf(SealedFrame(seal, Bytes("ab"))), "02000000645f1077e754f9dc6162");
}

TEST(FrameTest, GreetingsDiffer) {
  const std::string greeting = NewGreeting();
  EXPECT_TRUE(IsGreeting(greeting));
  EXPECT_NE(greeting, NewGreeting());
}

TEST(FrameTest, AnswersProveTheSecret) {
  const std::string answer = AnswerTo(kHost, kSecret, kGuest);
  EXPECT_TRUE(IsAnswer(answer, kHost, kSecret));
  EXPECT_FALSE(IsAnswer(answer, kGuest, kSecret));
  EXPECT_FALSE(IsAnswer(answer, kHost, {1, 2}));
  for (std::size_t i = 0; i < answer.size(); ++i) {
    std::string changed = answer;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(IsAnswer(changed, kHost, kSecret)) << i;
    EXPECT_FALSE(IsAnswer(answer.substr(0, i), kHost, kSecret)) << i;
  }
}

TEST(FrameTest, FramesComeBackFromTheirSenderAlone) {
  const FrameSeal seal{KeyOfBoth(kHost, kGuest, kSecret), true, 0};
  for (const char* payload : {"", "x", "a longer payload of some bytes"}) {
    const std::string frame = SealedFrame(seal, Bytes(payload));
    for (std::size_t i = 0; i < frame.size(); ++i)
      EXPECT_GT(*BytesToCome(std::string_view(frame).substr(0, i)), 0u) << i;
    ASSERT_EQ(*BytesToCome(frame), 0u);
    EXPECT_EQ(*Unsealed(seal, frame), Bytes(payload));
    EXPECT_FALSE(Unsealed({seal.key, false, 0}, frame).ok());
    EXPECT_FALSE(Unsealed({seal.key, true, 1}, frame).ok());
    EXPECT_FALSE(Unsealed({kSecret, true, 0}, frame).ok());
    for (std::size_t i = sizeof(std::uint32_t); i < frame.size(); ++i) {
      std::string changed = frame;
      changed[i] = static_cast<char>(changed[i] ^ 1);
      EXPECT_FALSE(Unsealed(seal, changed).ok()) << i;
    }
  }
}

TEST(FrameTest, NobodyMakesUsWaitForGigabytes) {
  EXPECT_EQ(BytesToCome("\xff\xff\xff\xff         ").status().code(), Code::kInvalid);
}

}  // namespace
}  // namespace lamina::dynamic
