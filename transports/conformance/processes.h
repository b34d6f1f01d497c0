// SPDX-License-Identifier: BSD-3-Clause
// Forked processes for a test, and the little they need to find each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace lamina::conformance {

using Bytes = std::vector<std::byte>;

// Inside one of the processes.
class Member {
 public:
  Member(std::uint32_t rank, std::uint32_t count, int socket)
      : rank_(rank), count_(count), socket_(socket) {}
  std::uint32_t rank() const { return rank_; }
  std::uint32_t count() const { return count_; }
  // Everybody's `mine`, by rank; empty for those that have ended. Also a barrier among the living.
  std::vector<Bytes> Exchange(const Bytes& mine);
  void Barrier() { Exchange({}); }

 private:
  const std::uint32_t rank_;
  const std::uint32_t count_;
  const int socket_;
};

// Runs `body` in `count` processes and waits for them, at most a minute, then kills them. A failure
// in any of them, or its death by anything but SIGKILL, is a failure here.
void RunProcesses(std::uint32_t count, const std::function<void(Member&)>& body);

}  // namespace lamina::conformance
