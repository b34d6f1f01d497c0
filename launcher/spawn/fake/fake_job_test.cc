// SPDX-License-Identifier: BSD-3-Clause
// Goal:   pretended ranks end as the script says, once each, and obey signals.
// Method: scripts whose times have passed or never come, so no clock matters.
#include "launcher/spawn/fake/fake_job.h"

#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <string>
#include <vector>

namespace lamina::launcher::fake {
namespace {

Script Parsed(const char* text) {
  Result<Script> script = Script::Parse(text);
  EXPECT_TRUE(script.ok()) << text;
  return script.ok() ? *script : Script();
}

class FakeJobTest : public testing::Test {
 protected:
  void Start(const char* script, std::uint32_t ranks) {
    const std::vector<std::string> argv = {"app"};
    std::vector<RankStart> starts(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      starts[rank].rank = rank;
      starts[rank].host = "node01";
      starts[rank].argv = argv;
    }
    Result<std::unique_ptr<Job>> job = FakeJob::Start(Parsed(script), starts);
    ASSERT_TRUE(job.ok());
    job_ = *std::move(job);
  }
  std::map<std::uint32_t, RankEvent> Events() {
    std::map<std::uint32_t, RankEvent> events;
    while (std::optional<RankEvent> event = job_->Next())
      EXPECT_TRUE(events.emplace(event->rank, *event).second) << "rank ended twice";
    return events;
  }

  std::unique_ptr<Job> job_;
};

TEST_F(FakeJobTest, EverybodyEndsOnce) {
  Start("1:exit=3;2:kill=11", 4);
  const auto events = Events();
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events.at(0).kind, RankEvent::Kind::kExited);
  EXPECT_EQ(events.at(0).code, 0);
  EXPECT_EQ(events.at(1).code, 3);
  EXPECT_EQ(events.at(2).kind, RankEvent::Kind::kKilled);
  EXPECT_EQ(events.at(2).signal, 11);
  EXPECT_TRUE(Events().empty());
}

TEST_F(FakeJobTest, StartFailure) {
  Start("1:fail=Exec format error;*:at=86400000", 2);
  const auto events = Events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events.at(1).kind, RankEvent::Kind::kStartFailed);
  EXPECT_EQ(events.at(1).why, "cannot run app on node01: Exec format error");
}

TEST_F(FakeJobTest, Signals) {
  Start("0:deaf,at=86400000;*:at=86400000", 3);
  EXPECT_TRUE(Events().empty());
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    job_->Signal(rank, SIGCONT);
    job_->Signal(rank, SIGTERM);
    job_->Signal(rank, SIGTERM);
  }
  EXPECT_EQ(Events().size(), 2u);
  job_->Signal(0, SIGKILL);
  const auto events = Events();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events.at(0).signal, SIGKILL);
}

TEST(ScriptTest, WhatItCannotUnderstandIsNamed) {
  for (const char* text : {"exit=3", "x:exit=3", "1:exit", "1:walk=3", "1:exit=-1", "1:kill=a"}) {
    const Result<Script> script = Script::Parse(text);
    EXPECT_FALSE(script.ok()) << text;
    EXPECT_NE(script.status().message().find("spawner.fake.script"), std::string_view::npos);
  }
}

TEST(ScriptTest, NamedRanksComeFirst) {
  const Script script = Parsed(" 2 : exit=1 , at=5 ; *:exit=4,in=MPI_Recv,phase=1 ");
  EXPECT_EQ(script.Of(2).code, 1);
  EXPECT_EQ(script.Of(2).at_ms, 5u);
  EXPECT_EQ(script.Of(3).code, 4);
  EXPECT_EQ(script.Of(3).call, "MPI_Recv");
  EXPECT_EQ(script.Of(3).phase, 1u);
}

}  // namespace
}  // namespace lamina::launcher::fake
