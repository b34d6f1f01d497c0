// SPDX-License-Identifier: BSD-3-Clause
// Messages of a window that nobody waits for one by one: their memory is kept until they have left.
//
// Threads:    the caller holds the library lock at MPI_THREAD_MULTIPLE.
// Allocation: one piece of memory for each message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "runtime/core/comm.h"
#include "runtime/core/request.h"
#include "runtime/p2p/p2p.h"

namespace lamina::rma {

class Messages {
 public:
  explicit Messages(core::Comm* comm) : comm_(comm) {}
  ~Messages();
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  // Sends `bytes`, which it takes over.
  void Send(Rank to, int tag, std::vector<std::byte> bytes);
  // Sends what the caller does not change before the message has left.
  void SendLent(Rank to, int tag, std::span<const std::byte> bytes);
  // True if that process is known to be gone.
  bool IsGone(Rank rank);
  // True if some message will never arrive.
  bool any_lost() const { return any_lost_; }
  // How many have not left.
  std::size_t under_way();
  // Waits until fewer than `count` have not left.
  void WaitForRoom(std::size_t count);

  p2p::Envelope At(Rank rank, int tag) const { return {comm_, comm_->context, rank, tag}; }
  core::Comm* comm() const { return comm_; }

 private:
  struct Message {
    core::Request* request = nullptr;
    std::vector<std::byte> bytes;
  };
  void Start(Rank to, int tag, std::span<const std::byte> bytes, std::vector<std::byte> kept);
  void Reap();
  void Retire(core::Request* request);

  core::Comm* const comm_;
  bool any_lost_ = false;
  std::list<Message> sent_;
};

}  // namespace lamina::rma
