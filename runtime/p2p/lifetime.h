// SPDX-License-Identifier: BSD-3-Clause
// The life of p2p in a process, from its first transport to the last farewell.
//
// Only runtime/assembly needs this.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "runtime/base/ids.h"
#include "runtime/base/status.h"
#include "runtime/bootstrap/bootstrap.h"
#include "runtime/p2p/carriers.h"
#include "runtime/p2p/params.h"
#include "runtime/waiting/waiting.h"
#include "transports/transport.h"

namespace lamina::p2p {

class Engine;
struct DeleteEngine {
  void operator()(Engine* engine) const;
};
using OwnedEngine = std::unique_ptr<Engine, DeleteEngine>;

// Where this process stands in its job.
struct Place {
  PeerId self;
  std::uint32_t job_ranks;
  std::uint32_t job_hash;  // the high half of the names of this job's processes
};
// `bootstrap` outlives the engine, and is null in a process that nobody started.
OwnedEngine MakeEngine(const Params& params, const waiting::WaitPolicy& policy, const Place& place,
                       bootstrap::Bootstrap* bootstrap);
// What transports deliver to.
transport::Inbox* InboxOf(Engine* engine);
// Adds a transport, the preferred one first. Precedes all communication.
void AddCarrier(Engine* engine, Carrier carrier);
// Those there are.
std::span<const Carrier> CarriersOf(Engine* engine);
// Connects to a peer unless it has been spoken to, and says through what: "ucx (not shm: it is on
// another node)"; "" if it has been spoken to.
Result<std::string> ConnectTo(Engine* engine, PeerId peer);
// Sets what all ranks must have in common (cards.h). Precedes PublishCard().
void SetAgreed(Engine* engine, std::string components, std::string settings);
// Publishes how this process is reached.
Status PublishCard(Engine* engine);

// Waits until everything has left. Peers may still be spoken to afterwards. Bounded by
// p2p.engine.goodbye_timeout_ms, as is Farewell().
void Drain(Engine* engine);
// Says goodbye to network peers and waits for theirs, so that everything has left and arrived.
// Sends whose request was freed, and buffered ones, are waited for without limit, until they are
// received or their receiver has said goodbye.
void Farewell(Engine* engine);
// The process receives again after a Farewell().
void TakeUpReading(Engine* engine);

}  // namespace lamina::p2p
