// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a name is found until its process takes it back or ends, and nobody else can take it
// back. Method: this process and a child of it publish.
#include "launcher/supervise/name_board.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace lamina::launcher {
namespace {

std::string With(const char* verb, pid_t process, const char* rest) {
  return std::string(verb) + " " + std::to_string(process) + " " + rest;
}

TEST(NameBoardTest, FoundUntilItIsTakenBack) {
  NameBoard board;
  EXPECT_EQ(board.Answer("lookup 6161"), "none\nend\n");
  EXPECT_EQ(board.Answer(With("publish", getpid(), "6161 6262")), "done\nend\n");
  EXPECT_EQ(board.Answer(With("publish", getpid(), "6161 6363")), "exists\nend\n");
  EXPECT_EQ(board.Answer("lookup 6161"), "name 6262\nend\n");
  EXPECT_EQ(board.Answer(With("unpublish", getppid(), "6161")), "none\nend\n");
  EXPECT_EQ(board.Answer(With("unpublish", getpid(), "6161")), "done\nend\n");
  EXPECT_EQ(board.Answer("lookup 6161"), "none\nend\n");
}

TEST(NameBoardTest, EndsWithItsProcess) {
  int lifeline[2];
  ASSERT_EQ(pipe(lifeline), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(lifeline[1]);
    char end;
    _exit(static_cast<int>(read(lifeline[0], &end, 1)));
  }
  NameBoard board;
  EXPECT_EQ(board.Answer(With("publish", child, "6161 6262")), "done\nend\n");
  EXPECT_EQ(board.Answer("lookup 6161"), "name 6262\nend\n");
  close(lifeline[1]);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(board.Answer("lookup 6161"), "none\nend\n");
  EXPECT_EQ(board.Answer(With("publish", getpid(), "6161 6363")), "done\nend\n");
  close(lifeline[0]);
}

TEST(NameBoardTest, OtherQuestionsGetNoAnswer) {
  NameBoard board;
  for (const char* question : {"", "job", "lookup", "publish", "publish x 61 62", "publish 0 61 62",
                               "publish 1 61", "unpublish 1", "lookup 61 62"})
    EXPECT_EQ(board.Answer(question), "") << question;
}

}  // namespace
}  // namespace lamina::launcher
