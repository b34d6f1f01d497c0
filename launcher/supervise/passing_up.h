// SPDX-License-Identifier: BSD-3-Clause
// Passes questions of ranks on to the launcher of the job that has spawned this one, and the
// answers back. What either side says is passed on until one of them has gone, and the other one
// sees that.
//
// Threads: the event loop's.
#pragma once

#include <sys/types.h>

#include <list>
#include <string>

#include "runtime/base/descriptor.h"

struct bufferevent;
struct event_base;

namespace lamina::launcher {

class PassingUp {
 public:
  explicit PassingUp(event_base* loop) : loop_(loop) {}
  ~PassingUp();
  PassingUp(const PassingUp&) = delete;
  PassingUp& operator=(const PassingUp&) = delete;

  // Returns a connection to the launcher of that process id; none if it cannot be reached.
  static Descriptor Reach(pid_t launcher);
  // `question` goes first.
  void Add(Descriptor asker, Descriptor launcher, const std::string& question);

 private:
  struct Pair {
    PassingUp* owner = nullptr;
    bufferevent* asker = nullptr;
    bufferevent* launcher = nullptr;
    bool ending = false;
  };
  static void OnWords(bufferevent* from, void* pair);
  static void OnWritten(bufferevent* to, void* pair);
  static void OnGone(bufferevent* from, short what, void* pair);
  void End(Pair* pair);

  event_base* const loop_;
  std::list<Pair> pairs_;
};

}  // namespace lamina::launcher
