// SPDX-License-Identifier: BSD-3-Clause
// How a message leaves.
//
//   short enough, contiguous         SendShort at once: one copy, no request (short_send.h)
//   short enough, not contiguous     packed into scratch, then the same
//   synchronous                      the same with the request's token in front; done when matched
//   longer, the transport lends it   a parcel, which the receiver accepts
//   longer                           an Offer: the receiver fetches the data, or grants a push
//
// What finds no room waits in the lane, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/core/request.h"
#include "runtime/p2p/header.h"
#include "runtime/p2p/lanes.h"
#include "runtime/p2p/scratch.h"
#include "runtime/p2p/token.h"
#include "transports/transport.h"

namespace lamina::p2p {

class Dispatch;

// A buffer that a transport has borrowed. It stands apart from its request, because a send that was
// cancelled may be over before the transport is.
struct Loan : transport::Completion {
  Dispatch* home = nullptr;
  core::Request* owner = nullptr;  // null: nobody waits for it any more
  std::uint64_t number = 0;        // among all parcels to this peer, from 1
  Loan* next = nullptr;            // in the free list
};

class Dispatch final : public Lanes::Sender {
 public:
  Dispatch(Lanes& lanes, TokenTable& tokens, Scratch& scratch)
      : lanes_(lanes), tokens_(tokens), scratch_(scratch) {}

  // Starts a send that PrepareSend() has filled in.
  [[gnu::noinline]] void Start(core::Request* request);
  // True: the send had not left, or its receiver has finalized, and completes as cancelled. False:
  // it has left. If it waits for its match, the receiver is asked to give it back, and it completes
  // either way.
  bool Cancel(core::Request* request);
  // Ends the sends to a peer that were asked back, because it has finalized and answers no more.
  void PeerHasLeft(PeerId peer);
  // The request no longer waits for what it has lent to a transport.
  void Detach(core::Request* request);

  // The receiver asks for the data of an offer. False: the frame makes no sense.
  bool Granted(PeerId from, const transport::Header& header, std::span<const std::byte> payload);
  // The receiver has the message, or has given it back unmatched. False: it makes no sense.
  bool Ended(PeerId from, const transport::Header& header, bool withdrawn);

  // While the job comes to rest, what a transport says of a loan is put aside: it may end because
  // the peer has let its transports go. Where ours have ended as well, the peer is told afterwards
  // where the data lies that it has not received yet.
  void BeginRest() { at_rest_ = true; }
  void TransportsHaveEnded();
  void EndRest();

  // Nobody will answer the request, and its buffer is not read any more.
  void Abandon(core::Request* request);

  // True if granted data is still to be pushed.
  bool pushing() const { return !pushing_.empty(); }
  // Pushes as far as there is room. True: something was pushed or has ended.
  bool PushAll();

  // Hands each request to `look` whose buffer a transport has borrowed.
  template <class Look>
  void EachLent(const Look& look) const {
    for (const auto& loan : loans_)
      if (loan->owner != nullptr) look(loan->owner);
  }

  // Hands each request to `look` whose data is being pushed.
  template <class Look>
  void EachPushed(const Look& look) const {
    for (const core::Request* request : pushing_) look(request);
  }

  // Lanes::Sender. kOk: the request is on its way, and complete unless it waits for an answer.
  Code TrySend(Lane& lane, core::Request* request) override;
  void FailSend(Lane& lane, core::Request* request) override;

 private:
  Code SendPacked(Lane& lane, core::Request* request, FrameKind kind);
  Code SendLong(Lane& lane, core::Request* request);
  Code SendParcel(Lane& lane, core::Request* request);
  Code SendOffer(Lane& lane, core::Request* request);
  core::Request* Awaiting(PeerId from, const transport::Header& header);
  bool Push(core::Request* request);
  void ForgetToken(core::Request* request);
  Loan* TakeLoan();
  void GiveLoan(Loan* loan);
  void Returned(Loan* loan, Code code);
  void EndAskedBack(core::Request* request, bool withdrawn);

  Lanes& lanes_;
  TokenTable& tokens_;
  Scratch& scratch_;
  std::vector<core::Request*> pushing_;
  std::vector<std::unique_ptr<Loan>> loans_;  // all there are
  Loan* free_loans_ = nullptr;
  bool at_rest_ = false;
  struct Return {
    Loan* loan;
    Code code;
  };
  std::vector<Return> returned_;  // put aside
  struct Unsettled {
    core::Request* request;
    std::uint64_t number;  // of the parcel
  };
  std::vector<Unsettled> unsettled_;
};

}  // namespace lamina::p2p
