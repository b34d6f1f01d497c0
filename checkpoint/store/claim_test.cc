// SPDX-License-Identifier: BSD-3-Clause
// Goal:   one job at a time has a directory, from the moment that the one before is gone, in
//         whatever way; where there can be no lock nobody is hindered.
// Method: claims of this process and of others, which are killed or leave a descriptor behind.
#include "checkpoint/store/claim.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "runtime/base/text.h"

namespace lamina::checkpoint {
namespace {

namespace fs = std::filesystem;

class ClaimTest : public testing::Test {
 protected:
  ClaimTest() {
    std::string name = std::string(testing::TempDir()) + "/claim.XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~ClaimTest() override { fs::remove_all(path_); }

  std::string Lock() const { return path_ + "/lock"; }
  std::string Text() const {
    std::ifstream file(Lock());
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // Returns what another job is told that wants the directory and does not wait.
  std::string Refusal() const {
    Claim other;
    const Status status = other.Take(path_, 0);
    EXPECT_TRUE(status.ok() || status.code() == Code::kExists);
    return std::string(status.message());
  }

  // Starts a process that has the claim when this returns, and holds it until it is killed.
  pid_t Holder() const {
    int ready[2];
    EXPECT_EQ(pipe2(ready, O_CLOEXEC), 0);
    const pid_t child = fork();
    if (child == 0) {
      Claim claim;
      const char answer = claim.Take(path_, 0).ok() ? 'y' : 'n';
      if (write(ready[1], &answer, 1) == 1) pause();
      _exit(1);
    }
    close(ready[1]);
    char answer = 'n';
    EXPECT_EQ(read(ready[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    close(ready[0]);
    return child;
  }

  std::string path_;
};

TEST_F(ClaimTest, OneJobAtATime) {
  char host[256] = {};
  ASSERT_EQ(gethostname(host, sizeof host - 1), 0);
  Claim claim;
  ASSERT_TRUE(claim.Take(path_).ok());
  ASSERT_TRUE(claim.Take(path_).ok());
  EXPECT_EQ(Refusal(),
            Format("another job saves its states in %s (mpiexec %d on %s); wait until it "
                   "ends, end it, or give another --checkpoint-dir",
                   path_.c_str(), getpid(), host));
  claim.Release();
  EXPECT_EQ(Text(), "");
  EXPECT_EQ(Refusal(), "");
}

TEST_F(ClaimTest, AKilledHolderIsNone) {
  const pid_t holder = Holder();
  EXPECT_NE(Refusal(), "");
  std::thread killer([holder] { kill(holder, SIGKILL); });
  Claim claim;
  EXPECT_TRUE(claim.Take(path_).ok());  // before the holder is reaped
  killer.join();
  EXPECT_EQ(waitpid(holder, nullptr, 0), holder);
}

// What is in the file was written by one who died, or by nobody who knows how.
TEST_F(ClaimTest, OnlyAHolderIsNamed) {
  const pid_t gone = Holder();
  kill(gone, SIGKILL);
  waitpid(gone, nullptr, 0);
  const std::string text = Text();
  EXPECT_EQ(text.substr(0, text.find(' ')), std::to_string(gone));
  Claim claim;
  ASSERT_TRUE(claim.Take(path_).ok());
  for (const std::string& there :
       {text, std::string("7"), std::string("7 "), std::string("x node7\n"), std::string("\n"),
        std::string("0 node7\n"), std::string("99999999999 node7\n"), std::string(5000, '1')}) {
    std::ofstream(Lock()) << there;
    EXPECT_EQ(Refusal().find('('), std::string::npos) << there;
  }
  std::ofstream(Lock()) << "7 elsewhere\n";
  EXPECT_NE(Refusal().find(" (mpiexec 7 on elsewhere); "), std::string::npos);
}

TEST_F(ClaimTest, TheNextProgramTakesItOver) {
  Claim before;
  ASSERT_TRUE(before.Take(path_).ok());
  const int passed = dup(before.PassOn());
  before.Release();
  EXPECT_NE(Refusal(), "");
  Claim wrong;
  wrong.TakeOver(STDIN_FILENO, path_);
  wrong.TakeOver(-1, path_);
  wrong.TakeOver(passed, path_ + "/none");
  EXPECT_EQ(wrong.PassOn(), -1);
  Claim after;
  after.TakeOver(passed, path_);
  EXPECT_EQ(fcntl(passed, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  EXPECT_TRUE(after.Take(path_).ok());
  EXPECT_NE(Refusal(), "");
  after.Release();
  EXPECT_EQ(Refusal(), "");
}

TEST_F(ClaimTest, WhereThereCanBeNoLock) {
  Claim claim;
  EXPECT_TRUE(claim.Take(path_ + "/none").ok());
  EXPECT_TRUE(claim.Take(path_, 0, Claim::Lock::kFound).ok());
  EXPECT_NE(access(Lock().c_str(), F_OK), 0);
  EXPECT_TRUE(claim.Take("").ok());
  ASSERT_EQ(symlink("/etc/passwd", Lock().c_str()), 0);
  EXPECT_TRUE(claim.Take(path_).ok());
  EXPECT_EQ(claim.PassOn(), -1);
  unlink(Lock().c_str());
  // The super-user may write anything, so another user looks.
  const pid_t child = fork();
  if (child == 0) {
    if (chdir(path_.c_str()) != 0) _exit(2);
    if (geteuid() == 0 && (chown(".", 64321, 64321) != 0 || setresgid(64321, 64321, 64321) != 0 ||
                           setresuid(64321, 64321, 64321) != 0))
      _exit(3);
    const bool claimed = chmod(".", 0500) == 0 && claim.Take(".").ok();
    _exit(claimed && claim.PassOn() == -1 && access("lock", F_OK) != 0 ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace lamina::checkpoint
