// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/counted_endpoint.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "runtime/p2p/flows.h"
#include "runtime/p2p/header.h"
#include "runtime/trace/profile.h"

namespace lamina::p2p {
namespace {

class CountedEndpoint final : public transport::Endpoint {
 public:
  CountedEndpoint(std::unique_ptr<transport::Endpoint> endpoint, PeerId peer)
      : endpoint_(std::move(endpoint)), peer_(peer) {}

  transport::EndpointCaps caps() const override { return endpoint_->caps(); }
  Code SendShort(const transport::Frame& frame) override {
    const Code code = endpoint_->SendShort(frame);
    if (code == Code::kOk) Count(frame);
    return code;
  }
  Code SendZeroCopy(const transport::Frame& frame, transport::Completion* done) override {
    transport::Completion* const lent =
        flows != nullptr ? flows->Lend(frame.payload.size(), done) : done;
    const Code code = endpoint_->SendZeroCopy(frame, lent);
    if (code == Code::kOk)
      Count(frame);
    else if (lent != done)
      Flows::TakeBack(lent);
    return code;
  }
  Code Get(const transport::Region& from, std::uint64_t offset, std::span<std::byte> into,
           transport::Completion* done) override {
    return endpoint_->Get(from, offset, into, done);
  }
  transport::OneSided* one_sided() override { return endpoint_->one_sided(); }

 private:
  // A message counts when its first frame leaves; answers and pieces are no messages.
  void Count(const transport::Frame& frame) const {
    if (flows != nullptr) flows->Leaves(peer_, frame);
    std::uint64_t bytes = frame.payload.size();
    bool rendezvous = false;
    switch (KindOf(frame.header)) {
      case FrameKind::kEager:
        break;
      case FrameKind::kEagerSync:
        bytes -= sizeof(std::uint64_t);  // the token in front
        break;
      case FrameKind::kParcel:
        rendezvous = true;
        break;
      case FrameKind::kReadyToSend: {
        Offer offer;
        std::memcpy(&offer, frame.payload.data(), sizeof offer);
        bytes = offer.bytes;
        rendezvous = true;
        break;
      }
      default:
        return;
    }
    trace::NoteSent({Index(peer_), bytes, rendezvous, IsOwn(ContextOf(frame.header))});
  }

  const std::unique_ptr<transport::Endpoint> endpoint_;
  const PeerId peer_;
};

}  // namespace

std::unique_ptr<transport::Endpoint> Counted(std::unique_ptr<transport::Endpoint> endpoint,
                                             PeerId peer, std::string_view carrier) {
  trace::NoteCarrier(Index(peer), carrier);
  return std::make_unique<CountedEndpoint>(std::move(endpoint), peer);
}

}  // namespace lamina::p2p
