// SPDX-License-Identifier: BSD-3-Clause
// A Heartbeat says when to give a sign of life, and when the other end has given none for too long.
//
// A process that was itself stopped or starved for a while blames nobody else for that time.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <functional>

#include "launcher/shepherd/poller.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

class Heartbeat {
 public:
  Heartbeat() = default;
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  // `on_tick` is called at every beat once Begin() was.
  Status Open(Poller* poller, std::function<void()> on_tick);
  // Beats four times in `silence_ms`. If that is 0, no silence is too long, and it still beats now
  // and then.
  void Begin(std::uint64_t silence_ms);
  // Ticks in `ms` at the latest.
  void Hurry(std::uint64_t ms);
  // Within a tick: did it come much too late, so that we cannot have heard anything?
  bool slept() const { return slept_; }
  void Heard() { heard_ms_ = MonotonicMs(); }
  bool TooSilent() const { return silence_ms_ != 0 && MonotonicMs() - heard_ms_ > silence_ms_; }

 private:
  void Tick();
  void SetTimer(std::uint64_t first_ms);

  Poller* poller_ = nullptr;
  int timer_ = -1;
  std::function<void()> on_tick_;
  std::uint64_t silence_ms_ = 0;
  std::uint64_t beat_ms_ = 0;
  std::uint64_t heard_ms_ = 0;
  std::uint64_t ticked_ms_ = 0;
  std::uint64_t next_ms_ = 0;  // the next tick
  bool slept_ = false;
};

}  // namespace lamina::launcher
