// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/rma/agent.h"

#include <mpi.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "collectives/exec/exec.h"
#include "runtime/base/event_ring.h"
#include "runtime/base/log.h"
#include "runtime/base/quiet_thread.h"
#include "runtime/core/process.h"
#include "runtime/p2p/awaited.h"
#include "runtime/p2p/p2p.h"
#include "runtime/rma/tuning.h"
#include "runtime/trace/trace.h"
#include "runtime/waiting/waiting.h"

namespace lamina::rma {
namespace {

class Agent {
 public:
  // Null if the system gives no thread.
  static std::unique_ptr<Agent> Make() {
    std::unique_ptr<Agent> agent(new Agent);
    const SignalsBlocked blocked;
    const int error = pthread_create(&agent->thread_, nullptr, Body, agent.get());
    agent->runs_ = error == 0;
    return agent->runs_ ? std::move(agent) : nullptr;
  }
  ~Agent() {
    if (!runs_) return;
    const core::Guard guard;
    stops_.store(1);
    waiting::WakeFrom(stops_);
    p2p::Disturb();
    const core::Unlocked unlocked;
    pthread_join(thread_, nullptr);
  }

 private:
  Agent() = default;
  static void* Body(void* agent) {
    static_cast<Agent*>(agent)->Work();
    return nullptr;
  }

  void Work() {
    const core::Guard guard;
    while (stops_.load() == 0) {
      const std::uint64_t polls = Polls();
      if (!MustLeave(this) && polls == polls_) {
        trace::Count(trace::Counter::kAgentTurns);
        const p2p::Awaited nothing{p2p::Awaited::Kind::kNothing, nullptr, MPI_ANY_SOURCE, 0, 0};
        const p2p::Awaiting awaiting(nothing);
        p2p::WaitUntil(MustLeave, this);
      }
      polls_ = Polls();
      const core::Unlocked unlocked;
      waiting::SleepOn(stops_, 0, kAgentTickMs);
    }
  }

  static std::uint64_t Polls() {
    return trace::numbers.counters[trace::Index(trace::Counter::kPolls)];
  }
  // The application is inside MPI, or has left something there that would call it back.
  static bool MustLeave(void* agent) {
    return static_cast<Agent*>(agent)->stops_.load(std::memory_order_relaxed) != 0 ||
           CurrentEventRing()->inside.load(std::memory_order_relaxed) != 0 ||
           collective::MayCallBack();
  }

  pthread_t thread_{};
  bool runs_ = false;
  std::atomic<std::uint32_t> stops_{0};
  std::uint64_t polls_ = 0;  // when it last looked
};

// The library lock guards these.
constinit Agent* agent = nullptr;
constinit unsigned windows = 0;
// The call that is under way holds the lock for the sake of AfterCreation.
constinit bool holds_lock = false;

}  // namespace

void ServeWindow() {
  if (++windows > 1) return;
  if (core::shared_process.load(std::memory_order_relaxed) == nullptr) {
    core::process->lock.Lock();
    holds_lock = true;
    core::shared_process.store(core::process, std::memory_order_release);
  }
  agent = Agent::Make().release();
  if (agent == nullptr)
    Log(Level::kWarn, "rma",
        "there is no thread to serve others with; ranks on other nodes wait until this one calls "
        "MPI");
}

void ForgetWindow() {
  if (--windows == 0) StopServing();
}

AfterCreation::~AfterCreation() {
  if (std::exchange(holds_lock, false)) core::process->lock.Unlock();
}

void StopServing() {
  delete std::exchange(agent, nullptr);
  windows = 0;
  if (core::process->thread_level != MPI_THREAD_MULTIPLE)
    core::shared_process.store(nullptr, std::memory_order_release);
}

}  // namespace lamina::rma
