// SPDX-License-Identifier: BSD-3-Clause
// A process of three, with a transport that remembers what it is given, and a communicator of all.
// The others are whatever the input says.
#pragma once

#include <memory>

#include "runtime/base/ids.h"
#include "runtime/core/comm.h"
#include "runtime/core/process.h"
#include "runtime/p2p/fake_transport.h"
#include "runtime/p2p/lifetime.h"
#include "transports/transport.h"

namespace lamina::fuzz {

inline constexpr ContextId kContext{8};

class FakeProcess {
 public:
  FakeProcess() : engine_(p2p::MakeEngine({}, {}, {PeerId{0}, 3, 7}, nullptr)) {
    p2p::AddCarrier(engine_.get(),
                    {"fake", std::make_unique<p2p::FakeTransport>(&road_), true, false});
    static core::Process* const process = new core::Process;
    process->engine = engine_.get();
    core::process = process;
    comm_.context = kContext;
    comm_.peers = peers_;
    comm_.rank = 0;
    comm_.size = comm_.destinations = 3;
    comm_.references = 1 << 20;
  }
  ~FakeProcess() {
    engine_.reset();
    core::process = nullptr;
  }
  FakeProcess(const FakeProcess&) = delete;
  FakeProcess& operator=(const FakeProcess&) = delete;

  p2p::FakeRoad& road() { return road_; }
  core::Comm* comm() { return &comm_; }
  transport::Inbox* inbox() { return p2p::InboxOf(engine_.get()); }

 private:
  p2p::FakeRoad road_;
  const PeerId peers_[3] = {PeerId{0}, PeerId{1}, PeerId{2}};
  core::Comm comm_;
  p2p::OwnedEngine engine_;
};

}  // namespace lamina::fuzz
