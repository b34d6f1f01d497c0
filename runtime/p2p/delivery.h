// SPDX-License-Identifier: BSD-3-Clause
// How messages meet receives: posted receives wait for messages, unexpected messages for receives.
//
// Frames come from other processes, so nothing in them is believed. What makes no sense is refused,
// and the engine says so.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/core/request.h"
#include "runtime/datatype/datatype.h"
#include "runtime/memory/copy.h"
#include "runtime/p2p/header.h"
#include "runtime/p2p/lanes.h"
#include "runtime/p2p/match_spaces.h"
#include "runtime/p2p/message_pool.h"
#include "runtime/p2p/rendezvous.h"
#include "runtime/trace/trace.h"
#include "transports/transport.h"

namespace lamina::p2p {

class Delivery {
 public:
  Delivery(Lanes& lanes, Rendezvous& rendezvous)
      : spaces_(messages_), lanes_(lanes), rendezvous_(rendezvous) {}

  MatchSpaces& spaces() { return spaces_; }
  const MatchSpaces& spaces() const { return spaces_; }

  // Starts a receive that PrepareReceive() has filled in.
  void Start(core::Request* request);
  // Receives a message that is in no space any more, and takes ownership of it.
  [[gnu::noinline]] void Receive(core::Request* request, Message* message);
  // True: the receive had matched nothing and completes as cancelled.
  bool Cancel(core::Request* request);

  // Frames by kind. False: the frame makes no sense.
  void Eager(PeerId from, const transport::Header& header, std::span<const std::byte> payload) {
    const Origin origin = OriginOf(from, header);
    core::Request* request = spaces_.Of(ContextOf(header)).TakePosted(origin.source, origin.tag);
    if (request != nullptr) [[likely]]
      return Deliver(request, origin, payload);
    Keep(from, header, {payload.size(), 0, 0}, nullptr, payload);
  }
  bool EagerSync(PeerId from, const transport::Header& header, std::span<const std::byte> payload);
  bool Offered(PeerId from, const transport::Header& header, std::span<const std::byte> payload);
  void Lent(PeerId from, const transport::Header& header, std::size_t bytes,
            transport::Parcel* parcel);
  void Withdraw(PeerId from, const transport::Header& header);
  bool Reoffered(PeerId from, const transport::Header& header, std::span<const std::byte> payload);

  // The transports are about to end. Messages that lie there keep their places, and their senders
  // will offer them anew.
  void DropParcels();
  // Takes out the receives that wait for this peer to do so.
  std::vector<core::Request*> TakePromised(PeerId from);

 private:
  [[gnu::noinline]] void ReceiveOther(core::Request* request, Message* message);
  static void Deliver(core::Request* request, const Origin& origin,
                      std::span<const std::byte> data);
  void Keep(PeerId from, const transport::Header& header, const Offer& offer,
            transport::Parcel* parcel, std::span<const std::byte> payload);

  // A receive that was matched with a message that will be offered anew.
  struct Promise {
    core::Request* request;
    Origin origin;
    std::uint64_t number;  // of the parcel
  };
  std::vector<Promise> promised_;
  std::unordered_map<std::uint32_t, std::uint64_t> parcels_;  // how many have come, by PeerId
  MessagePool messages_;
  MatchSpaces spaces_;
  Lanes& lanes_;
  Rendezvous& rendezvous_;
};

[[gnu::always_inline]] inline void Delivery::Deliver(core::Request* request, const Origin& origin,
                                                     std::span<const std::byte> data) {
  const std::int64_t room = request->buffer.bytes();
  const std::int64_t bytes = std::min(room, static_cast<std::int64_t>(data.size()));
  if (request->buffer.contiguous()) {
    memory::CopyMostlyShort(request->buffer.data(), data.data(), static_cast<std::size_t>(bytes));
  } else {
    datatype::UnpackFresh(data.first(static_cast<std::size_t>(bytes)), request->buffer);
  }
  request->from = origin.from;
  request->source = origin.source;
  request->tag = origin.tag;
  request->bytes = bytes;
  trace::Count(trace::Counter::kEagerReceived);
  trace::Count(trace::Counter::kEagerReceivedBytes, static_cast<std::uint64_t>(bytes));
  core::Finish(request,
               static_cast<std::int64_t>(data.size()) > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
}

}  // namespace lamina::p2p
