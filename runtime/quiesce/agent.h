// SPDX-License-Identifier: BSD-3-Clause
// The agent is a thread that brings this process to rest when its launcher says so, and lets it go
// on (runtime/base/agent_word.h). It lives until the process ends, so a process that has finalized
// MPI takes part.
//
//   wait ── kStop ──> settling ── kLetGo ──> bare ──┐
//     ^                   └───────── kGoOn ─────────┴──> wait
//
// Threads: the agent's own, but for what is said otherwise.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/agent_word.h"
#include "runtime/base/environment.h"
#include "runtime/base/status.h"

namespace lamina::quiesce {

// What is saved: the state at the checkpoint of this number, of all ranks but those that had ended.
struct Cut {
  std::uint32_t epoch = 0;
  std::vector<std::uint32_t> ended;
};

// The library, as the agent sees it. Everything is called by the agent.
class Library {
 public:
  struct Sums {
    bool all_sent = false;
    std::uint64_t sent = 0;      // markers of this checkpoint
    std::uint64_t received = 0;  // likewise
  };

  virtual ~Library() = default;
  // Returns once no other thread is inside, and keeps all others out until Leave().
  virtual void Enter() = 0;
  virtual void Leave() = 0;
  // Returns what cannot be saved, as a sentence; "" if all can.
  virtual std::string WhyNot() = 0;
  // Sends nothing more but markers, and receives. It is called again and again.
  virtual Sums Settle(const Cut& cut) = 0;
  // Lets go what an image cannot hold. TakeUp() follows even a failure.
  virtual Status LetGo() = 0;
  // May send again, after Settle() or LetGo(). `changes` are of the form "NAME=value", and replace
  // variables of the environment; there are some only in a process that was revived.
  virtual Status TakeUp(std::span<const std::string> changes) = 0;
};

// The descriptors of the agent's pipes.
struct AgentPipes {
  int orders = -1;
  int reports = -1;
  // Returns the pipes that `environment` names; descriptors are -1 if the job is not saved from
  // outside.
  static AgentPipes Find(const Environment& environment);
  bool exist() const { return orders >= 0 && reports >= 0; }
};

class Agent {
 public:
  // Starts the thread, which is never joined; the agent is never deleted.
  static Status Start(AgentPipes pipes, std::unique_ptr<Library> library);
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Tells the launcher that no orders can be carried out any more. Any thread, between Enter() and
  // Leave() or their like.
  static void SayGone(AgentPipes pipes);

 private:
  Agent(AgentPipes pipes, std::unique_ptr<Library> library);
  void Run();
  void Round(const Cut& cut);
  // Settles until an order comes. False: the launcher is gone.
  bool SettleUntil(const Cut& cut, AgentWord* order);
  bool ReceiveChanges(std::uint64_t bytes, std::vector<std::string>* changes) const;
  bool ReceiveEnded(std::uint64_t count, std::vector<std::uint32_t>* ended) const;
  bool Receive(AgentWord* order) const;
  bool HasOrder(int wait_ms) const;
  void Report(std::uint32_t kind, std::uint32_t epoch, std::uint64_t number) const;
  void ReportOutcome(std::uint32_t kind, std::uint32_t epoch, const Status& status) const;

  const AgentPipes pipes_;
  const std::unique_ptr<Library> library_;
};

}  // namespace lamina::quiesce
