// SPDX-License-Identifier: BSD-3-Clause
// Goal:   TM is spoken to the byte as OpenPBS and TORQUE speak it, in any order of answers, and
//         what is not TM is refused; a node file is understood.
// Method: golden bytes of requests; answers made here, whole and byte by byte.
#include <gtest/gtest.h>

#include "launcher/spawn/pbs/pbs_allocation.h"
#include "launcher/spawn/pbs/tm_session.h"

namespace lamina::launcher::pbs {
namespace {

using Kind = TmReply::Kind;

TmSession Session(bool torque) {
  std::vector<std::string> environment = {"PBS_JOBID=1.head", "PBS_JOBCOOKIE=abc",
                                          "PBS_TASKNUM=0000001F", "PBS_MOMPORT=15003"};
  if (torque) environment.push_back("PBS_VNODENUM=0");
  Result<TmSession> session = TmSession::Open(Environment(environment));
  EXPECT_TRUE(session.ok());
  return std::move(*session);
}

// `unspecified`: the byte that pbs_mom leaves to chance.
std::string Framed(std::string_view message, char unspecified = 0) {
  std::string frame("PKTV1\0", 6);
  frame += unspecified;
  frame.append(2, 0);
  frame += static_cast<char>(message.size() >> 8);
  frame += static_cast<char>(message.size() & 0xff);
  return frame + std::string(message);
}

TEST(Dis, Integers) {
  EXPECT_EQ(DisInteger(5), "+5");
  EXPECT_EQ(DisInteger(0), "+0");
  EXPECT_EQ(DisInteger(-7), "-7");
  EXPECT_EQ(DisInteger(15), "2+15");
  EXPECT_EQ(DisInteger(1234567890), "210+1234567890");
  EXPECT_EQ(DisText("abc"), "+3abc");
  EXPECT_EQ(DisText(""), "+0");
}

TEST(TmSession, RequestsOfOpenPbs) {
  TmSession session = Session(false);
  std::int64_t event = 0;
  EXPECT_EQ(session.Init(&event), Framed("+2+2+61.head+3abc3+100+12+31"));
  EXPECT_EQ(event, 1);
  const std::vector<std::string> argv = {"/bin/sh", "-c"};
  const std::vector<std::string> environment = {"X=1"};
  EXPECT_EQ(session.Spawn(1, argv, environment, &event),
            Framed("+2+2+61.head+3abc3+102+22+31+1+2+7/bin/sh+2-c+3X=1+0"));
  EXPECT_EQ(session.Signal(0, 0x20000001, 9, &event),
            Framed("+2+2+61.head+3abc3+103+32+31+09+536870913+9"));
}

TEST(TmSession, RequestsOfTorque) {
  TmSession session = Session(true);
  std::int64_t event = 0;
  EXPECT_EQ(session.Obit(2, 77, &event), "+5+2+61.head+3abc3+104+12+31+22+77");
}

TEST(TmSession, WhatIsMissingIsNamed) {
  Result<TmSession> session = TmSession::Open(Environment({"PBS_JOBID=1"}));
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.status().message(),
            "PBS_JOBCOOKIE is not set: mpiexec was not started by pbs_mom");
}

// Three requests, answered in another order: INIT, an obit, a failed spawn.
void CheckAnswers(bool torque, bool byte_by_byte) {
  TmSession session = Session(torque);
  std::int64_t init = 0;
  std::int64_t spawn = 0;
  std::int64_t obit = 0;
  session.Init(&init);
  session.Spawn(0, {}, {}, &spawn);
  session.Obit(0, 1, &obit);
  const std::string head = torque ? "+5+2" : "+2+2";
  std::string bytes;
  for (const std::string& answer :
       {head + "+0+1+2+0+1+61.head-1+0", head + "+0+33+265", head + "3+999+25+17006"})
    bytes += torque ? answer : Framed(answer, 'o');
  std::vector<TmReply> replies;
  if (byte_by_byte) {
    for (const char byte : bytes) ASSERT_TRUE(session.Feed({&byte, 1}, &replies).ok());
  } else {
    ASSERT_TRUE(session.Feed(bytes, &replies).ok());
  }
  ASSERT_EQ(replies.size(), 3u);
  EXPECT_EQ(replies[0].kind, Kind::kInit);
  EXPECT_EQ(replies[0].nodes, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(replies[1].event, obit);
  EXPECT_EQ(replies[1].value, 265);
  EXPECT_EQ(replies[2].event, spawn);
  EXPECT_EQ(replies[2].error, 17006);
}

TEST(TmSession, AnswersInAnyOrder) {
  for (const bool torque : {false, true})
    for (const bool byte_by_byte : {false, true}) CheckAnswers(torque, byte_by_byte);
}

TEST(TmSession, WhatIsNotTmIsRefused) {
  std::vector<TmReply> replies;
  EXPECT_FALSE(Session(false).Feed("HTTP/1.1 400 Bad Request", &replies).ok());
  EXPECT_FALSE(Session(true).Feed("HTTP/1.1 400 Bad Request", &replies).ok());
  EXPECT_FALSE(Session(true).Feed("+5+2+0+9+1", &replies).ok());  // event 9 was never asked for
  TmSession asked = Session(true);
  std::int64_t event = 0;
  asked.Init(&event);
  EXPECT_FALSE(asked.Feed("+5+2+0210+4294967297+0+0+0+0", &replies).ok()) << "not event 1 either";
}

TEST(State, AsQstatSaysIt) {
  const auto state = [](const std::string& letter) {
    return UnderstandState("Job Id: 7.head\n    job_state = " + letter + "\n    queue = workq\n");
  };
  EXPECT_EQ(StateQuestion("7.head"), (CommandLine{"qstat", "-f", "7.head"}));
  EXPECT_EQ(state("R").kind, ManagerState::Kind::kGoesOn);
  EXPECT_EQ(state("S").kind, ManagerState::Kind::kSuspended);
  EXPECT_EQ(state("E").why, "the job was cancelled by PBS (qdel or walltime)");
  EXPECT_EQ(UnderstandState("qstat: Unknown Job Id 7.head").kind, ManagerState::Kind::kGoesOn);
  EXPECT_EQ(UnderstandState("    job_state = ").kind, ManagerState::Kind::kGoesOn);
}

TEST(ReadAllocation, PlacesAreFoldedIntoHosts) {
  const Environment environment({"PBS_JOBID=1.head", "PBS_NODEFILE=/nodes"});
  EXPECT_TRUE(InJob(environment));
  EXPECT_FALSE(InJob(Environment({"PBS_JOBID=1.head"})));
  const std::string file = "n1.east\nn1.east\nn2.east\n\nn1.east\r\n";
  Result<Allocation> allocation = ReadAllocation(environment, file);
  ASSERT_TRUE(allocation.ok());
  ASSERT_EQ(allocation->hosts.size(), 2u);
  EXPECT_EQ(allocation->hosts[0].name, "n1.east");
  EXPECT_EQ(allocation->hosts[0].slots, 3u);
  EXPECT_EQ(allocation->hosts[1].slots, 1u);
  EXPECT_EQ(allocation->source, "PBS job 1.head");
  EXPECT_TRUE(allocation->managed);
  Plan plan;
  plan.hosts = allocation->hosts;
  plan.hosts.push_back({});
  plan.hosts[2].name = "n3";
  EXPECT_EQ(LinesOf(plan, std::vector<std::uint32_t>{1, 0, 2}, file),
            (std::vector<std::int64_t>{2, 0, -1}));
  EXPECT_EQ(ReadAllocation(environment, "\n").status().message(),
            "PBS_NODEFILE (/nodes) cannot be read or names no host; where the job's files are not "
            "visible, as in a container, --spawner local runs all ranks on this host");
  EXPECT_EQ(ReadAllocation(Environment(std::vector<std::string>{}), file).status().message(),
            "this is no PBS job: PBS_JOBID and PBS_NODEFILE are not set");
}

}  // namespace
}  // namespace lamina::launcher::pbs
