// SPDX-License-Identifier: BSD-3-Clause
// How the data of a long message reaches the receive that it was matched with.
//
//   fetched   out of the sender's memory, in one call
//   pushed    by the sender, in pieces, after it has been granted the receive's token
//   accepted  from the transport, which lent it
//
// Which of the first two is faster is learned for each peer and size (ways.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/core/request.h"
#include "runtime/p2p/header.h"
#include "runtime/p2p/lanes.h"
#include "runtime/p2p/scratch.h"
#include "runtime/p2p/token.h"
#include "runtime/p2p/ways.h"
#include "transports/transport.h"

namespace lamina::p2p {

class Rendezvous {
 public:
  // `may_push`: peers may be asked to push what could also be fetched.
  Rendezvous(Lanes& lanes, TokenTable& tokens, Scratch& scratch, PeerId self, bool may_push)
      : lanes_(lanes), tokens_(tokens), scratch_(scratch), self_(self), may_push_(may_push) {}

  // Fetches an offered message, or asks for it to be pushed.
  void Begin(core::Request* request, const Origin& origin, const Offer& offer);
  // Takes a message of `bytes` bytes that lies with the transport.
  void Accept(core::Request* request, const Origin& origin, std::uint64_t bytes,
              transport::Parcel* parcel);
  // How many of these are under way.
  static std::uint64_t accepting() { return accepting_; }
  // A piece that was pushed. False: the frame makes no sense.
  bool Data(PeerId from, const transport::Header& header, std::span<const std::byte> payload);

 private:
  Way ChooseWay(Lane& lane, const Offer& offer, std::uint64_t bytes);
  bool Fetch(core::Request* request, Lane& lane, const Offer& offer);
  void Finish(core::Request* request);

  inline static constinit std::uint64_t accepting_ = 0;  // of this process
  Lanes& lanes_;
  TokenTable& tokens_;
  Scratch& scratch_;
  const PeerId self_;
  const bool may_push_;
  std::uint32_t lanes_with_ways_ = 0;
};

}  // namespace lamina::p2p
