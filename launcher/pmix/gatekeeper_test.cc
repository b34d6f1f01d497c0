// SPDX-License-Identifier: BSD-3-Clause
// Goal:   only a whole greeting that names the job is welcome; half of one is waited for. What
//         strangers say at libpmix's own port is never read there.
// Method: greetings made by hand, every prefix of one, and things that strangers say; a server that
//         accepts as libpmix does.
#include "launcher/pmix/gatekeeper.h"

#include <event2/event.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

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

TEST(PmixAcceptTest, WhatAStrangerSaysIsNeverRead) {
  event_base* loop = event_base_new();
  Result<std::unique_ptr<Gatekeeper>> gatekeeper = Gatekeeper::Open(loop, kName, 1, [] {});
  ASSERT_TRUE(gatekeeper.ok());
  const int server = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof address;
  ASSERT_EQ(bind(server, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(getsockname(server, reinterpret_cast<sockaddr*>(&address), &bytes), 0);
  ASSERT_EQ(listen(server, 1), 0);
  (*gatekeeper)->LeadTo(ntohs(address.sin_port));

  const int stranger = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(connect(stranger, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const std::string words = GreetingOf("native" + std::string(100, 'x'));
  ASSERT_EQ(send(stranger, words.data(), words.size(), 0), static_cast<ssize_t>(words.size()));

  const int accepted = PmixAccept(server, nullptr, nullptr);
  ASSERT_GE(accepted, 0);
  char byte;
  EXPECT_EQ(recv(accepted, &byte, 1, 0), 0);
  EXPECT_LE(recv(stranger, &byte, 1, 0), 0);  // and he is told that nobody is there
  for (const int fd : {accepted, stranger, server}) close(fd);
  gatekeeper->reset();
  event_base_free(loop);
}

}  // namespace
}  // namespace lamina::launcher::pmix
