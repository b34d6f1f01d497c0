// SPDX-License-Identifier: BSD-3-Clause
// The lanes of a process while its job is at rest.
//
//   Close ──> SendMarkers, until all have gone ──> Disconnect ──> Reopen
//                                       └─────────────────────────^
//
// A closed lane has an endpoint that has no room, so what would be sent waits in the lane as it
// does behind a full ring. Nothing on the path of a message knows of this.
//
// Threads: as Lanes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/p2p/lanes.h"

namespace lamina::p2p {

class RestingLanes {
 public:
  explicit RestingLanes(Lanes& lanes) : lanes_(lanes) {}
  RestingLanes(const RestingLanes&) = delete;
  RestingLanes& operator=(const RestingLanes&) = delete;

  // Closes all lanes, and those that will be made. Markers carry `epoch`; peers with the numbers
  // `ended` get none.
  void Close(std::uint32_t epoch, std::span<const std::uint32_t> ended);
  // Sends a marker on every lane that was up, as far as there is room. True: all have gone.
  bool SendMarkers();
  std::uint64_t markers_sent() const { return markers_sent_; }
  // Destroys all endpoints.
  void Disconnect();
  // Opens the lanes again. Those that have lost their endpoints are connected when they are needed,
  // and at once if something waits in them.
  void Reopen();

 private:
  Lanes& lanes_;
  std::vector<Lane*> unmarked_;  // lanes that wait for room for their marker
  std::uint32_t epoch_ = 0;
  std::uint64_t markers_sent_ = 0;
};

}  // namespace lamina::p2p
