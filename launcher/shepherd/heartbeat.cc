// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/shepherd/heartbeat.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "runtime/base/clock.h"

namespace lamina::launcher {

Heartbeat::~Heartbeat() {
  if (timer_ < 0) return;
  poller_->Remove(timer_);
  close(timer_);
}

Status Heartbeat::Open(Poller* poller, std::function<void()> on_tick) {
  poller_ = poller;
  on_tick_ = std::move(on_tick);
  timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (timer_ < 0) return SystemError(Code::kResource, errno, "cannot make a timer");
  poller_->Add(timer_, Poller::kRead, [this] { Tick(); });
  return {};
}

void Heartbeat::Begin(std::uint64_t silence_ms) {
  silence_ms_ = silence_ms;
  beat_ms_ = silence_ms == 0 ? 2500 : std::clamp<std::uint64_t>(silence_ms / 4, 10, 60'000);
  heard_ms_ = ticked_ms_ = MonotonicMs();
  SetTimer(beat_ms_);
}

void Heartbeat::Hurry(std::uint64_t ms) {
  if (MonotonicMs() + ms < next_ms_) SetTimer(std::max<std::uint64_t>(ms, 1));
}

void Heartbeat::SetTimer(std::uint64_t first_ms) {
  const auto time = [](std::uint64_t ms) {
    return timespec{static_cast<time_t>(ms / 1000), static_cast<long>(ms % 1000 * 1'000'000)};
  };
  next_ms_ = MonotonicMs() + first_ms;
  const itimerspec times{time(beat_ms_), time(first_ms)};
  timerfd_settime(timer_, 0, &times, nullptr);
}

void Heartbeat::Tick() {
  std::uint64_t count;
  if (read(timer_, &count, sizeof count) < 0) return;
  const std::uint64_t now = MonotonicMs();
  slept_ = now - ticked_ms_ > 2 * beat_ms_;
  if (slept_) heard_ms_ = now;
  ticked_ms_ = now;
  next_ms_ = now + beat_ms_;
  on_tick_();
}

}  // namespace lamina::launcher
