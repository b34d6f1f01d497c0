// SPDX-License-Identifier: BSD-3-Clause
// Where the messages of one collective go: who the peer of a step is, and which tag they have.
//
// On an intercommunicator, peers below the size of the own group are reached through its private
// intracommunicator and the others across.
#pragma once

#include <climits>

#include "runtime/core/comm.h"
#include "runtime/p2p/p2p.h"

namespace lamina::collective {

class Route {
 public:
  // The route of the next blocking collective on `comm`, with a tag for each of its strands. All
  // ranks make their routes in the same order.
  static Route Next(core::Comm* comm, std::uint32_t strands = 1) {
    Route route(comm, comm->NextTag());
    comm->collective_serial += strands - 1;
    if (route.local_ != nullptr) route.local_tag_ = route.local_->NextTag();
    return route;
  }
  // The same of the next non-blocking collective; the two kinds never match one another.
  static Route NextNonblocking(core::Comm* comm, std::uint32_t strands) {
    Route route(comm, comm->NextNonblockingTag());
    comm->nonblocking_serial += strands - 1;
    if (route.local_ != nullptr) route.local_tag_ = route.local_->NextNonblockingTag();
    return route;
  }
  // The route of persistent collective number `serial` on `comm`, for as long as it lives. Each
  // further strand takes the next serial number too. Messages of several starts match in the order
  // in which they were sent. The tag is far below MPI_ANY_TAG, where nothing else has one.
  static Route Persistent(core::Comm* comm, std::uint32_t serial) {
    return {comm, INT_MIN + static_cast<int>(serial & 0x3fffffffu)};
  }

  core::Comm* comm() const { return comm_; }
  p2p::Envelope To(Rank peer) const {
    if (local_ == nullptr) [[likely]]
      return {comm_, context_, peer, tag_};
    return Between(peer);
  }
  // The envelope for a strand; on an intracommunicator only.
  p2p::Envelope To(Rank peer, std::uint32_t strand) const {
    if (strand == 0) return To(peer);
    const auto first = static_cast<std::uint32_t>(tag_);
    const std::uint32_t tag =
        (first & ~core::Comm::kSerialMask) | ((first + strand) & core::Comm::kSerialMask);
    return {comm_, context_, peer, static_cast<int>(tag)};
  }

 private:
  p2p::Envelope Between(Rank peer) const {
    if (peer < local_->size) return {local_, local_->CollectiveContext(), peer, local_tag_};
    return {comm_, context_, peer - local_->size, tag_};
  }
  Route(core::Comm* comm, int tag)
      : comm_(comm),
        local_(comm->local),
        context_(comm->CollectiveContext()),
        tag_(tag),
        local_tag_(tag) {}

  core::Comm* comm_;
  core::Comm* local_;  // null unless `comm_` is an intercommunicator
  ContextId context_;
  int tag_;
  int local_tag_;
};

}  // namespace lamina::collective
