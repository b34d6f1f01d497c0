// SPDX-License-Identifier: BSD-3-Clause
// The 16 bytes every frame of p2p starts with; README.md has the byte table.
#pragma once

#include <cstdint>

#include "runtime/base/ids.h"
#include "transports/transport.h"

namespace lamina::p2p {

enum class FrameKind : std::uint8_t {
  kEager = 1,        // the message itself
  kEagerSync = 2,    // the same, and the sender wants to be told when it is matched
  kReadyToSend = 3,  // the sender offers a long message: an Offer in the payload
  kClearToSend = 4,  // the receiver asks for it to be pushed: a Grant in the payload
  kData = 5,         // a piece of a message that is pushed
  kDone = 6,         // the receiver has fetched everything, has matched a kEagerSync, or keeps what
                     // it was asked to give back
  kGoodbye = 7,      // the sender will send nothing more
  kNudge = 8,        // carries nothing; it ends a sleep
  kParcel = 9,       // the message itself, by SendZeroCopy: it stays with its sender until accepted
  kWithdraw = 10,    // the sender wants an unmatched message back: the number of a kParcel among
                     // all to this peer, from 1, or 0 and the token of any other
  kWithdrawn = 11,   // it was unmatched, and is given back
  kMarker = 12,      // the last frame before the job comes to rest (rest.h)
  kReoffer = 13,     // a kParcel that lay with a transport when the job came to rest lies in memory
                     // now: its number, the sender's token, and a Grant in the payload with the
                     // address where another has a token
};

// Word 0 holds the kind above this bit, and below it the context or, for kData, a byte offset.
// Word 1 holds the source rank and the tag of a message to match, or the token of a request.
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
constexpr std::uint64_t TokenOf(const transport::Header& header) { return header.words[1]; }

// Where a message comes from, as far as matching and the status want to know.
struct Origin {
  PeerId from;
  Rank source;  // in the communicator
  int tag;
};
constexpr Origin OriginOf(PeerId from, const transport::Header& header) {
  return {from, SourceOf(header), TagOf(header)};
}

// Payload of kReadyToSend.
struct Offer {
  std::uint64_t bytes;    // of the whole message
  std::uint64_t token;    // of the sender's request
  std::uint64_t address;  // in the sender's memory; 0: it is scattered and must be pushed
};
// Payload of kClearToSend. The header carries the sender's token.
struct Grant {
  std::uint64_t token;  // of the receiver's request
  std::uint64_t bytes;  // how many are wanted, fewer than offered if the buffer is smaller
};

}  // namespace lamina::p2p
