// SPDX-License-Identifier: BSD-3-Clause
// The lanes to all peers: made when first used, and the queues in front of them.
//
// A message may never overtake another to the same peer. So once something waits in a lane, what
// follows waits behind it, until Flush() has sent it all.
//
// Ownership:  owns lanes and endpoints; requests that wait belong to the caller.
// Allocation: one lane for each peer that is spoken to; answers that find no room.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/base/status.h"
#include "runtime/bootstrap/bootstrap.h"
#include "runtime/core/request.h"
#include "runtime/p2p/cards.h"
#include "runtime/p2p/carriers.h"
#include "runtime/p2p/header.h"
#include "runtime/p2p/lane.h"
#include "transports/transport.h"

namespace lamina::p2p {

class Lanes {
 public:
  // Knows how a message that waits in a lane is sent.
  class Sender {
   public:
    // kAgain: there is still no room, so the request stays first in its lane.
    virtual Code TrySend(Lane& lane, core::Request* request) = 0;
    // The request is out of the lane and cannot be sent any more.
    virtual void FailSend(Lane& lane, core::Request* request) = 0;

   protected:
    ~Sender() = default;
  };

  // `peers`: how many processes there are. `inbox` is told of a peer that cannot be reached.
  Lanes(std::uint32_t peers, const Carriers& carriers, Cards& cards, transport::Inbox& inbox);
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  // True if there is such a peer, whether it has been spoken to or not.
  bool Has(PeerId peer) const { return Index(peer) < peers_; }
  // Makes room for more peers.
  void Grow(std::uint32_t peers);
  // The lane to a peer that exists. It is connected on first use; one that cannot be connected is
  // lost and says why.
  Lane& To(PeerId peer) {
    Lane* lane = lanes_[Index(peer)];
    return lane != nullptr ? *lane : Connect(peer);
  }
  // The same if the peer has been spoken to, otherwise null.
  const Lane* Find(PeerId peer) const { return lanes_[Index(peer)]; }
  // True if the peer has been spoken to and may still read.
  bool Reads(PeerId peer) const {
    const Lane* lane = Known(peer);
    return lane != nullptr && !lane->lost && !lane->goodbye_received;
  }
  // True if no message from `source`, a rank of `comm`, will come any more. MPI_ANY_SOURCE is the
  // whole remote group of an intercommunicator; elsewhere it may be this process, which lives.
  bool AreLost(const core::Comm& comm, Rank source) const;
  // What the last connection goes through, and why not through what is preferred to that: "ucx
  // (not shm: it is on another node)".
  const std::string& chosen() const { return chosen_; }
  // True if any lane is lost. So nobody has to look at single lanes in a healthy job.
  bool any_lost() const { return lost_ != 0; }

  // Puts a request at the end of the lane's queue.
  void Queue(Lane& lane, core::Request* request);
  // Takes a request out of the queue. False: it does not wait there.
  bool Withdraw(Lane& lane, core::Request* request);
  // Sends an answer, or keeps it until there is room. An answer to a lost peer is dropped.
  void SendAnswer(Lane& lane, const transport::Header& header, const Grant* grant = nullptr);
  // Wakes `peer` if it sleeps in WaitUntil, so that it asks its condition again. The nudge is
  // dropped if the peer has unread answers, because such a peer does not sleep.
  void Nudge(PeerId peer);

  // True if something waits in any lane.
  bool waiting() const { return !waiting_lanes_.empty(); }
  // Hands each request to `look` that waits in a lane.
  template <class Look>
  void EachWaiting(const Look& look) const {
    for (const Lane* lane : waiting_lanes_)
      for (const core::Request* request = lane->waiting_head; request != nullptr;
           request = request->next)
        look(request);
  }
  // Sends what waits as far as there is room. True: something was sent or failed.
  bool Flush(Sender& sender);

  // Marks the lane as lost. False: it was lost before, or nobody has spoken to that peer. At rest
  // it is false as well: a peer that has let its transports go looks as if it were lost. The inbox
  // is told of such a loss again afterwards, if this process has kept its transports.
  bool Lose(PeerId peer, Status why);
  // The same for a peer that nobody has spoken to. False: somebody has.
  bool LoseUnmet(PeerId peer, Status why);

  // Says goodbye to every network peer that has not been told yet. Their stale lanes are connected.
  void SayGoodbye();
  // Says it to one peer, whatever its transport, unless it has been told.
  void SayGoodbyeTo(PeerId peer);
  // True if every network peer has been told goodbye, and has told us.
  bool Parted() const;
  // Nobody speaks to that peer any more. Its lane ends with EndThoseLetGo().
  void LetGo(PeerId peer) { let_go_.push_back(peer); }
  // Somebody speaks to it again.
  void Keep(PeerId peer) { std::erase(let_go_, peer); }
  // Says goodbye to network peers that were let go, and ends the lanes in which nothing waits.
  // True: none is left. Not from inside a transport.
  bool EndThoseLetGo();
  // Destroys all lanes and their endpoints.
  void Close();

 private:
  friend class RestingLanes;
  // The lane to a peer that has been spoken to, connected or stale; otherwise null.
  Lane* Known(PeerId peer) const;
  Lane& Connect(PeerId peer);
  Lane& WithoutEndpoint(PeerId peer);
  Status ConnectThrough(Lane& lane, const bootstrap::Card& card);
  void List(Lane& lane);
  bool FlushLane(Lane& lane, Sender& sender);

  Lane** lanes_;  // by PeerId
  std::uint32_t peers_;
  const Carriers& carriers_;
  Cards& cards_;
  transport::Inbox& inbox_;
  std::vector<std::unique_ptr<Lane>> storage_;
  std::vector<Lane*> waiting_lanes_;  // lanes with something waiting
  std::uint32_t lost_ = 0;            // how many lanes are lost
  std::string chosen_;
  // While the job is at rest, lanes have this endpoint. Afterwards, those of which nobody has
  // spoken to the peer yet are stale: they stand in storage_ alone, until Connect() takes them up
  // again.
  transport::Endpoint* closed_ = nullptr;
  std::uint32_t stale_ = 0;
  struct Loss {
    PeerId peer;
    Status why;
  };
  std::vector<Loss> losses_at_rest_;
  std::vector<PeerId> let_go_;
};

}  // namespace lamina::p2p
