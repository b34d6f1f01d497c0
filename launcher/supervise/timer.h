// SPDX-License-Identifier: BSD-3-Clause
// Calls a function once, at a later time, from the event loop.
#pragma once

#include <event2/event.h>

#include <cstdint>
#include <functional>
#include <utility>

namespace lamina::launcher {

class Timer {
 public:
  Timer(event_base* loop, std::function<void()> on_time)
      : on_time_(std::move(on_time)), event_(event_new(loop, -1, 0, Fire, this)) {}
  ~Timer() { event_free(event_); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Replaces the time that was set before.
  void Set(std::uint64_t ms) {
    const timeval time{static_cast<time_t>(ms / 1000), static_cast<suseconds_t>(ms % 1000 * 1000)};
    event_add(event_, &time);
  }
  void Clear() { event_del(event_); }

 private:
  static void Fire(int, short, void* self) { static_cast<Timer*>(self)->on_time_(); }

  std::function<void()> on_time_;
  event* event_;
};

}  // namespace lamina::launcher
