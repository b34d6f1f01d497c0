// SPDX-License-Identifier: BSD-3-Clause
// How p2p comes to rest for a checkpoint, and goes on.
//
// To come to rest, a process receives, sends nothing more, and puts one marker behind its last
// frame on every lane. Frames of a lane arrive in order, so once every marker that was sent in the
// job has been received nothing is on its way. Requests, queues and tables are plain memory and
// stay as they are; endpoints and transports are destroyed and made again.
//
// A long message that a transport has lent and that is being fetched is waited for. One that nobody
// has matched yet keeps its place in the receiver's queue, and its sender offers it anew, under its
// number among all parcels to that peer. If the receiver does not have it, it has been received.
//
// Only runtime/assembly needs this.
//
// Threads: the caller holds the library lock from Begin() to End(), and no other thread naps.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "runtime/core/process.h"
#include "runtime/p2p/lifetime.h"

namespace lamina::p2p {

class RestingLanes;

class Rest {
 public:
  Rest(core::Process* process, Engine* engine);
  ~Rest();
  Rest(const Rest&) = delete;
  Rest& operator=(const Rest&) = delete;

  // Gets the library lock, which another thread may hold in a call, and returns once no other
  // thread is inside the library. It waits as long as that takes.
  void TakeLibrary();
  void GiveLibrary();

  // `epoch` numbers the checkpoint; the ranks `ended` get no markers, because they take none.
  void Begin(std::uint32_t epoch, std::span<const std::uint32_t> ended);
  struct Sums {
    bool all_sent = false;
    std::uint64_t sent = 0;      // markers of this checkpoint
    std::uint64_t received = 0;  // likewise; fewer while lent messages are being fetched
  };
  // Receives what has come, and sends the markers that there is room for.
  Sums Settle();
  // Destroys endpoints and transports. AddCarrier() and PublishCard() precede End() then.
  void LetGo();
  void End();

 private:
  core::Process* const process_;
  Engine* const engine_;
  const std::unique_ptr<RestingLanes> lanes_;
  std::uint32_t epoch_ = 0;
};

}  // namespace lamina::p2p
