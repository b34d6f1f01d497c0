// SPDX-License-Identifier: BSD-3-Clause
// Goal:   ranks find the roster of their own job and no other, inherited or by its maker's process;
//         the layout stays as it is.
// Method: rosters, and descriptors that are none, of this process.
#include "runtime/base/roster.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <vector>

namespace lamina {
namespace {

const std::vector<std::uint32_t> kApps = {0, 0, 3};

std::string Value(int fd) {
  return RosterAssignment(fd).substr(sizeof kRosterVariable);  // the name and "="
}

void Unmap(Roster* roster) { munmap(roster, Roster::Bytes(roster->ranks)); }

TEST(Roster, LayoutIsPinned) {
  EXPECT_EQ(offsetof(Roster, ranks), 4u);
  EXPECT_EQ(offsetof(Roster, universe_ranks), 8u);
  EXPECT_EQ(offsetof(Roster, pid_namespace), 12u);
  EXPECT_EQ(offsetof(Roster, job), 16u);
  EXPECT_EQ(offsetof(Roster, node), 272u);
  EXPECT_EQ(offsetof(RosterEntry, programs), 4u);
  EXPECT_EQ(offsetof(RosterEntry, app), 8u);
  EXPECT_EQ(offsetof(RosterEntry, card_bytes), 12u);
  EXPECT_EQ(offsetof(RosterEntry, process), 16u);
  EXPECT_EQ(offsetof(RosterEntry, card), 32u);
  EXPECT_EQ(Roster::Bytes(2), 4096u + 2 * 16384u);
}

TEST(Roster, IsInherited) {
  Result<int> fd = MakeRoster("job-1", "node07", 8, kApps);
  ASSERT_TRUE(fd.ok());
  Result<Roster*> roster = OpenRoster(Value(*fd), "job-1");
  ASSERT_TRUE(roster.ok()) << roster.status().message();
  EXPECT_EQ((*roster)->ranks, 3u);
  EXPECT_EQ((*roster)->universe_ranks, 8u);
  EXPECT_EQ((*roster)->pid_namespace, OwnPidNamespace());
  EXPECT_STREQ((*roster)->job, "job-1");
  EXPECT_STREQ((*roster)->node, "node07");
  EXPECT_EQ((*roster)->entries()[0].app, 0u);
  EXPECT_EQ((*roster)->entries()[2].app, 3u);
  EXPECT_EQ((*roster)->entries()[2].published, 0u);
  EXPECT_EQ(fcntl(*fd, F_GETFD), -1) << "the descriptor is no longer needed";
  Unmap(*roster);
}

TEST(Roster, IsFetchedFromItsMakerByWhoHasNotInheritedIt) {
  Result<int> fd = MakeRoster("job-2", "node07", 3, kApps);
  ASSERT_TRUE(fd.ok());
  // This process has another file under that number, as a rank behind a wrapper may.
  const int number = dup(*fd);
  const int other = open("/dev/null", O_RDONLY);
  const std::string maker = std::to_string(getpid());
  ASSERT_EQ(dup2(other, *fd), *fd);
  EXPECT_EQ(OpenRoster(Value(*fd), "job-2").status().code(), Code::kNotFound);
  EXPECT_NE(fcntl(*fd, F_GETFD), -1) << "somebody else's descriptor was closed";
  const pid_t child = fork();
  if (child == 0) {
    const std::string value = maker + ":" + std::to_string(number);
    const bool closed = close(number) == 0;
    _exit(closed && OpenRoster(value, "job-2").ok() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  for (const int used : {number, other, *fd}) close(used);
}

TEST(Roster, OfAnotherJobIsNone) {
  Result<int> fd = MakeRoster("job-3", "node07", 3, kApps);
  ASSERT_TRUE(fd.ok());
  const Status status = OpenRoster(Value(*fd), "job-4").status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_NE(status.message().find("not the roster of this job"), std::string::npos)
      << status.message();
  close(*fd);
}

TEST(Roster, CutShortIsNone) {
  Result<int> fd = MakeRoster("job-5", "node07", 3, kApps);
  ASSERT_TRUE(fd.ok());
  ASSERT_EQ(ftruncate(*fd, 4096), 0);
  EXPECT_EQ(OpenRoster(Value(*fd), "job-5").status().code(), Code::kNotFound);
  close(*fd);
}

TEST(Roster, WordsThatAreNoPlace) {
  for (const char* place : {"", "7", "x:y", "1:", ":3", "0:3", "1:-3", "99999999999999999999:1"})
    EXPECT_EQ(OpenRoster(place, "job").status().code(), Code::kInvalid) << place;
  EXPECT_EQ(OpenRoster("999999999:987654", "job").status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace lamina
