// SPDX-License-Identifier: BSD-3-Clause
// The 16 bytes every frame of p2p starts with; README.md has the byte table.
#pragma once

#include <cstdint>

#include "runtime/base/ids.h"
#include "transports/transport.h"

namespace lamina::p2p {

enum class FrameKind : std::uint8_t {
  kEager = 1,        // the message itself
  kEagerSync = 2,    // the same, and the sender wants to hear of the match
  kReadyToSend = 3,  // a rendezvous begins: Offer in the payload
  kClearToSend = 4,  // push it: Grant in the payload
  kData = 5,         // a piece of a pushed message
  kDone = 6,         // the receiver has fetched it all, or matched an kEagerSync
  kGoodbye = 7,      // this process will send nothing more
  kNudge = 8,        // nothing; ends a sleep
  kParcel = 9,       // the message itself, by SendZeroCopy: it lies with its sender until accepted
  kWithdraw = 10,    // the sender wants a kEagerSync or kReadyToSend back, if it is not matched
  kWithdrawn = 11,   // nobody had, and nobody will
};

// word 0: kind in the top 8 bits; below, the context, or a byte offset (kData).
// word 1: source rank and tag of a message to match, or the token of a request.
inline constexpr int kKindShift = 56;
inline constexpr std::uint64_t kLowMask = (std::uint64_t{1} << kKindShift) - 1;

constexpr transport::Header PackMatch(FrameKind kind, ContextId context, Rank source, int tag) {
  return {{(static_cast<std::uint64_t>(kind) << kKindShift) | Index(context),
           (static_cast<std::uint64_t>(static_cast<std::uint32_t>(source)) << 32) |
               static_cast<std::uint32_t>(tag)}};
}

constexpr transport::Header PackToken(FrameKind kind, std::uint64_t token,
                                      std::uint64_t offset = 0) {
  return {{(static_cast<std::uint64_t>(kind) << kKindShift) | (offset & kLowMask), token}};
}

constexpr FrameKind KindOf(const transport::Header& header) {
  return static_cast<FrameKind>(header.words[0] >> kKindShift);
}
constexpr ContextId ContextOf(const transport::Header& header) {
  return ContextId{header.words[0] & kLowMask};
}
constexpr std::uint64_t OffsetOf(const transport::Header& header) {
  return header.words[0] & kLowMask;
}
constexpr Rank SourceOf(const transport::Header& header) {
  return static_cast<Rank>(header.words[1] >> 32);
}
constexpr int TagOf(const transport::Header& header) {
  return static_cast<int>(static_cast<std::uint32_t>(header.words[1]));
}
// Where a message comes from, by what matching and the status want to know.
struct Origin {
  PeerId from;
  Rank source;  // in the communicator
  int tag;
};
constexpr Origin OriginOf(PeerId from, const transport::Header& header) {
  return {from, SourceOf(header), TagOf(header)};
}
constexpr std::uint64_t TokenOf(const transport::Header& header) { return header.words[1]; }

// Payload of kReadyToSend.
struct Offer {
  std::uint64_t bytes;  // of the whole message
  std::uint64_t token;  // the sender's request
  std::uint64_t
      address;  // where it lies in the sender's memory; 0: not in one piece, must be pushed
};
// Payload of kClearToSend; the header carries the sender's token.
struct Grant {
  std::uint64_t token;  // the receiver's request
  std::uint64_t bytes;  // how many are wanted: less than offered if the receive buffer is smaller
};

}  // namespace lamina::p2p
