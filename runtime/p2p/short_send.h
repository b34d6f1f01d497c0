// SPDX-License-Identifier: BSD-3-Clause
// The shortest walk of a message: from a call of the api to a transport, without a request.
//
// It is inlined into its callers, so that one indirect call is all there is between them and the
// transport. Everybody else sends by p2p.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/p2p/header.h"
#include "runtime/p2p/lanes.h"
#include "runtime/p2p/p2p.h"
#include "runtime/trace/trace.h"

namespace lamina::p2p {

// The lanes of this process's engine.
Lanes& TheLanes();

// Sends a message that may go at once. False: it is too long, scattered, or has to wait its turn,
// and nothing has happened.
[[gnu::always_inline]] inline bool TrySendNow(const Envelope& to, const Buffer& data) {
  Lane& lane = TheLanes().To(to.comm->peers[to.peer]);
  const std::int64_t bytes = data.bytes();
  if (bytes > lane.fast_bytes_max || !data.contiguous()) [[unlikely]]
    return false;
  const transport::Frame frame{PackMatch(FrameKind::kEager, to.context, to.comm->rank, to.tag),
                               {data.data(), static_cast<std::size_t>(bytes)}};
  if (lane.endpoint->SendShort(frame) != Code::kOk) return false;
  trace::Count(trace::Counter::kEagerSent);
  trace::Count(trace::Counter::kEagerSentBytes, static_cast<std::uint64_t>(bytes));
  return true;
}

}  // namespace lamina::p2p
