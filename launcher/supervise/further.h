// SPDX-License-Identifier: BSD-3-Clause
// The launchers of jobs that ranks of this one have spawned. This launcher ends after them, and
// passes signals on to them.
//
// Threads: the event loop's.
#pragma once

#include <sys/types.h>

#include <functional>
#include <list>

#include "runtime/base/descriptor.h"

struct event;
struct event_base;

namespace lamina::launcher {

class Further {
 public:
  // `on_end` is called when one of them has ended.
  Further(event_base* loop, std::function<void()> on_end)
      : loop_(loop), on_end_(std::move(on_end)) {}
  ~Further();
  Further(const Further&) = delete;
  Further& operator=(const Further&) = delete;

  void Add(pid_t launcher);
  bool empty() const { return launchers_.empty(); }
  void Signal(int signal) const;

 private:
  struct Launcher {
    Further* owner;
    Descriptor process;  // a pidfd, readable when the process has ended
    event* ended = nullptr;
  };
  void OnEnd(Launcher* launcher);

  event_base* const loop_;
  const std::function<void()> on_end_;
  std::list<Launcher> launchers_;
};

}  // namespace lamina::launcher
