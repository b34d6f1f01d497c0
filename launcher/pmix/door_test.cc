// SPDX-License-Identifier: BSD-3-Clause
// Goal:   only a whole greeting that names the job is welcome; half of one is waited for.
// Method: greetings made by hand, every prefix of one, and things that strangers say.
#include "launcher/pmix/door.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace lamina::launcher::pmix {
namespace {

constexpr const char* kName = "00112233445566778899aabbccddeeff";

std::string GreetingOf(const std::string& body, std::uint64_t bytes) {
  std::string text(8, '\xff');
  text.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  return text + body;
}
std::string GreetingOf(const std::string& body) { return GreetingOf(body, body.size()); }

Greeting JudgeText(const std::string& text) { return Judge(text.data(), text.size(), kName); }

TEST(JudgeTest, WholeGreeting) {
  const std::string body = "native" + std::string(9, '\0') + kName + std::string(20, '\0');
  EXPECT_EQ(JudgeText(GreetingOf(body)), Greeting::kWelcome);
  EXPECT_EQ(JudgeText(GreetingOf(body) + "the next message"), Greeting::kWelcome);
}

TEST(JudgeTest, EveryPrefixIsWaitedFor) {
  const std::string whole = GreetingOf(std::string("native") + kName + "4.2.2");
  for (std::size_t count = 0; count < whole.size(); ++count)
    EXPECT_EQ(JudgeText(whole.substr(0, count)), Greeting::kIncomplete) << count;
}

TEST(JudgeTest, OtherJob) {
  EXPECT_EQ(JudgeText(GreetingOf("native and another name")), Greeting::kStranger);
  EXPECT_EQ(JudgeText(GreetingOf("")), Greeting::kStranger);
}

TEST(JudgeTest, NameBehindTheGreetingDoesNotCount) {
  EXPECT_EQ(JudgeText(GreetingOf("native") + kName), Greeting::kStranger);
}

TEST(JudgeTest, OtherProtocols) {
  EXPECT_EQ(JudgeText("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), Greeting::kStranger);
  EXPECT_EQ(JudgeText(GreetingOf(kName, ~std::uint64_t{0})), Greeting::kStranger);
  EXPECT_EQ(JudgeText(GreetingOf(kName, 1u << 20)), Greeting::kStranger);
}

}  // namespace
}  // namespace lamina::launcher::pmix
