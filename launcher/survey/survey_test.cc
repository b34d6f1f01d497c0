// SPDX-License-Identifier: BSD-3-Clause
// Goal:   the tools say what is different on a host, never call a running job's process a leftover,
//         and are not led astray by damaged texts.
// Method: reports, answers and process tables made by hand.
#include <gtest/gtest.h>

#include "launcher/survey/abilities.h"
#include "launcher/survey/job_answer.h"
#include "launcher/survey/leftovers.h"
#include "launcher/survey/mend.h"
#include "launcher/survey/report.h"
#include "launcher/survey/stacks.h"
#include "launcher/survey/table.h"

namespace lamina::launcher {
namespace {

HostReport Report() {
  HostReport report;
  report.version = "0.1.0";
  report.prefix = "/opt/lamina";
  report.program = "/opt/lamina/bin/mpiexec";
  report.library = "/opt/lamina/lib/libmpi_abi.so.1";
  report.components = {"transport shm 1.0.0", "transport ucx 1.0.0"};
  report.machine = "x86_64";
  report.cpus = 8;
  report.clock_us = 5'000'000;
  return report;
}

TEST(ReportTest, TravelsAsText) {
  HostReport report = Report();
  report.program_problem = "no such program: ./x";
  report.remarks = {"one", "and another one"};
  const std::string text = Encode(report);
  EXPECT_EQ(DecodeReport("Welcome!\n" + text + "Bye\n"), report);
  for (std::size_t bytes = 0; bytes < text.size() - 1; ++bytes)
    EXPECT_FALSE(DecodeReport(text.substr(0, bytes)).has_value()) << bytes;
}

TEST(ReportTest, EqualHostsDoNotDiffer) {
  HostReport there = Report();
  there.prefix = "/other/prefix";
  there.cpus = 2;
  EXPECT_TRUE(Differences(Report(), there, 4'900'000, 5'100'000).empty());
}

TEST(ReportTest, EachDifferenceIsSaid) {
  const auto only = [](const HostReport& there) {
    const auto problems = Differences(Report(), there, 4'900'000, 5'100'000);
    return problems.size() == 1 ? problems.front() : std::to_string(problems.size());
  };
  HostReport there = Report();
  there.version = "0.2.0";
  EXPECT_EQ(only(there), "Lamina 0.2.0 is there, 0.1.0 here");
  there = Report();
  there.machine = "aarch64";
  EXPECT_EQ(only(there), "it is aarch64, this is x86_64");
  there = Report();
  there.library = "";
  there.components.clear();
  EXPECT_EQ(only(there), "no libmpi_abi.so.1 beside /opt/lamina/bin/mpiexec");
  there = Report();
  there.components = {"transport shm 1.0.0"};
  EXPECT_EQ(only(there), "components only here: transport ucx 1.0.0");
  there.components = {"transport mine 1", "transport shm 1.0.0", "transport ucx 1.0.0"};
  EXPECT_EQ(only(there), "components only there: transport mine 1");
  there = Report();
  there.program_problem = "no such program: ./x";
  EXPECT_EQ(only(there), "no such program: ./x");
  there = Report();
  there.clock_us = 1'000'000;
  EXPECT_EQ(only(there), "its clock is 3.9 s behind");
  there.clock_us = 9'000'000;
  EXPECT_EQ(only(there), "its clock is 3.9 s ahead");
  there.clock_us = 4'000'000;  // within what the answer's way may explain
  EXPECT_EQ(only(there), "0");
}

// Each problem is answered by what mends it, and what ends with its own advice by nothing.
TEST(MendTest, IsKnownForEachProblem) {
  for (const auto& [problem, advice] : std::vector<std::pair<const char*, const char*>>{
           {"cannot start on n1: ada@n1: Permission denied (publickey).", "ssh-copy-id n1"},
           {"cannot start on n1: Host key verification failed.", "`ssh n1` once"},
           {"cannot start on n1: ssh: Could not resolve hostname n1: Name or service not known",
            "/etc/hosts"},
           {"cannot start on n1: ssh: connect to host n1 port 22: Connection refused", "sshd"},
           {"cannot start on n1: ssh: connect to host n1 port 22: Connection timed out", "ping n1"},
           {"cannot start on n1: Connection timed out during banner exchange", "says nothing"},
           {"cannot start on n1: no shepherd greeted within 30 s", "by hand"},
           {"cannot start on n1: bash: line 1: /x/mpiexec: cannot execute binary file: Exec format "
            "error",
            "another machine"},
           {"cannot start on n1: /x/mpiexec: error while loading shared libraries: libhwloc.so.15",
            "packages"},
           {"cannot start on n1: Lamina 0.2.0 is there, 0.1.0 here (wire 8 and 7)", "same version"},
           {"Lamina 0.2.0 is there, 0.1.0 here", "same version"},
           {"it is aarch64, this is x86_64", "one architecture"},
           {"no libmpi_abi.so.1 beside /x/bin/mpiexec", "not whole"},
           {"components only there: transport mine 1", "same components"},
           {"no such program: ./x", "same path"},
           {"its clock is 3.9 s behind", "set its clock"}})
    EXPECT_NE(MendOf(problem, "n1").find(advice), std::string::npos) << problem;
  EXPECT_EQ(MendOf("Lamina is not at /x/bin/mpiexec on n1: install it at the same path, or write "
                   "prefix= in a host file",
                   "n1"),
            "");
  EXPECT_EQ(MendOf("something new", "n1"), "");
}

TEST(AbilitiesTest, WhatIsMissingIsSaid) {
  Abilities abilities;
  EXPECT_TRUE(Remarks(abilities).empty());
  abilities.has_rdma = true;
  abilities.locked_bytes = 8 << 20;
  ASSERT_EQ(Remarks(abilities).size(), 1u);
  EXPECT_NE(Remarks(abilities)[0].find("only 8192 KiB may be locked"), std::string::npos);
  abilities.locked_bytes = UINT64_MAX;
  EXPECT_TRUE(Remarks(abilities).empty());
  abilities.makes_memfds = abilities.reads_peers = abilities.has_user_namespaces =
      abilities.sees_processes = false;
  EXPECT_EQ(Remarks(abilities).size(), 4u);
}

TEST(JobAnswerTest, IsReadAsTheReadmeSays) {
  const Result<JobAnswer> answer = DecodeJobAnswer(
      "lamina 0.1.0\njob 5e1f\nage_ms 4120\nspawner ssh\nranks 4\nrunning 3\nweather fine\n"
      "parent 4711\ncommand ./solver input\nhost node1 2 2 up 120 312\nhost node2 2 1 up 118 "
      "-\nend\n");
  ASSERT_TRUE(answer.ok());
  const JobAnswer wanted{"0.1.0",
                         "5e1f",
                         "ssh",
                         "./solver input",
                         4711,
                         4120,
                         4,
                         3,
                         {{"node1", 2, 2, "up", 120, 312}, {"node2", 2, 1, "up", 118, {}}},
                         {}};
  EXPECT_EQ(*answer, wanted);
  EXPECT_FALSE(AllAnswered(*answer));
  const auto locks = DecodeJobAnswer(
      "lock 2 exclusive 5 0 1 0\nlock 3 all 5 1 2 0\nlock 4 shared 6 9 - 0\n"
      "lock 0 exclusive 6 1 - 3\nlock\nend\n");
  ASSERT_EQ(locks->locks.size(), 4u);
  const auto sentence = [&](std::size_t i) { return Sentence(locks->locks[i], 8); };
  EXPECT_EQ(sentence(0),
            "rank 2 waits for an exclusive lock of rank 0 in window 5, which rank 1 holds");
  EXPECT_EQ(sentence(1),
            "rank 3 waits for locks of all ranks in window 5, one of which rank 2 holds");
  EXPECT_EQ(
      sentence(2),
      "rank 4 waits for a shared lock of a process of another job in window 6, held by somebody "
      "who is not known");
  EXPECT_EQ(sentence(3),
            "rank 0 waits for an exclusive lock of rank 1 in window 6, which 3 processes share");
  EXPECT_FALSE(DecodeJobAnswer("lamina 0.1.0\njob 5e1f\n").ok());
  EXPECT_FALSE(DecodeJobAnswer("").ok());
  EXPECT_TRUE(DecodeJobAnswer("host x\nhost\nranks -3\nend").ok());  // strange, but harmless
}

TEST(StacksTest, BothToolsAreUnderstood) {
  const Frames wanted{"main", "Solve at solve.c:12", "nanosleep"};
  EXPECT_EQ(FirstStackIn("[New LWP 8]\n\nThread 2 (Thread 0x7f (LWP 8) \"async\"):\n"
                         "#0  epoll_wait () from /lib/libc.so\n\n"
                         "Thread 1 (Thread 0x7e (LWP 7) \"solver\"):\n"
                         "#0  0x00007f12 in nanosleep () from /lib/libc.so\n"
                         "#1  0x00005512 in Solve (n=3) at /home/ada/src/solve.c:12\n"
                         "#2  main ()\n",
                         7),
            wanted);
  const Frames plain{"main", "Solve", "nanosleep"};
  EXPECT_EQ(FirstStackIn("PID 7 - process\nTID 7:\n#0  0x00007f12 nanosleep@@GLIBC_2.17\n"
                         "#1  0x00005512 - 1 Solve\n#2  0x00005513 - 1 main\nTID 8:\n"
                         "#0  0x00007f13 epoll_wait\n",
                         7),
            plain);
  EXPECT_TRUE(FirstStackIn("ptrace: Operation not permitted.\n", 7).empty());
  EXPECT_EQ(FirstStackIn("#0\n#\n", 7), (Frames{"??", "??"}));
}

TEST(StacksTest, EqualOnesAreMergedAndTheOddRankStandsOut) {
  const Frames common{"main", "Step", "MPI_Allreduce"};
  const std::vector<Stack> stacks{{3, {"main", "Step", "Compute"}, ""},
                                  {0, common, ""},
                                  {1, common, ""},
                                  {2, common, ""},
                                  {5, common, ""},
                                  {4, {}, "ptrace: Operation not permitted."}};
  EXPECT_EQ(Merged(stacks),
            "0-3,5: main\n"
            "  Step\n"
            "    0-2,5: MPI_Allreduce\n"
            "    3: Compute\n"
            "4: no stack: ptrace: Operation not permitted.\n");
  std::string text;
  for (const Stack& stack : stacks) text += Encode(stack);
  EXPECT_EQ(DecodeStacks(text), stacks);
  EXPECT_TRUE(DecodeStacks("frame lost\nfailed\n\nnonsense").empty());
}

TEST(StacksTest, ARankIsWhoHasMpiOrElseWhoHasNoChild) {
  const auto of = [](pid_t process, pid_t parent, std::uint32_t rank, bool has_mpi,
                     const char* job = "a") {
    ProcessSeen seen;
    seen.process = process;
    seen.parent = parent;
    seen.of_rank = true;
    seen.job = job;
    seen.rank = rank;
    seen.has_mpi = has_mpi;
    return seen;
  };
  const std::vector<ProcessSeen> seen{of(10, 1, 0, false),    of(11, 10, 0, true),
                                      of(12, 11, 0, false),  // what the program has started
                                      of(20, 1, 1, false),    of(21, 20, 1, false),
                                      of(30, 1, 0, true, "b")};
  std::vector<pid_t> found;
  for (const ProcessSeen& rank : RanksOf(seen, "a")) found.push_back(rank.process);
  EXPECT_EQ(found, (std::vector<pid_t>{11, 21}));
}

ProcessSeen Process(pid_t process, pid_t parent, const char* name, bool of_rank = false) {
  ProcessSeen seen;
  seen.process = process;
  seen.parent = parent;
  seen.user = 1000;
  seen.name = name;
  seen.of_rank = of_rank;
  return seen;
}

std::vector<pid_t> Found(const std::vector<ProcessSeen>& seen) {
  std::vector<pid_t> processes;
  for (const ProcessSeen& orphan : Orphans(seen, 1000)) processes.push_back(orphan.process);
  return processes;
}

TEST(OrphansTest, RunningJobsAreLeftAlone) {
  EXPECT_TRUE(Found({Process(1, 0, "init"), Process(5, 1, "mpiexec"), Process(6, 5, "solver", true),
                     Process(7, 6, "child", true), Process(8, 5, "mpiexec-guard"),
                     // A job inside a job, and one under a manager.
                     Process(9, 7, "mpirun", true), Process(10, 9, "inner", true),
                     Process(20, 1, "slurmstepd"), Process(21, 20, "mpiexec.lamina"),
                     Process(22, 21, "solver", true)})
                  .empty());
}

TEST(OrphansTest, ALauncherOfAnyNameIsOneIfItListens) {
  ProcessSeen renamed = Process(5, 1, "mpiexec-lamina");
  EXPECT_EQ(Found({renamed, Process(6, 5, "solver", true)}), (std::vector<pid_t>{6}));
  renamed.listens = true;
  EXPECT_TRUE(Found({renamed, Process(6, 5, "solver", true)}).empty());
}

TEST(OrphansTest, RanksWithoutLauncherAreFound) {
  EXPECT_EQ(
      Found({Process(1, 0, "init"), Process(6, 1, "solver", true), Process(7, 6, "child", true),
             Process(8, 1, "editor"), Process(9, 1, "laminar_flow", true)}),
      (std::vector<pid_t>{6, 7, 9}));
  ProcessSeen dead = Process(5, 1, "mpiexec");
  dead.state = 'Z';
  EXPECT_EQ(Found({Process(1, 0, "init"), dead, Process(6, 5, "solver", true)}),
            (std::vector<pid_t>{6}));
}

TEST(OrphansTest, OtherUsersAndTheDeadAreNoConcern) {
  ProcessSeen other = Process(6, 1, "solver", true);
  other.user = 1001;
  ProcessSeen zombie = Process(7, 1, "solver", true);
  zombie.state = 'Z';
  EXPECT_TRUE(Found({Process(1, 0, "init"), other, zombie}).empty());
}

TEST(OrphansTest, OnlyAStoppedShepherdOfNobodyIsLost) {
  ProcessSeen shepherd = Process(6, 1, "mpiexec");
  shepherd.shepherd = true;
  EXPECT_TRUE(Found({Process(1, 0, "init"), shepherd}).empty());  // it ends by itself
  shepherd.state = 'T';
  EXPECT_EQ(Found({Process(1, 0, "init"), shepherd}), (std::vector<pid_t>{6}));
  shepherd.parent = 4;
  EXPECT_TRUE(Found({Process(1, 0, "init"), Process(4, 1, "sshd"), shepherd}).empty());
}

TEST(OrphansTest, ATableThatGoesRoundInCircles) {
  EXPECT_EQ(Found({Process(6, 7, "a", true), Process(7, 6, "b", true)}).size(), 2u);
}

TEST(FilesTest, OnlyOurKind) {
  EXPECT_TRUE(IsOurKindOfFile("ucx_shm_posix_1a2b"));
  for (const char* name : {"", "notes", "lamina.thesis", "pmix.sys.node1", "ucx"})
    EXPECT_FALSE(IsOurKindOfFile(name)) << name;
}

TEST(TableTest, Columns) {
  EXPECT_EQ(InColumns({{"HOST", "STATE", "X"}, {"n1", "ok", "1"}, {"n2", "a long sentence"}}),
            "HOST  STATE  X\nn1    ok     1\nn2    a long sentence\n");
  EXPECT_EQ(InColumns({}), "");
}

}  // namespace
}  // namespace lamina::launcher
