// SPDX-License-Identifier: BSD-3-Clause
// Everything this process has while MPI is initialised. The MPI functions carry no context
// argument, so there is one pointer to it; it is the only mutable global of the library.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "runtime/base/environment.h"
#include "runtime/base/event_ring.h"
#include "runtime/base/ids.h"
#include "runtime/base/param.h"
#include "runtime/bootstrap/bootstrap.h"
#include "runtime/core/comm.h"

namespace lamina::p2p {
class Engine;
}

namespace lamina::core {

struct Process {
  param::Settings settings;
  Environment environment;
  bootstrap::Identity identity;                     // who am I, how many are we, where
  std::unique_ptr<bootstrap::Bootstrap> bootstrap;  // null in a singleton
  p2p::Engine* engine = nullptr;                    // owned by runtime/assembly
  PeerId self{};

  int thread_level = MPI_THREAD_SINGLE;
  bool check_arguments = true;  // parameter api.check_arguments
  std::recursive_mutex lock;    // taken at MPI_THREAD_MULTIPLE only: see Guard
};

// Null before initialisation and after finalisation.
extern Process* process;

// MPI_Initialized and MPI_Finalized answer from this; runtime/assembly/lifecycle.h changes it.
enum class Life : int { kBefore, kInitialized, kFinalized };
extern Life life;

// The library lock, for one API call. Costs one predictable branch below MPI_THREAD_MULTIPLE.
class Guard {
 public:
  Guard() : held_(process != nullptr && process->thread_level == MPI_THREAD_MULTIPLE) {
    if (held_) process->lock.lock();
  }
  ~Guard() {
    if (held_) process->lock.unlock();
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  const bool held_;
};

}  // namespace lamina::core
