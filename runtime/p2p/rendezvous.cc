// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/rendezvous.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include "runtime/base/clock.h"
#include "runtime/datatype/datatype.h"
#include "runtime/memory/copy.h"
#include "runtime/p2p/tuning.h"
#include "runtime/trace/trace.h"

namespace lamina::p2p {

using core::Request;

namespace {

// Writes down what is known of the message. What does not fit stays behind.
void Describe(Request* request, const Origin& origin, std::uint64_t bytes) {
  const auto room = static_cast<std::uint64_t>(request->buffer.bytes());
  request->from = origin.from;
  request->source = origin.source;
  request->tag = origin.tag;
  request->bytes = static_cast<std::int64_t>(std::min(room, bytes));
  request->error = bytes > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  request->moved = 0;
  trace::Count(trace::Counter::kRendezvousReceived);
  trace::Count(trace::Counter::kRendezvousReceivedBytes,
               static_cast<std::uint64_t>(request->bytes));
}

}  // namespace

void Rendezvous::Begin(Request* request, const Origin& origin, const Offer& offer) {
  Describe(request, origin, offer.bytes);
  const auto wanted = static_cast<std::uint64_t>(request->bytes);
  Lane& lane = lanes_.To(origin.from);
  const bool push = wanted != 0 && ChooseWay(lane, offer, wanted) == Way::kPush;
  if (wanted == 0 || (!push && offer.address != 0 && Fetch(request, lane, offer))) {
    lanes_.SendAnswer(lane, PackToken(FrameKind::kDone, offer.token));
    return core::Finish(request, request->error);
  }
  if (lane.ways != nullptr) lane.ways->Granted(MonotonicNs());
  request->remote_request = tokens_.Add(request);
  const Grant grant{request->remote_request, wanted};
  lanes_.SendAnswer(lane, PackToken(FrameKind::kClearToSend, offer.token), &grant);
}

// The data goes straight into the receive's buffer, if that is contiguous and large enough.
void Rendezvous::Accept(Request* request, const Origin& origin, std::uint64_t bytes,
                        transport::Parcel* parcel) {
  Describe(request, origin, bytes);
  if (request->bytes == 0) {
    parcel->Drop();
    return core::Finish(request, request->error);
  }
  std::byte* into = request->buffer.data();
  if (!request->buffer.contiguous() || request->error != MPI_SUCCESS) {
    request->staging = into = static_cast<std::byte*>(std::malloc(bytes));
    if (into == nullptr) {
      parcel->Drop();
      return core::Finish(request, MPI_ERR_NO_MEM);
    }
  }
  request->completion.owner = request;
  request->completion.done = [](transport::Completion* self, Code code) {
    --accepting_;
    Request* owner = static_cast<Request::OwnedCompletion*>(self)->owner;
    if (owner->staging != nullptr && code == Code::kOk)
      datatype::Unpack({owner->staging, static_cast<std::size_t>(owner->bytes)}, 0, owner->buffer);
    std::free(std::exchange(owner->staging, nullptr));
    core::Finish(owner, code == Code::kOk ? owner->error : MPI_ERR_PROC_ABORTED);
  };
  ++accepting_;
  parcel->Accept({into, bytes}, &request->completion);
}

// Where both ways are open, the choice is what has been learned about this peer.
Way Rendezvous::ChooseWay(Lane& lane, const Offer& offer, std::uint64_t bytes) {
  if (offer.address == 0 || lane.caps.get_bytes_max == 0) return Way::kPush;
  if (lane.ways == nullptr) {
    if (!may_push_ || lane.peer == self_ || lanes_with_ways_ == kLanesWithWaysMax)
      return Way::kFetch;
    ++lanes_with_ways_;
    lane.ways = std::make_unique<Ways>();
  }
  return lane.ways->Choose(bytes);
}

// Fetches the whole message out of the sender's memory. False: that cannot be done here.
bool Rendezvous::Fetch(Request* request, Lane& lane, const Offer& offer) {
  if (lane.lost || lane.caps.get_bytes_max == 0) return false;
  const std::uint64_t began_ns = lane.ways != nullptr ? MonotonicNs() : 0;
  const transport::Region region{offer.address, offer.bytes};
  transport::Completion ignored{[](transport::Completion*, Code) {}};
  const std::uint64_t wanted = static_cast<std::uint64_t>(request->bytes);
  constexpr std::uint64_t kPage = 4096;
  const bool straight =
      request->buffer.contiguous() && !memory::SlowToMove(request->buffer.data(), offer.address);
  for (std::uint64_t moved = 0; moved < wanted;) {
    std::uint64_t piece = std::min(wanted - moved, lane.caps.get_bytes_max);
    std::span<std::byte> into;
    if (straight) {
      into = {request->buffer.data() + moved, piece};
    } else {
      piece = std::min(piece, kUnpackedPieceBytes);
      std::byte* const room = scratch_.Take(piece + kPage);
      // The copy has the same offset in its page as the source, because some processors copy
      // slowly otherwise (memory/copy.h).
      const auto begin = reinterpret_cast<std::uintptr_t>(room);
      into = {room + (offer.address + moved - begin) % kPage, piece};
    }
    const Code code = lane.endpoint->Get(region, moved, into, &ignored);
    if (code != Code::kOk) {
      lane.caps = lane.endpoint->caps();
      lane.caps.get_bytes_max = code == Code::kDenied ? 0 : lane.caps.get_bytes_max;
      return false;
    }
    if (!straight) datatype::Unpack(into, static_cast<std::int64_t>(moved), request->buffer);
    moved += piece;
  }
  trace::Count(trace::Counter::kZeroCopyReceived);
  trace::Count(trace::Counter::kZeroCopyReceivedBytes, wanted);
  if (lane.ways != nullptr) lane.ways->Fetched(wanted, began_ns, MonotonicNs());
  return true;
}

bool Rendezvous::Data(PeerId from, const transport::Header& header,
                      std::span<const std::byte> payload) {
  Request* request = tokens_.Find(TokenOf(header));
  const std::uint64_t offset = OffsetOf(header);
  if (request == nullptr || request->type != Request::Type::kReceive || request->from != from ||
      offset > static_cast<std::uint64_t>(request->bytes) ||
      payload.size() > static_cast<std::uint64_t>(request->bytes) - offset)
    return false;
  datatype::Unpack(payload, static_cast<std::int64_t>(offset), request->buffer);
  request->moved += static_cast<std::int64_t>(payload.size());
  if (request->moved == request->bytes) Finish(request);
  return true;
}

void Rendezvous::Finish(Request* request) {
  tokens_.Remove(request->remote_request);
  request->remote_request = 0;
  Lane& lane = lanes_.To(request->from);
  if (lane.ways != nullptr)
    lane.ways->Pushed(static_cast<std::uint64_t>(request->bytes), MonotonicNs());
  core::Finish(request, request->error);
}

}  // namespace lamina::p2p
