// SPDX-License-Identifier: BSD-3-Clause
// Follows the messages of a traced process: from the call in which each leaves to the one in which
// it meets its receive, and how many bytes are on their way meanwhile.
//
// Messages from one peer to another arrive in the order in which they leave. So both sides count
// them, and no number travels. A process that is not traced has none of this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "runtime/p2p/header.h"
#include "runtime/p2p/match_spaces.h"
#include "transports/transport.h"

namespace lamina::p2p {

// It stands before the engine as the Inbox of the transports.
class Flows final : public transport::Inbox {
 public:
  Flows(transport::Inbox& engine, MatchSpaces& spaces);
  ~Flows() override;

  PeerId Identify(transport::ProcessName name) override { return engine_.Identify(name); }
  void Arrived(PeerId from, const transport::Header& header,
               std::span<const std::byte> payload) override;
  void Offered(PeerId from, const transport::Header& header, std::size_t bytes,
               transport::Parcel* parcel) override;
  void Lost(PeerId peer, Status why) override { engine_.Lost(peer, std::move(why)); }
  void Left(PeerId peer) override { engine_.Left(peer); }

  // A frame has left.
  void Leaves(PeerId to, const transport::Frame& frame);
  // A message of so many bytes is lent to the transport, which says `done` in the end. Returns
  // what the transport is to be given instead.
  transport::Completion* Lend(std::uint64_t bytes, transport::Completion* done);
  // The transport has not taken it.
  static void TakeBack(transport::Completion* lent);
  // A message that was unexpected meets its receive.
  void Meets(ContextId context, std::uint64_t serial);

 private:
  struct Known {
    PeerId from;
    std::uint64_t number;
  };
  std::uint64_t Number(PeerId from, const transport::Header& header);
  void Place(PeerId from, const transport::Header& header, std::uint64_t number,
             std::uint64_t unexpected_before);
  void Answered(PeerId from, const transport::Header& header, std::span<const std::byte> payload);
  void Pushed(PeerId to, const transport::Frame& frame);
  void SetInFlight(std::uint64_t bytes);

  transport::Inbox& engine_;
  MatchSpaces& spaces_;
  std::unordered_map<std::uint32_t, std::uint64_t> sent_;      // messages, by PeerId
  std::unordered_map<std::uint32_t, std::uint64_t> received_;  // the same
  // Unexpected messages, by context and serial number.
  std::map<std::pair<std::uint64_t, std::uint64_t>, Known> unexpected_;
  std::unordered_map<std::uint64_t, std::uint64_t> offered_;  // bytes, by our token
  // The bytes that have not been pushed, by peer and its token.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> pushed_;
  std::uint64_t in_flight_ = 0;
};

extern Flows* flows;  // null: the process is not traced

}  // namespace lamina::p2p
