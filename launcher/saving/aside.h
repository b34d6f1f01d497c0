// SPDX-License-Identifier: BSD-3-Clause
// An Aside does work that waits for a disk, piece by piece, in a thread of its own, while the event
// loop turns.
//
// Threads: the event loop's, but for the work.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "runtime/base/descriptor.h"
#include "runtime/base/status.h"

struct event;
struct event_base;

namespace lamina::launcher {

class Aside {
 public:
  // Is done in the thread, and returns what is then to be done on the loop.
  using Work = std::function<std::function<void()>()>;

  static Result<std::unique_ptr<Aside>> Open(event_base* loop);
  // Waits for the piece that is being done. Those behind it are dropped.
  ~Aside();
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

  // Pieces are done one after the other.
  void Run(Work work);

 private:
  Aside() = default;
  void Loop();
  void OnDone();

  Descriptor ready_;  // an event fd
  event* done_event_ = nullptr;
  std::thread thread_;  // from the first piece on
  std::mutex mutex_;    // of what follows
  std::condition_variable changed_;
  std::deque<Work> waiting_;
  std::deque<std::function<void()>> done_;
  bool ends_ = false;
};

}  // namespace lamina::launcher
