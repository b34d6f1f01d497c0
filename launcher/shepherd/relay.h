// SPDX-License-Identifier: BSD-3-Clause
// A Relay is a shepherd that has others below it in the tree. It starts them, and one on its own
// node like any other, and passes on what goes up and down between them and the one above. Exit
// records, signs of life and fences (launcher/pmix/hub.h) are gathered on their way up.
//
// A host that it cannot reach is given back to the launcher, which perhaps can. If a host is lost,
// that is told with everything below it.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "launcher/pmix/hub.h"
#include "launcher/shepherd/shepherds.h"
#include "launcher/wire/messages.h"

namespace lamina::launcher {

class Relay {
 public:
  struct Outlets {
    std::function<void(wire::Kind kind, const std::string& payload)> send;  // upwards
    std::function<void()> done;  // after a Sweep: all below have said goodbye or are lost
  };
  // `orders` and what the pointers point to must outlive it.
  Relay(const wire::Orders& orders, Poller* poller, Heartbeat* heartbeat, Outlets outlets);

  // Does what a frame from above says.
  Status Obey(const wire::Frame& frame);
  void CarryAll() { shepherds_.CarryAll(); }
  // To be called at the owner's heartbeat. What the next one should tell is added to `beat`.
  void Tick(wire::Beat* beat);

 private:
  // What those below have told since the last time.
  void AddHeads(wire::Beat* beat);
  std::string OrdersFor(const Node& node) const;
  Status Hear(Node* node, const wire::Frame& frame);
  void HearEnds(const Node* node, std::vector<wire::Ended> ends);
  void HearGone(Node* node, wire::Gone gone);
  void HearReady(Node* node, const wire::Ready& ready);
  void TellIfReady();
  void Forget(const std::vector<std::uint32_t>& hosts, bool given_back);
  void Failed(Node* node, bool started, const std::string& why);
  void Signal(const wire::SignalOrder& order);
  void Cancel(Node* node, std::uint32_t signal);
  void NoteEnd(wire::Ended ended);
  void TellEnds();
  void EndIfDone();
  // Returns the node that leads to a rank, or null.
  Node* NodeOf(std::uint32_t rank) const;

  const wire::Orders& orders_;
  Heartbeat* const heartbeat_;
  const Outlets outlets_;
  Shepherds shepherds_;
  std::vector<Node*> by_host_;
  pmix::Hub hub_;
  std::set<std::uint32_t> running_;  // ranks whose end was not heard of
  std::vector<wire::Ended> ends_;    // to be told
  std::uint64_t ends_due_ms_ = 0;
  std::map<std::uint32_t, std::string> heads_;  // of rings, by rank: to be told
  wire::Ready ready_;  // with the first host that was heard of where ranks share CPUs
  bool told_ready_ = false;
  bool done_ = false;
};

}  // namespace lamina::launcher
