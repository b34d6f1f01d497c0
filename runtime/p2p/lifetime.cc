// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/lifetime.h"

#include <utility>

#include "runtime/p2p/engine.h"

namespace lamina::p2p {

void DeleteEngine::operator()(Engine* engine) const { delete engine; }

OwnedEngine MakeEngine(const Params& params, const waiting::WaitPolicy& policy, const Place& place,
                       bootstrap::Bootstrap* bootstrap) {
  return OwnedEngine(new Engine(params, policy, place, bootstrap));
}

transport::Inbox* InboxOf(Engine* engine) { return engine->inbox(); }
void AddCarrier(Engine* engine, Carrier carrier) { engine->carriers().Add(std::move(carrier)); }
std::span<const Carrier> CarriersOf(Engine* engine) { return engine->carriers().all(); }
Result<std::string> ConnectTo(Engine* engine, PeerId peer) {
  if (engine->lanes().Find(peer) != nullptr) return std::string();
  const Lane& lane = engine->lanes().To(peer);
  if (lane.lost) return Error(Code::kPeerLost, "%s", lane.lost_why.c_str());
  return engine->lanes().chosen();
}
void SetAgreed(Engine* engine, std::string components, std::string settings) {
  engine->cards().SetAgreed(std::move(components), std::move(settings));
}
Status PublishCard(Engine* engine) { return engine->cards().Publish(); }
void Drain(Engine* engine) { engine->Drain(); }
void Farewell(Engine* engine) { engine->Farewell(); }
void TakeUpReading(Engine* engine) { engine->SetReading(true); }

}  // namespace lamina::p2p
