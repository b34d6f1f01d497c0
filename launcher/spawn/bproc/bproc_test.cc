// SPDX-License-Identifier: BSD-3-Clause
// Goal:   nodes of BProc are chosen and refused as its states say, and shepherds moved there are
//         watched and ended like children.
// Method: a library made here that answers from a table and "moves" by fork and exec.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>

#include "launcher/spawn/bproc/library.h"
#include "launcher/spawn/bproc/move_crew.h"

namespace lamina::launcher::bproc {
namespace {

struct Node {
  const char* status;
  bool permitted;
};
const std::map<int, Node> kNodes = {
    {0, {"up", true}}, {1, {"down", true}}, {3, {"up", false}}, {4, {"up", true}}};

int NodeStatus(int node, char* status, int bytes) {
  const auto found = kNodes.find(node);
  if (found == kNodes.end()) {
    errno = 300;
    return -1;
  }
  std::strncpy(status, found->second.status, static_cast<std::size_t>(bytes));
  return static_cast<int>(std::strlen(status));
}

int Access(int node, int) { return kNodes.count(node) != 0 && kNodes.at(node).permitted ? 0 : -1; }

// BProc's documentation says that the seven X of BPROC_RANK become the position, and a node that is
// down is -301.
int Move(int count, int* nodes, int* pids, Io* io, int io_count, const char* command,
         char* const argv[], char* const environment[]) {
  if (access(command, X_OK) != 0) return -1;
  EXPECT_EQ(io_count, 3);
  EXPECT_STREQ(io[2].d.file.name, "/dev/null");
  for (int i = 0; i < count; ++i) {
    if (std::strcmp(kNodes.at(nodes[i]).status, "up") != 0) {
      pids[i] = -301;
      continue;
    }
    std::vector<std::string> own;
    for (int v = 0; environment[v] != nullptr; ++v) {
      own.emplace_back(environment[v]);
      if (own.back() == "BPROC_RANK=XXXXXXX") own.back() = "BPROC_RANK=000000" + std::to_string(i);
    }
    std::vector<char*> pointers;
    for (std::string& variable : own) pointers.push_back(variable.data());
    pointers.push_back(nullptr);
    pids[i] = fork();
    if (pids[i] == 0) {
      execve(command, argv, pointers.data());
      _exit(127);
    }
  }
  return count;
}

Library Double() {
  Library library{};
  library.version = [](void*) { return 0; };
  library.current_node = [] { return kMaster; };
  library.node_count = [] { return 4; };
  library.node_status = NodeStatus;
  library.access = Access;
  library.move = Move;
  library.error_text = [](int error) -> const char* {
    return error == 300 ? "Invalid node number" : error == 301 ? "Node is down" : strerror(error);
  };
  return library;
}

std::string Hosts(std::string_view nodes) {
  Result<Allocation> allocation = ReadAllocation(Double(), nodes);
  if (!allocation.ok()) return std::string(allocation.status().message());
  std::string text;
  for (const Host& host : allocation->hosts)
    text += (text.empty() ? "" : " ") + host.name + ":" +
            (host.schedulable ? std::to_string(host.slots) : "-");
  return text;
}

TEST(ReadAllocation, AllNodesThatMayBeUsed) { EXPECT_EQ(Hosts(""), "master:- n0:1 n4:1"); }

TEST(ReadAllocation, WhatASchedulerGave) {
  EXPECT_EQ(Hosts("4,0,4"), "master:- n4:2 n0:1");
  EXPECT_EQ(Hosts("0,1,3,7"),
            "NODES: n1 is down; n3: no permission to execute; n7: Invalid node number");
  EXPECT_EQ(Hosts("0,x"), "NODES: \"x\" is no node of BProc");
}

TEST(NodeNumber, EverySpelling) {
  EXPECT_EQ(*NodeNumber("n3"), 3);
  EXPECT_EQ(*NodeNumber("3"), 3);
  EXPECT_EQ(*NodeNumber("master"), kMaster);
  for (const char* wrong : {"", "n", "node3", "-2", "99999999"})
    EXPECT_FALSE(NodeNumber(wrong).ok()) << wrong;
}

ShepherdCrew::Event Wait(ShepherdCrew& crew) {
  while (true) {
    if (auto event = crew.Next()) return *event;
    pollfd ready{crew.ReadyFd(), POLLIN, 0};
    poll(&ready, 1, 10'000);
  }
}

TEST(MoveCrew, EndsAreTold) {
  const std::vector<std::string> argv = {"/bin/sh", "-c", "exit $((BPROC_RANK + 4))"};
  const std::vector<MoveCrew::Target> targets = {{7, 0}, {8, 1}, {9, 4}};
  Result<std::unique_ptr<ShepherdCrew>> crew = MoveCrew::StartAll(Double(), targets, argv, {});
  ASSERT_TRUE(crew.ok()) << crew.status().message();
  std::map<std::uint32_t, std::string> told;
  for (int i = 0; i < 3; ++i) {
    const ShepherdCrew::Event event = Wait(**crew);
    told[event.host.value_or(99)] = event.why;
  }
  EXPECT_EQ(told[7], "its shepherd ended with status 4");
  EXPECT_EQ(told[8], "bproc_vexecmove_io: Node is down");
  EXPECT_EQ(told[9], "its shepherd ended with status 6");
}

TEST(MoveCrew, NothingIsLeftBehind) {
  const std::vector<std::string> argv = {"/bin/sh", "-c", "trap '' TERM; while :; do wait; done"};
  const std::vector<MoveCrew::Target> targets = {{0, 0}, {1, 4}};
  {
    Result<std::unique_ptr<ShepherdCrew>> crew = MoveCrew::StartAll(Double(), targets, argv, {});
    ASSERT_TRUE(crew.ok());
  }
  EXPECT_EQ(waitpid(-1, nullptr, 0), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(MoveCrew, AProgramThatIsNotThere) {
  const std::vector<std::string> argv = {"/no/such/program"};
  const std::vector<MoveCrew::Target> targets = {{0, 0}};
  Result<std::unique_ptr<ShepherdCrew>> crew = MoveCrew::StartAll(Double(), targets, argv, {});
  ASSERT_FALSE(crew.ok());
  EXPECT_EQ(crew.status().message(),
            "bproc_vexecmove_io of /no/such/program: No such file or directory");
}

}  // namespace
}  // namespace lamina::launcher::bproc
