// SPDX-License-Identifier: BSD-3-Clause
// The endpoint chosen for a peer, and what waits to go through it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "runtime/base/ids.h"
#include "runtime/core/request.h"
#include "runtime/p2p/header.h"
#include "runtime/p2p/ways.h"
#include "transports/transport.h"

namespace lamina::p2p {

struct Lane {
  // Messages of up to this many bytes may be given to SendShort at once without breaking the order.
  // It is -1 while there is no endpoint or earlier messages wait.
  std::int64_t fast_bytes_max = -1;
  transport::Endpoint* endpoint = nullptr;
  transport::EndpointCaps caps;
  PeerId peer = kNoPeer;
  bool lost = false;
  bool farewell = false;  // this peer's transport is a network and wants goodbyes
  bool goodbye_sent = false;
  bool goodbye_received = false;
  std::uint64_t parcels_lent = 0;  // to the peer, which counts them too
  bool listed = false;             // stands in the list of lanes with something waiting
  bool ended = false;              // its process was seen to have ended, which others tell
  std::unique_ptr<transport::Endpoint> owned;
  std::string lost_why;
  // Messages and offers that found no room, in order, linked through Request::next.
  core::Request* waiting_head = nullptr;
  core::Request* waiting_tail = nullptr;
  // Answers that found no room. Their order does not matter.
  struct Answer {
    transport::Header header;
    Grant grant;
    bool has_grant;
  };
  std::deque<Answer> answers;
  // What has been learned about long messages from this peer. Null: they come as they can.
  std::unique_ptr<Ways> ways;
};

}  // namespace lamina::p2p
