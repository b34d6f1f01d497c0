// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/rest.h"

#include <algorithm>

#include "runtime/p2p/engine.h"
#include "runtime/p2p/resting_lanes.h"
#include "runtime/p2p/tuning.h"
#include "runtime/waiting/waiting.h"

namespace lamina::p2p {

Rest::Rest(core::Process* process, Engine* engine)
    : process_(process), engine_(engine), lanes_(std::make_unique<RestingLanes>(engine->lanes())) {}

Rest::~Rest() = default;

// A thread that naps would touch the transports when it wakes, so it is woken before they end.
void Rest::TakeLibrary() {
  core::LibraryLock& lock = process_->lock;
  lock.Claim();
  lock.LockClaimed();
  while (process_->engine == engine_ && engine_->watch().IsNapping()) {
    const std::uint32_t naps = engine_->watch().naps().load();
    engine_->carriers().ringing().front()->Wake();
    lock.UnlockClaimed();
    while (engine_->watch().naps().load() == naps)
      waiting::SleepOn(engine_->watch().naps(), naps, kNapLookMs);
    lock.LockClaimed();
  }
  lock.Unclaim();
}

// What came meanwhile may be what a sleeping thread waits for.
void Rest::GiveLibrary() {
  if (process_->engine == engine_) engine_->watch().Disturb();
  if (process_->before_unlock != nullptr) process_->before_unlock();
  process_->lock.Unlock();
}

void Rest::Begin(std::uint32_t epoch, std::span<const std::uint32_t> ended) {
  epoch_ = epoch;
  lanes_->Close(epoch, ended);
  engine_->dispatch().BeginRest();
}

// A message that a transport is fetching is counted as a marker that has not come yet. None begins
// once all markers have come.
Rest::Sums Rest::Settle() {
  while (engine_->carriers().Progress(kEventsAtRest) != 0) continue;
  const bool all_sent = lanes_->SendMarkers();
  const std::uint64_t markers = engine_->MarkersOf(epoch_);
  return {all_sent, lanes_->markers_sent(), markers - std::min(markers, Rendezvous::accepting())};
}

void Rest::LetGo() {
  engine_->delivery().DropParcels();
  lanes_->Disconnect();
  engine_->carriers().Clear();
  engine_->dispatch().TransportsHaveEnded();
}

void Rest::End() {
  lanes_->Reopen();
  engine_->dispatch().EndRest();
}

}  // namespace lamina::p2p
