// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a running launcher is found and answers its own user; strange questions and silent guests
//         do it no harm.
// Method: a QuestionSocket in this process whose loop runs in a thread, asked from outside; tables
// as the
//         kernel writes them, and damaged ones.
#include <event2/event.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "launcher/control/ask.h"
#include "launcher/control/question_socket.h"
#include "runtime/base/descriptor.h"

namespace lamina::launcher::control {
namespace {

class QuestionSocketTest : public testing::Test {
 protected:
  QuestionSocketTest() : loop_(event_base_new()) {
    socket_ = QuestionSocket::Open(
        loop_, [this](std::string_view question, const QuestionSocket::Reply& reply,
                      const QuestionSocket::Keep& keep) {
          if (question == "keep") taken_ = keep();
          if (question == "much") {
            answered_much_ = true;
            return reply(std::string(3'000'000, 'x'));
          }
          if (question == "later") return kept_.push_back(reply);
          reply(question == "nothing" ? std::string() : "heard " + std::string(question) + "\n");
          for (const QuestionSocket::Reply& later : std::exchange(kept_, {})) later("at last\n");
        });
  }
  ~QuestionSocketTest() override {
    socket_.reset();
    event_base_free(loop_);
  }
  // Asks from another thread while this one turns the loop.
  Result<std::string> AskIt(std::string_view question) {
    auto answer =
        std::async(std::launch::async, [this, question] { return Ask(self_, question, 10'000); });
    while (answer.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready)
      event_base_loop(loop_, EVLOOP_NONBLOCK);
    return answer.get();
  }

  const Launcher self_{geteuid(), getpid()};
  event_base* loop_;
  std::unique_ptr<QuestionSocket> socket_;
  std::vector<QuestionSocket::Reply> kept_;
  Descriptor taken_;
  bool answered_much_ = false;
};

TEST_F(QuestionSocketTest, IsFoundAndAnswers) {
  ASSERT_NE(socket_, nullptr);
  const std::vector<Launcher> found = Launchers();
  EXPECT_NE(std::find(found.begin(), found.end(), self_), found.end());
  Result<std::string> answer = AskIt("job");
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(*answer, "heard job\n");
}

TEST_F(QuestionSocketTest, LongAnswersArriveWhole) {
  Result<std::string> answer = AskIt("much");
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(answer->size(), 3'000'000u);
}

TEST_F(QuestionSocketTest, AnswersArriveWholeFromOneThatEnds) {
  auto answer = std::async(std::launch::async, [this] { return Ask(self_, "much", 10'000); });
  while (!answered_much_) event_base_loop(loop_, EVLOOP_ONCE);
  socket_.reset();
  const Result<std::string> heard = answer.get();
  ASSERT_TRUE(heard.ok()) << heard.status().message();
  EXPECT_EQ(heard->size(), 3'000'000u);
}

TEST_F(QuestionSocketTest, AnAnswerMayComeLater) {
  auto later = std::async(std::launch::async, [this] { return Ask(self_, "later", 10'000); });
  while (kept_.empty()) event_base_loop(loop_, EVLOOP_NONBLOCK);
  ASSERT_TRUE(AskIt("job").ok());
  while (later.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready)
    event_base_loop(loop_, EVLOOP_NONBLOCK);
  Result<std::string> answer = later.get();
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(*answer, "at last\n");
}

TEST_F(QuestionSocketTest, AConnectionMayBeKept) {
  auto kept = std::async(std::launch::async, [this] { return Ask(self_, "keep", 10'000); });
  while (taken_.value() < 0) event_base_loop(loop_, EVLOOP_NONBLOCK);
  ASSERT_TRUE(AskIt("job").ok());
  ASSERT_EQ(write(taken_.value(), "by hand\n", 8), 8);
  taken_ = Descriptor();
  Result<std::string> answer = kept.get();
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(*answer, "by hand\n");
}

TEST_F(QuestionSocketTest, StrangeQuestionsGetNoAnswer) {
  EXPECT_EQ(AskIt("nothing").status().code(), Code::kPeerLost);
  EXPECT_EQ(AskIt(std::string(kQuestionBytesMax + 1, 'q')).status().code(), Code::kPeerLost);
  EXPECT_TRUE(AskIt("job").ok());
}

// A stranger takes a name with the same process.
TEST_F(QuestionSocketTest, IsFoundBesideAStranger) {
  const Descriptor stranger(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const Address address = AddressOf(NameOf(geteuid() + 1, getpid()));
  ASSERT_EQ(bind(stranger.value(), reinterpret_cast<const sockaddr*>(&address.name), address.bytes),
            0);
  ASSERT_EQ(listen(stranger.value(), 1), 0);
  const Result<Launcher> found = FindLauncher(getpid());
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, (Launcher{geteuid(), getpid()}));
}

TEST_F(QuestionSocketTest, OneNameOneSocket) {
  event_base* other = event_base_new();
  EXPECT_EQ(QuestionSocket::Open(other, nullptr), nullptr);
  event_base_free(other);
}

TEST(AskTest, NobodyThere) {
  Result<std::string> answer = Ask({geteuid(), getpid()}, "job", 1000);
  EXPECT_EQ(answer.status().code(), Code::kPeerLost);
}

TEST(AskTest, ASocketThatIsNeverRead) {
  event_base* loop = event_base_new();  // never turned
  {
    const std::unique_ptr<QuestionSocket> asked = QuestionSocket::Open(loop, nullptr);
    EXPECT_EQ(Ask({geteuid(), getpid()}, "job", 20).status().code(), Code::kTimeout);
  }
  event_base_free(loop);
}

TEST(TableTest, ListenersOfOursAlone) {
  const std::string table =
      "Num       RefCount Protocol Flags    Type St Inode Path\n"
      "0000: 00000002 00000000 00010000 0001 01 100 @lamina.1000.4711\n"
      "0000: 00000003 00000000 00000000 0001 03 101 @lamina.1000.4711\n"  // an accepted one
      "0000: 00000002 00000000 00010000 0001 01 102 @lamina.0.12\n"
      "0000: 00000002 00000000 00010000 0001 01 103 /run/lamina.0.13\n"
      "0000: 00000002 00000000 00010000 0001 01 104 @lamina.x.14\n"
      "0000: 00000002 00000000 00010000 0001 01 105 @lamina.0.14.5\n"
      "0000: 00000002 00000000 00010000 0001 01 106 @lamina.-1.15\n"
      "0000: 00000002 00000000 00010000 0001 01 107 @other.0.16\n"
      "0000: 00000002 00000000 00010000 0001 01 108\n@";
  EXPECT_EQ(LaunchersIn(table), (std::vector<Launcher>{{0, 12}, {1000, 4711}}));
  EXPECT_TRUE(LaunchersIn("").empty());
}

TEST(TableTest, OneProcessInNamesOfTwoUsers) {
  EXPECT_EQ(LaunchersIn("0: 2 0 00010000 1 1 5 @lamina.9.17\n0: 2 0 00010000 1 1 5 @lamina.4.17\n"),
            (std::vector<Launcher>{{4, 17}, {9, 17}}));
}

TEST(TableTest, AnyPieceOfATableIsHarmless) {
  const std::string table = "0: 2 0 00010000 0001 01 100 @lamina.1000.4711\n";
  for (std::size_t bytes = 0; bytes + 5 < table.size(); ++bytes)
    EXPECT_TRUE(LaunchersIn(table.substr(0, bytes)).empty()) << bytes;
}

}  // namespace
}  // namespace lamina::launcher::control
