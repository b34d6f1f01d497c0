// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a name is found until it is taken back or its owner's connection ends.
// Method: the other ends of socket pairs are the owners.
#include "launcher/supervise/name_board.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "runtime/base/descriptor.h"
#include "runtime/base/name_file.h"

namespace lamina::launcher {
namespace {

class NameBoardTest : public testing::Test {
 protected:
  std::optional<std::string> Ask(const std::string& question) {
    return board_.Answer(question, [this] {
      int ends[2];
      EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
      owner_ = Descriptor(ends[1]);
      return Descriptor(ends[0]);
    });
  }
  std::string Told() {
    char text[64];
    const ssize_t bytes = recv(owner_.value(), text, sizeof text, MSG_DONTWAIT);
    return {text, bytes > 0 ? static_cast<std::size_t>(bytes) : 0};
  }

  NameBoard board_{std::nullopt};
  Descriptor owner_;
};

TEST_F(NameBoardTest, FoundUntilItIsTakenBack) {
  EXPECT_EQ(Ask("lookup 6161"), "none\nend\n");
  EXPECT_EQ(Ask("publish 6161 6262"), "");
  EXPECT_EQ(Told(), "done\nend\n");
  EXPECT_EQ(Ask("publish 6161 6363"), "exists\nend\n");
  EXPECT_EQ(Ask("lookup 6161"), "name 6262\nend\n");
  EXPECT_EQ(Ask("unpublish 6162"), "none\nend\n");
  EXPECT_EQ(Ask("unpublish 6161"), "done\nend\n");
  EXPECT_EQ(Ask("lookup 6161"), "none\nend\n");
}

TEST_F(NameBoardTest, ANameOfTheRunIsForTheRun) {
  EXPECT_EQ(Ask("publish 6161 6262 run"), "");
  EXPECT_EQ(Told(), "done\nend\n");
  EXPECT_EQ(Ask("lookup 6161"), "none\nend\n");
  EXPECT_EQ(board_.Find("6161"), "6262");
  EXPECT_EQ(Ask("publish 6161 6363"), "exists\nend\n");
  EXPECT_EQ(Ask("unpublish 6161"), "done\nend\n");
}

TEST_F(NameBoardTest, EndsWithItsOwner) {
  EXPECT_EQ(Ask("publish 6161 6262"), "");
  EXPECT_EQ(board_.Find("6161"), "6262");
  owner_ = Descriptor();
  EXPECT_EQ(Ask("lookup 6161"), "none\nend\n");
  EXPECT_EQ(Ask("publish 6161 6363"), "");
  EXPECT_EQ(board_.Find("6161"), "6363");
}

TEST_F(NameBoardTest, NamesInAFileEndWithTheirOwnersToo) {
  const NameFile file(testing::TempDir() + "/names");
  NameBoard board(file);
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  EXPECT_EQ(board.Answer("publish 6161 6262", [&] { return Descriptor(ends[0]); }), "");
  EXPECT_EQ(file.Find("6161"), "6262");
  pollfd gone{board.fd(), POLLIN, 0};
  EXPECT_EQ(poll(&gone, 1, 0), 0);
  close(ends[1]);
  EXPECT_EQ(poll(&gone, 1, 1000), 1);
  board.ForgetTheDead();
  EXPECT_EQ(file.Find("6161"), "");
  EXPECT_EQ(poll(&gone, 1, 0), 0);
}

TEST_F(NameBoardTest, AFileThatCannotBeWrittenIsTold) {
  NameBoard board(NameFile("/nonexistent/names"));
  const auto answer = board.Answer("publish 6161 6262", [] { return Descriptor(); });
  EXPECT_TRUE(answer && answer->starts_with("refused cannot open the file of names")) << *answer;
}

TEST_F(NameBoardTest, OtherQuestionsGetNoAnswer) {
  for (const char* question :
       {"", "job", "lookup", "publish 61", "publish 61 62 all", "unpublish", "lookup 61 62"})
    EXPECT_EQ(Ask(question), std::nullopt) << question;
}

}  // namespace
}  // namespace lamina::launcher
