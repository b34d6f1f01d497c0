// SPDX-License-Identifier: BSD-3-Clause
// Goal:   whatever Slurm has given is understood as Slurm means it, and srun is told exactly what
// it
//         has to do.
// Method: environments as real Slurms set them (salloc -N4 -n7 -c2, heterogeneous jobs, host
//         files), allocations as one line of text out; the srun command as a golden text.
#include <gtest/gtest.h>

#include "launcher/spawn/slurm/slurm_allocation.h"
#include "launcher/spawn/slurm/srun.h"
#include "runtime/base/text.h"

namespace lamina::launcher::slurm {
namespace {

// "node1:4/8 node2:1/2": host, slots and CPUs.
std::string Text(const Environment& environment, std::string_view host_file = "") {
  Result<Allocation> allocation = ReadAllocation(environment, host_file);
  if (!allocation.ok()) return std::string(allocation.status().message());
  EXPECT_TRUE(allocation->managed);
  std::string text;
  for (const Host& host : allocation->hosts)
    text += (text.empty() ? "" : " ") + host.name + ":" + std::to_string(host.slots) + "/" +
            std::to_string(host.cpus);
  return text;
}

std::vector<std::string> Salloc() {  // salloc -N4 -n7 -c2, Slurm 22.05
  return {"SLURM_JOB_ID=77",
          "SLURM_JOB_NODELIST=node[1-4]",
          "SLURM_JOB_NUM_NODES=4",
          "SLURM_NTASKS=7",
          "SLURM_TASKS_PER_NODE=4,1(x3)",
          "SLURM_CPUS_PER_TASK=2",
          "SLURM_JOB_CPUS_PER_NODE=8,2(x3)"};
}

std::string With(std::vector<std::string> environment, const std::string& more) {
  environment.push_back(more);
  return Text(Environment(environment));
}

TEST(ReadAllocation, Salloc) {
  EXPECT_EQ(Text(Environment(Salloc())), "node1:4/8 node2:1/2 node3:1/2 node4:1/2");
  Result<Allocation> allocation = ReadAllocation(Environment(Salloc()), "");
  EXPECT_EQ(allocation->cpus_per_rank, 2u);
  EXPECT_EQ(allocation->source, "Slurm job 77");
  EXPECT_FALSE(allocation->in_sequence);
}

TEST(ReadAllocation, OlderNames) {
  EXPECT_EQ(
      Text(Environment({"SLURM_JOBID=5", "SLURM_NODELIST=a,b", "SLURM_TASKS_PER_NODE=3(x2)"})),
      "a:3/0 b:3/0");
}

TEST(ReadAllocation, TasksPerNodeAreCalledForOrAreTheCpus) {
  EXPECT_EQ(With(Salloc(), "SLURM_NTASKS_PER_NODE=2"), "node1:2/8 node2:2/2 node3:2/2 node4:2/2");
  EXPECT_EQ(
      Text(Environment({"SLURM_JOB_ID=5", "SLURM_JOB_NODELIST=a", "SLURM_JOB_CPUS_PER_NODE=16"})),
      "a:16/16");
}

TEST(ReadAllocation, HeterogeneousJobs) {  // salloc -N1 -n2 : -N2 -n4
  EXPECT_EQ(Text(Environment(
                {"SLURM_JOB_ID=80", "SLURM_HET_SIZE=2", "SLURM_NTASKS=6",
                 "SLURM_JOB_NODELIST_HET_GROUP_0=node1", "SLURM_TASKS_PER_NODE_HET_GROUP_0=2",
                 "SLURM_JOB_NODELIST_HET_GROUP_1=node[2-3]", "SLURM_TASKS_PER_NODE_HET_GROUP_1=3,1",
                 "SLURM_JOB_CPUS_PER_NODE_HET_GROUP_1=4(x2)"})),
            "node1:2/0 node2:3/4 node3:1/4");
  EXPECT_EQ(Text(Environment({"SLURM_JOB_ID=80", "SLURM_PACK_SIZE=1",
                              "SLURM_JOB_NODELIST_PACK_GROUP_0=node1",
                              "SLURM_TASKS_PER_NODE_PACK_GROUP_0=2"})),
            "node1:2/0");
}

TEST(ReadAllocation, AHostFileIsOneRankALine) {
  EXPECT_EQ(Text(Environment(Salloc()), "node3\nnode1\n# none\nnode3\n"),
            "node3:1/2 node1:1/8 node3:1/2");
  EXPECT_TRUE(ReadAllocation(Environment(Salloc()), "node3\n")->in_sequence);
  EXPECT_EQ(Text(Environment(Salloc()), "node9\n"),
            "host node9 (SLURM_HOSTFILE) does not belong to Slurm job 77");
}

TEST(ReadAllocation, MistakesAreNamed) {
  EXPECT_EQ(Text(Environment({"SLURM_PROCID=0"})), "SLURM_JOB_ID is not set: this is no Slurm job");
  EXPECT_EQ(With(Salloc(), "SLURM_TASKS_PER_NODE=4,1"),
            "SLURM_TASKS_PER_NODE=4,1 speaks of 2 nodes, the allocation has 4");
  EXPECT_EQ(With(Salloc(), "SLURM_TASKS_PER_NODE=4,x"),
            "SLURM_TASKS_PER_NODE: \"x\" is not COUNT or COUNT(xNODES)");
  EXPECT_EQ(With(Salloc(), "SLURM_JOB_NODELIST=node[4-1]"),
            "SLURM_JOB_NODELIST: \"node[4-1]\": the range \"4-1\" runs backwards");
  EXPECT_EQ(With(Salloc(), "SLURM_STEP_NUM_TASKS=8").substr(0, 42),
            "srun has started several copies of mpiexec");
}

TEST(ExpandCounts, Repetitions) {
  EXPECT_EQ(*ExpandCounts("4,1(x3)"), (std::vector<std::uint32_t>{4, 1, 1, 1}));
  EXPECT_EQ(*ExpandCounts("2"), std::vector<std::uint32_t>{2});
  for (const char* wrong : {"", "0", "1(x0)", "1(x", "1(x2", "(x2)", "1(x9999999)", "1,,2"})
    EXPECT_FALSE(ExpandCounts(wrong).ok()) << wrong;
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

TEST(SrunCommand, Golden) {
  Plan plan;
  plan.hosts.resize(4);
  for (std::size_t i = 0; i < 4; ++i) plan.hosts[i].name = "node" + std::to_string(i + 1);
  const std::vector<std::string> shepherd = {"/opt/lamina/bin/mpiexec", "--shepherd"};
  const std::string options =
      "srun --mpi=none --overlap --kill-on-bad-exit=0 --wait=0 --input=none --cpu-bind=none "
      "--distribution=block --ntasks-per-node=1 --export=ALL ";
  EXPECT_EQ(Joined(SrunCommand(plan, std::vector<std::uint32_t>{0, 1, 3}, 0, shepherd)),
            options +
                "--nodes=3 --ntasks=3 --nodelist=node[1-2,4] /opt/lamina/bin/mpiexec "
                "--shepherd");
  EXPECT_EQ(Joined(SrunCommand(plan, std::vector<std::uint32_t>{0, 1}, 2, shepherd)),
            options + "--het-group=0-1 /opt/lamina/bin/mpiexec --shepherd");
}

TEST(DirectCommand, Golden) {
  Plan plan;
  plan.hosts.resize(2);
  plan.hosts[0].name = "n1";
  plan.hosts[1].name = "n2";
  plan.apps = {{{"./solver", "in"}, {}, "/scratch", "", 3}};
  plan.ranks.resize(3);
  plan.ranks[1].host = 1;
  plan.options.tag_output = true;
  plan.mapping.bind_to = BindTo::kCore;
  const std::string command = Joined(*DirectCommand(plan));
  EXPECT_TRUE(command.starts_with(
      "srun --mpi=pmix --overlap --wait=0 --export=ALL --distribution=arbitrary --ntasks=3 "
      "--cpu-bind=cores --input=0 --label --chdir=/scratch /bin/sh -c "))
      << command;
  EXPECT_TRUE(command.ends_with("exec \"$@\" sh ./solver in")) << command;
  for (const char* name : {"RANK", "SIZE", "LOCAL_RANK", "LOCAL_SIZE", "NODE", "NODES"})
    EXPECT_NE(command.find(Format(" LAMINA_%s=$", name)), std::string::npos) << name;
  EXPECT_EQ(RankHosts(plan), "n1\nn2\nn1\n");
  plan.apps.push_back(plan.apps[0]);
  EXPECT_FALSE(DirectCommand(plan).ok());
}

TEST(State, AsSqueueAndSrunSayIt) {
  const auto why = [](std::string_view answer) {
    const ManagerState state = UnderstandState(answer);
    EXPECT_EQ(state.kind == ManagerState::Kind::kCancelled, !state.why.empty());
    return state.why;
  };
  EXPECT_EQ(Joined(StateQuestion("77")), "squeue --noheader --states=all --jobs=77 --format=%T");
  EXPECT_EQ(why("CANCELLED\n"), "the job was cancelled by Slurm (scancel)");
  EXPECT_EQ(why("COMPLETING\n"), "the job was cancelled by Slurm (scancel or time limit)");
  EXPECT_EQ(why("TIMEOUT\n"), "the job was cancelled by Slurm (time limit)");
  EXPECT_EQ(why("RUNNING\nslurmstepd: error: *** STEP 77.0 ON n1 CANCELLED AT 2026-11-27T19:00:00 "
                "DUE TO TIME LIMIT ***\n"),
            "the job was cancelled by Slurm (time limit)");
  EXPECT_EQ(why("RUNNING\n"), "");
  EXPECT_EQ(why("NODE_FAIL\n"), "");
  EXPECT_EQ(UnderstandState("SUSPENDED\nRUNNING\n").kind, ManagerState::Kind::kSuspended);
  EXPECT_EQ(UnderstandState("slurm_load_jobs error: Invalid job id").kind,
            ManagerState::Kind::kGoesOn);
}

TEST(SrunEnvironment, NothingThatChangesSrunsMind) {
  const std::vector<std::string> more = {"LAMINA_SECRET=1"};
  EXPECT_EQ(
      Joined(SrunEnvironment(Environment({"SLURM_JOB_ID=77", "SLURM_CPUS_PER_TASK=2",
                                          "SLURM_NTASKS=7", "SLURM_EXPORT_ENV=NONE", "PATH=/bin"}),
                             more)),
      "LAMINA_SECRET=1 PATH=/bin SLURM_JOB_ID=77");
}

}  // namespace
}  // namespace lamina::launcher::slurm
