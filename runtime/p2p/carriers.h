// SPDX-License-Identifier: BSD-3-Clause
// The transports that this process uses, the preferred one first.
//
// Ownership: owns the transports. Every endpoint that one of them made must be gone before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "transports/transport.h"

namespace lamina::p2p {

struct Carrier {
  std::string name;
  std::unique_ptr<transport::Transport> transport;
  bool network = false;   // its peers want to be told goodbye
  bool loopback = false;  // leads to this process alone, so nobody rings its bell
};

class Carriers {
 public:
  // One that is added while threads sleep must not move what they look at.
  Carriers() { ringing_.reserve(kRingingMax); }
  void Add(Carrier carrier) {
    polled_.push_back(carrier.transport.get());
    if (carrier.loopback)
      loopback_ = carrier.transport.get();
    else
      ringing_.push_back(carrier.transport.get());
    all_.push_back(std::move(carrier));
  }
  // Destroys all of them.
  void Clear() {
    polled_.clear();
    ringing_.clear();
    loopback_ = nullptr;
    all_.clear();
  }
  std::span<const Carrier> all() const { return all_; }
  // Those whose bell another process can ring.
  std::span<transport::Transport* const> ringing() const { return ringing_; }

  // Handles at most `events_max` events of each transport, and returns how many it handled.
  std::uint32_t Progress(std::uint32_t events_max) const {
    std::uint32_t events = 0;
    for (transport::Transport* transport : polled_) events += transport->Progress(events_max);
    return events;
  }
  // True if everything that was accepted has left this process.
  bool Drained() const {
    return std::all_of(polled_.begin(), polled_.end(),
                       [](transport::Transport* transport) { return transport->Drained(); });
  }
  // True if this process has sent something to itself and not yet delivered it.
  bool HoldsOwnFrames() const { return loopback_ != nullptr && !loopback_->Drained(); }

 private:
  static constexpr std::size_t kRingingMax = 8;

  std::vector<Carrier> all_;
  std::vector<transport::Transport*> polled_;  // all of them without their names
  std::vector<transport::Transport*> ringing_;
  transport::Transport* loopback_ = nullptr;
};

}  // namespace lamina::p2p
