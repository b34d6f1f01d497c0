// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/flows.h"

#include <algorithm>
#include <cstring>

#include "runtime/p2p/counted_endpoint.h"
#include "runtime/trace/profile.h"
#include "runtime/trace/trace.h"

namespace lamina::p2p {

constinit Flows* flows = nullptr;

namespace {

bool IsFollowed(const transport::Header& header) {
  switch (KindOf(header)) {
    case FrameKind::kEager:
    case FrameKind::kEagerSync:
    case FrameKind::kReadyToSend:
    case FrameKind::kParcel:
      return !IsOwn(ContextOf(header));
    default:
      return false;
  }
}

std::uint64_t UnexpectedSoFar() {
  return trace::numbers.counters[Index(trace::Counter::kUnexpected)];
}

struct Lent : transport::Completion {
  transport::Completion* theirs;
  std::uint64_t bytes;
};

}  // namespace

Flows::Flows(transport::Inbox& engine, MatchSpaces& spaces) : engine_(engine), spaces_(spaces) {
  flows = this;
}
Flows::~Flows() { flows = nullptr; }

void Flows::SetInFlight(std::uint64_t bytes) {
  in_flight_ = bytes;
  trace::NoteMark(TraceMark::kInFlight, bytes);
}

void Flows::Leaves(PeerId to, const transport::Frame& frame) {
  if (IsFollowed(frame.header)) trace::NoteMark(TraceMark::kSent, Index(to), ++sent_[Index(to)]);
  if (KindOf(frame.header) == FrameKind::kData) return Pushed(to, frame);
  if (KindOf(frame.header) != FrameKind::kReadyToSend) return;
  Offer offer;
  std::memcpy(&offer, frame.payload.data(), sizeof offer);
  offered_[offer.token] = offer.bytes;
  SetInFlight(in_flight_ + offer.bytes);
}

void Flows::Pushed(PeerId to, const transport::Frame& frame) {
  const auto found = pushed_.find({Index(to), TokenOf(frame.header)});
  if (found == pushed_.end()) return;
  const std::uint64_t bytes = std::min<std::uint64_t>(found->second, frame.payload.size());
  if ((found->second -= bytes) == 0) pushed_.erase(found);
  SetInFlight(in_flight_ - bytes);
}

transport::Completion* Flows::Lend(std::uint64_t bytes, transport::Completion* done) {
  auto* const lent = new Lent;
  lent->theirs = done;
  lent->bytes = bytes;
  lent->done = [](transport::Completion* self, Code code) {
    const Lent* const its = static_cast<Lent*>(self);
    if (flows != nullptr) flows->SetInFlight(flows->in_flight_ - its->bytes);
    transport::Completion* const theirs = its->theirs;
    delete its;
    theirs->done(theirs, code);
  };
  SetInFlight(in_flight_ + bytes);
  return lent;
}

void Flows::TakeBack(transport::Completion* lent) {
  const auto* const its = static_cast<Lent*>(lent);
  flows->SetInFlight(flows->in_flight_ - its->bytes);
  delete its;
}

std::uint64_t Flows::Number(PeerId from, const transport::Header& header) {
  return IsFollowed(header) ? ++received_[Index(from)] : 0;
}

// A message that did not become unexpected has met its receive at once.
void Flows::Place(PeerId from, const transport::Header& header, std::uint64_t number,
                  std::uint64_t unexpected_before) {
  if (number == 0) return;
  if (UnexpectedSoFar() == unexpected_before)
    return trace::NoteMark(TraceMark::kReceived, Index(from), number);
  const ContextId context = ContextOf(header);
  unexpected_[{Index(context), spaces_.Of(context).last_serial()}] = {from, number};
}

void Flows::Arrived(PeerId from, const transport::Header& header,
                    std::span<const std::byte> payload) {
  const std::uint64_t number = Number(from, header);
  const std::uint64_t before = UnexpectedSoFar();
  Answered(from, header, payload);
  engine_.Arrived(from, header, payload);
  Place(from, header, number, before);
}

void Flows::Offered(PeerId from, const transport::Header& header, std::size_t bytes,
                    transport::Parcel* parcel) {
  const std::uint64_t number = Number(from, header);
  const std::uint64_t before = UnexpectedSoFar();
  engine_.Offered(from, header, bytes, parcel);
  Place(from, header, number, before);
}

// The receiver has the message, or says how much of it is to be pushed.
void Flows::Answered(PeerId from, const transport::Header& header,
                     std::span<const std::byte> payload) {
  const FrameKind kind = KindOf(header);
  if (kind != FrameKind::kDone && kind != FrameKind::kWithdrawn && kind != FrameKind::kClearToSend)
    return;
  const auto found = offered_.find(TokenOf(header));
  if (found == offered_.end()) return;
  std::uint64_t here = found->second;
  offered_.erase(found);
  Grant grant;
  if (kind == FrameKind::kClearToSend && payload.size() == sizeof grant) {
    std::memcpy(&grant, payload.data(), sizeof grant);
    const std::uint64_t wanted = std::min(here, grant.bytes);
    if (wanted > 0) pushed_[{Index(from), grant.token}] = wanted;
    here -= wanted;
  }
  SetInFlight(in_flight_ - here);
}

void Flows::Meets(ContextId context, std::uint64_t serial) {
  const auto found = unexpected_.find({Index(context), serial});
  if (found == unexpected_.end()) return;
  trace::NoteMark(TraceMark::kReceived, Index(found->second.from), found->second.number);
  unexpected_.erase(found);
}

}  // namespace lamina::p2p
