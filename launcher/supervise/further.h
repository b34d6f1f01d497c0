// SPDX-License-Identifier: BSD-3-Clause
// The launchers of jobs that ranks of this one have spawned, each an mpiexec of its own. This
// launcher starts them, ends after them, and passes signals on to them.
//
// They are started one after another: the next one is told which slots the one before has taken.
//
// Threads: the event loop's.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <string>
#include <vector>

#include "launcher/supervise/run_hosts.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/status.h"

struct event;
struct event_base;

namespace lamina::launcher {

class Further {
 public:
  struct Outlets {
    // Returns what kFurtherVariable of the next one is to say.
    std::function<std::string()> hosts;
    // Is called when one of them has ended.
    std::function<void()> ended;
  };
  // `words` stand in front of what is asked for.
  Further(event_base* loop, std::vector<std::string> words, Outlets outlets)
      : loop_(loop), words_(std::move(words)), outlets_(std::move(outlets)) {}
  ~Further();
  Further(const Further&) = delete;
  Further& operator=(const Further&) = delete;

  // Starts an mpiexec with these words, now or when the one before has its place. `tie` leads to
  // the process that asks (runtime/base/dynamic_words.h), which hears why if that fails.
  void Start(std::vector<std::string> words, Descriptor tie);
  // One of them says where its ranks run.
  void Placed(pid_t launcher, RanksByHost ranks);
  // Adds the ranks of all of them to `ranks`.
  void Count(RanksByHost* ranks) const;
  // Says in a line each what they run, and where.
  std::vector<std::string> Describe() const;
  // How many have been started until now.
  std::uint32_t started() const { return started_; }
  bool empty() const { return launchers_.empty() && waiting_.empty(); }
  void Signal(int signal) const;

 private:
  struct Launcher {
    Further* owner;
    pid_t id;
    Descriptor process;  // a pidfd, readable when the process has ended
    event* ended = nullptr;
    std::string command = {};
    bool placed = false;
    RanksByHost ranks = {};
  };
  struct Order {
    std::vector<std::string> words;
    Descriptor tie;
  };
  void StartNext();
  Status StartOne(const Order& order);
  void OnEnd(Launcher* launcher);

  event_base* const loop_;
  const std::vector<std::string> words_;
  const Outlets outlets_;
  std::list<Launcher> launchers_;
  std::deque<Order> waiting_;
  std::uint32_t started_ = 0;
};

}  // namespace lamina::launcher
