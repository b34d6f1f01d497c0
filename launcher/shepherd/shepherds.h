// SPDX-License-Identifier: BSD-3-Clause
// Shepherds are those that one process starts and hears: the launcher's, or those of a shepherd
// further up the tree. This class brings them to life, a window at a time, with second attempts
// where the reason passes; it keeps their streams moving, and notices when one falls silent or
// dies.
//
// What passes over the streams is the owner's business.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/plan/plan.h"
#include "launcher/shepherd/heartbeat.h"
#include "launcher/shepherd/node.h"
#include "launcher/shepherd/poller.h"
#include "launcher/wire/messages.h"

namespace lamina::launcher {

// Does an agent say that the shepherd's program is not there?
bool IsAbsent(std::string_view program, std::string_view words);
// Returns what to do about that.
std::string AbsentWords(std::string_view program, std::string_view host);

class Shepherds {
 public:
  struct Outlets {
    // Returns the payload of the orders for a node that has just greeted.
    std::function<std::string(const Node& node)> orders;
    // Takes a frame, other than Bye, of a node at work.
    std::function<Status(Node* node, const wire::Frame& frame)> hear;
    // A node is given up with everything below it, after it was `started` or before. Called once a
    // node.
    std::function<void(Node* node, bool started, const std::string& why)> failed;
    // A node has been silent for too long. Returns whether to wait for it all the same, which is
    // asked again and again.
    std::function<bool(const Node& node)> excused;
    // A node has said goodbye.
    std::function<void()> left;
  };
  // `plan` and what the pointers point to must outlive it. A node that is silent for `silence_ms`
  // is lost; 0 waits for ever.
  Shepherds(const Plan& plan, wire::StartRules rules, std::uint64_t silence_ms, Poller* poller,
            Heartbeat* heartbeat, Outlets outlets);
  // Lets those go who said goodbye, and ends the agents of the others.
  ~Shepherds();
  Shepherds(const Shepherds&) = delete;
  Shepherds& operator=(const Shepherds&) = delete;

  // Adds a node that waits to be started.
  Node* Add(std::uint32_t host, bool here, std::vector<std::string> command,
            std::vector<wire::Below> below);
  // Adds `hosts`, as a tree where there are more than the rules' width: each child has the hosts
  // that follow it in the list, up to the next child.
  void AddTree(std::span<const wire::Below> hosts);
  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  // `node` was started by somebody else and will call.
  void Expect(Node* node);
  // Starts as many as the window allows.
  void StartWaiting();
  // The shepherd of `node` has called and greeted.
  void Adopt(Node* node, std::unique_ptr<wire::Stream> stream, const wire::Hello& hello);
  // Sends now or when the node is up, and nothing once it is over.
  void Send(Node* node, wire::Kind kind, std::string_view payload);
  // Sends the same to all that are up.
  void SendAll(wire::Kind kind, std::string_view payload);
  // Writes what can be written. To be called after anything was sent, before the process waits.
  void CarryAll();
  void Carry(Node* node);
  // To be called at the owner's heartbeat.
  void Tick();
  // Nobody can have spoken until now, so their silence begins anew.
  void ForgetSilence();
  // `node` will not greet or is not wanted any more; `why` is a sentence.
  void Fail(Node* node, const std::string& why);
  // The job ends before `node` is up; the owner is not told.
  void Cancel(Node* node);
  // From now on goodbyes are expected and losses do not matter.
  void Sweep();
  // Starts nobody any more.
  void StopStarting() { failed_ = true; }
  bool over() const;
  // Can all start their ranks? Once one is lost, they never can.
  bool ready() const;
  bool sweeping() const { return sweeping_; }

 private:
  void StartNode(Node* node);
  void Attach(Node* node);
  void Detach(Node* node);
  void OnStream(Node* node);
  void OnWords(Node* node);
  void OnAgentEnd(Node* node);
  Status Hear(Node* node, const wire::Frame& frame);
  Status Greeted(Node* node, const wire::Hello& hello);
  void Settle(Node* node);
  bool Retry(Node* node);
  void TickNode(Node* node, std::uint64_t now_ms);
  std::string LostWords(const Node& node) const;

  const Plan& plan_;
  const wire::StartRules rules_;
  const std::uint64_t silence_ms_;
  Poller* const poller_;
  Heartbeat* const heartbeat_;
  const Outlets outlets_;
  std::vector<std::unique_ptr<Node>> nodes_;
  bool failed_ = false;  // some node could not be started: no more are
  bool sweeping_ = false;
};

}  // namespace lamina::launcher
