// SPDX-License-Identifier: BSD-3-Clause
// The engine: the Inbox of all transports, and the owner of everything in this folder that lives
// longer than a message. There is one in a process. Nothing moves unless Progress() turns it.
//
// Threads: the caller holds the library lock at MPI_THREAD_MULTIPLE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/p2p/context.h"
#include "runtime/p2p/delivery.h"
#include "runtime/p2p/dispatch.h"
#include "runtime/p2p/lanes.h"
#include "runtime/p2p/lifetime.h"
#include "runtime/p2p/p2p.h"
#include "runtime/p2p/peer_table.h"
#include "runtime/p2p/watch.h"
#include "transports/transport.h"

namespace lamina::p2p {

class SendBuffer;

class Engine final : public transport::Inbox, public Watch::Duty {
 public:
  Engine(const Params& params, const waiting::WaitPolicy& policy, const Place& place,
         bootstrap::Bootstrap* bootstrap);
  ~Engine() override;

  const waiting::WaitPolicy& policy() const { return policy_; }
  Carriers& carriers() { return carriers_; }
  Cards& cards() { return cards_; }
  Lanes& lanes() { return lanes_; }
  Dispatch& dispatch() { return dispatch_; }
  Delivery& delivery() { return delivery_; }
  Contexts& contexts() { return contexts_; }
  PeerTable& peers() { return peers_; }
  Watch& watch() { return watch_; }
  // How many markers of that checkpoint have been received, if it is the newest; see rest.h.
  std::uint64_t MarkersOf(std::uint32_t epoch) const {
    return marked_epoch_ == epoch ? markers_received_ : 0;
  }
  SendBuffer*& send_buffer() { return send_buffer_; }  // the process's own; see buffered.h

  void WaitUntil(bool (*done)(void*), void* argument) {
    WaitUntil(done, argument, params_.poll_events_max);
  }
  void WaitUntil(bool (*done)(void*), void* argument, std::uint32_t events_max);
  // Waits until `request` is complete.
  void WaitFor(Request* request);
  // The same, one frame at a time: what comes behind it would only have to be put aside.
  void WaitForNext(Request* request);
  // Hands each send to `look` that has begun and is not over.
  template <class Look>
  void EachOpenSend(const Look& look) const {
    lanes_.EachWaiting(look);
    dispatch_.EachLent(look);
    dispatch_.EachPushed(look);
    tokens_.Each(look);
  }
  // See p2p.h.
  bool IsBroken(const core::Comm& comm) const;
  // See lifetime.h.
  void Farewell();
  // Tells peers whether this process goes on receiving.
  void SetReading(bool reads);
  void Drain();
  // See other_jobs.h.
  void Part();

  // Watch::Duty
  bool Progress() override { return Progress(params_.poll_events_max); }
  bool Progress(std::uint32_t events_max) override;
  bool IsDue() const override;
  std::uint32_t SleepMsMax() const override;
  std::span<transport::Transport* const> Ringing() const override { return carriers_.ringing(); }
  void NoteWait(bool (*done)(void*), void* argument, std::uint64_t since_ms) override;
  void NoteTests() override;

  // Returns the number of a process that somebody has named.
  PeerId Number(transport::ProcessName name);
  // What transports deliver to.
  transport::Inbox* inbox() { return flows_ != nullptr ? flows_.get() : this; }

  // transport::Inbox
  PeerId Identify(transport::ProcessName name) override;
  void Arrived(PeerId from, const transport::Header& header,
               std::span<const std::byte> payload) override;
  void Offered(PeerId from, const transport::Header& header, std::size_t bytes,
               transport::Parcel* parcel) override;
  void Lost(PeerId peer, Status why) override;
  void Left(PeerId peer) override;

 private:
  bool Blocked() const { return lanes_.waiting() || dispatch_.pushing(); }
  // These are out of line, so that the walk of a short message has a small frame.
  [[gnu::noinline]] bool SendWhatWaits();
  [[gnu::noinline]] void WaitLong(waiting::Waiter* waiter, bool (*done)(void*), void* argument,
                                  std::uint32_t events_max);
  void CountMarker(std::uint64_t epoch);
  [[gnu::cold]] static void TellProfile(bool (*done)(void*), const void* argument);
  // Ends everything that waits for this peer by name.
  void FailWhatNames(PeerId peer);
  // Another job has lost a process, and so ends: nobody there will speak any more.
  void LoseJobOf(PeerId peer);
  // Ends what collectives of broken communicators wait for. True: there was something.
  [[gnu::cold]] bool GiveUpCollectives();
  void WriteNote(bool (*done)(void*), void* argument, std::uint64_t since_ms);
  [[gnu::noinline]] void Sort(PeerId from, const transport::Header& header,
                              std::span<const std::byte> payload);
  template <class Done>
  void DrainUntil(const Done& done);
  void SayGoodbyes();
  bool IsAttendedByAll() const;
  std::vector<Request*> Owed() const;
  void SendWhatIsOwed();

  const Params params_;
  const waiting::WaitPolicy policy_;
  PeerTable peers_;
  Carriers carriers_;
  Cards cards_;
  Lanes lanes_;
  TokenTable tokens_;
  Scratch scratch_;
  Dispatch dispatch_;
  Rendezvous rendezvous_;
  Delivery delivery_;
  Contexts contexts_;
  Watch watch_;
  std::unique_ptr<transport::Inbox> flows_;  // null: the process is not traced
  SendBuffer* send_buffer_ = nullptr;
  std::uint64_t tests_since_ms_ = 0;  // since then tests have found nothing
  std::uint64_t tests_noted_ms_ = 0;
  std::uint64_t marked_epoch_ = 0;
  std::uint64_t markers_received_ = 0;
};

// The engine of this process. It exists between initialisation and finalisation.
Engine& TheEngine();

}  // namespace lamina::p2p
