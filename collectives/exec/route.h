// SPDX-License-Identifier: BSD-3-Clause
// Where the messages of one collective go: who a step's peer is, and under which tag.
//
// On an intercommunicator peers below the size of the own group are reached through its private
// intracommunicator, the others across.
#pragma once

#include <climits>

#include "runtime/core/comm.h"
#include "runtime/p2p/p2p.h"

namespace lamina::collective {

class Route {
 public:
  // Of the next collective on `comm`; all ranks make it in the same order.
  explicit Route(core::Comm* comm) : Route(comm, comm->NextTag()) {
    if (local_ != nullptr) local_tag_ = local_->NextTag();
  }
  // Of persistent collective number `serial` on `comm`, for as long as it lives. Its messages of
  // several starts match in the order in which they were sent. The tag is one that nothing else
  // has: far below MPI_ANY_TAG.
  static Route Persistent(core::Comm* comm, std::uint32_t serial) {
    return {comm, INT_MIN + static_cast<int>(serial & 0x3fffffffu)};
  }

  p2p::Envelope To(Rank peer) const {
    if (local_ == nullptr) [[likely]]
      return {comm_, context_, peer, tag_};
    if (peer < local_->size) return {local_, local_->CollectiveContext(), peer, local_tag_};
    return {comm_, context_, peer - local_->size, tag_};
  }

 private:
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
