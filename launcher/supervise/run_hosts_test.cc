// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a run's hosts become more and fewer as its user says, and a mistake changes nothing.
// Method: what the next job would be told is compared.
#include "launcher/supervise/run_hosts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "launcher/plan/plan.h"
#include "runtime/base/status.h"

namespace lamina::launcher {
namespace {

std::vector<Host> TwoHosts() {
  std::vector<Host> hosts(2);
  hosts[0].name = "node1";
  hosts[0].slots = 2;
  hosts[0].promised = true;
  hosts[1].name = "fe80::1";
  hosts[1].slots = 4;
  hosts[1].user = "ada";
  hosts[1].taken = 1;
  return hosts;
}

TEST(RunHostsTest, TellsWhatIsTaken) {
  const RunHosts hosts(TwoHosts(), "");
  EXPECT_EQ(hosts.Text({{"node1", 2}, {"fe80::1", 2}}),
            "node1 slots=2 taken=2\n[fe80::1] slots=4 user=ada promised=no taken=3\n");
}

TEST(RunHostsTest, GrowsAndShrinks) {
  RunHosts hosts(TwoHosts(), "");
  ASSERT_TRUE(hosts.Grow("node1").ok());
  EXPECT_FALSE(hosts.has_grown());
  ASSERT_TRUE(hosts.Grow("node3:8,node1:4").ok());
  EXPECT_TRUE(hosts.has_grown());
  ASSERT_TRUE(hosts.Shrink("fe80::1").ok());
  EXPECT_EQ(hosts.Text({}),
            "node1 slots=4 taken=0\n"
            "[fe80::1] slots=4 user=ada schedule=no promised=no taken=1\n"
            "node3 slots=8 taken=0\n");
  ASSERT_TRUE(hosts.Shrink("node1").ok());
  ASSERT_TRUE(hosts.Grow("node1").ok());
  EXPECT_EQ(hosts.Text({}).find("node1 slots=4 taken=0\n"), 0u);
}

TEST(RunHostsTest, MistakesChangeNothing) {
  RunHosts hosts(TwoHosts(), "Slurm job 77");
  const std::string before = hosts.Text({});
  EXPECT_EQ(hosts.Shrink("node9").message(), "node9 is no host of this job");
  EXPECT_EQ(hosts.Grow("node1:8,node9").message(), "host node9 does not belong to Slurm job 77");
  EXPECT_FALSE(hosts.Grow("node1:x").ok());
  EXPECT_EQ(hosts.Text({}), before);
}

}  // namespace
}  // namespace lamina::launcher
