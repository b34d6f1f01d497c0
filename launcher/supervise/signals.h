// SPDX-License-Identifier: BSD-3-Clause
// The signals that users and batch systems send to mpiexec, as events of the loop.
//
// Threads: the event loop's; made before any other thread, which then inherits the blocked mask.
#pragma once

#include <functional>
#include <memory>

#include "runtime/base/status.h"

struct event;
struct event_base;

namespace lamina::launcher {

class Signals {
 public:
  // `on_signal` is called when INT, TERM, HUP, QUIT, USR1, USR2, TSTP or CONT has come, unless
  // whoever started us ignores that signal.
  static Result<std::unique_ptr<Signals>> Watch(event_base* loop,
                                                std::function<void(int signal)> on_signal);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  Signals() = default;
  static void OnReadable(int fd, short what, void* signals);

  std::function<void(int)> on_signal_;
  int fd_ = -1;
  event* readable_ = nullptr;
};

// Ends this process by `signal`, so that the shell sees what happened: a loop in a script then ends
// as well. Returns only if the signal is ignored.
void DieBy(int signal);

}  // namespace lamina::launcher
