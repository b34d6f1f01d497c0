// SPDX-License-Identifier: BSD-3-Clause
#include "transports/conformance/processes.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace lamina::conformance {

namespace {

constexpr std::size_t kBlobBytesMax = 4096;
constexpr std::chrono::seconds kTimeLimit{60};

struct Child {
  pid_t pid = -1;
  int socket = -1;
  bool living = true;
  bool waiting = false;  // in Exchange()
  Bytes blob;
};

[[noreturn]] void RunChild(const std::function<void(Member&)>& body, std::uint32_t rank,
                           std::uint32_t count, int socket) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Member member(rank, count, socket);
  body(member);
  std::fflush(stdout);
  _exit(testing::Test::HasFailure() ? 1 : 0);
}

void Receive(Child* child) {
  child->blob.resize(kBlobBytesMax);
  const ssize_t got = recv(child->socket, child->blob.data(), kBlobBytesMax, 0);
  child->living = got > 0;
  child->waiting = got > 0;
  child->blob.resize(got > 0 ? static_cast<std::size_t>(got - 1) : 0);  // one byte says "here"
}

// Once all the living wait, everybody gets everything.
void Answer(std::vector<Child>* children) {
  for (const Child& child : *children)
    if (child.living && !child.waiting) return;
  for (Child& to : *children) {
    if (!to.living) continue;
    to.waiting = false;
    for (const Child& from : *children) {
      Bytes blob = from.living ? from.blob : Bytes();
      blob.push_back(std::byte{1});
      send(to.socket, blob.data(), blob.size(), MSG_NOSIGNAL);
    }
  }
}

void Serve(std::vector<Child>* children) {
  const auto deadline = std::chrono::steady_clock::now() + kTimeLimit;
  for (;;) {
    std::vector<pollfd> waiting;
    std::vector<Child*> whose;
    for (Child& child : *children) {
      if (!child.living) continue;
      waiting.push_back({child.socket, POLLIN, 0});
      whose.push_back(&child);
    }
    if (waiting.empty()) return;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0 ||
        poll(waiting.data(), waiting.size(), static_cast<int>(left.count())) <= 0) {
      ADD_FAILURE() << "the processes did not end in time";
      return;
    }
    for (std::size_t i = 0; i < waiting.size(); ++i)
      if (waiting[i].revents != 0) Receive(whose[i]);
    Answer(children);
  }
}

}  // namespace

std::vector<Bytes> Member::Exchange(const Bytes& mine) {
  Bytes blob = mine;
  blob.push_back(std::byte{1});
  if (send(socket_, blob.data(), blob.size(), MSG_NOSIGNAL) < 0) _exit(3);
  std::vector<Bytes> all(count_);
  for (Bytes& it : all) {
    it.resize(kBlobBytesMax + 1);
    const ssize_t got = recv(socket_, it.data(), it.size(), 0);
    if (got <= 0) _exit(3);
    it.resize(static_cast<std::size_t>(got - 1));
  }
  return all;
}

void RunProcesses(std::uint32_t count, const std::function<void(Member&)>& body) {
  std::fflush(stdout);
  std::vector<Child> children(count);
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    int sockets[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
    children[rank].socket = sockets[0];
    children[rank].pid = fork();
    if (children[rank].pid == 0) {
      for (const Child& other : children)
        if (other.socket >= 0) close(other.socket);
      RunChild(body, rank, count, sockets[1]);
    }
    close(sockets[1]);
  }
  Serve(&children);
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    if (children[rank].living) kill(children[rank].pid, SIGKILL);
    int status = 0;
    waitpid(children[rank].pid, &status, 0);
    close(children[rank].socket);
    if (WIFEXITED(status)) {
      EXPECT_EQ(WEXITSTATUS(status), 0) << "process " << rank;
    } else if (WTERMSIG(status) != SIGKILL) {
      ADD_FAILURE() << "process " << rank << " died of " << strsignal(WTERMSIG(status));
    }
  }
}

}  // namespace lamina::conformance
