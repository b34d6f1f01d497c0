// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/shepherd/heartbeat.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

namespace lamina::launcher {

std::uint64_t Heartbeat::NowMs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

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
  heard_ms_ = ticked_ms_ = NowMs();
  SetTimer(beat_ms_);
}

void Heartbeat::Hurry(std::uint64_t ms) {
  if (NowMs() + ms < next_ms_) SetTimer(std::max<std::uint64_t>(ms, 1));
}

void Heartbeat::SetTimer(std::uint64_t first_ms) {
  const auto time = [](std::uint64_t ms) {
    return timespec{static_cast<time_t>(ms / 1000), static_cast<long>(ms % 1000 * 1'000'000)};
  };
  next_ms_ = NowMs() + first_ms;
  const itimerspec times{time(beat_ms_), time(first_ms)};
  timerfd_settime(timer_, 0, &times, nullptr);
}

void Heartbeat::Tick() {
  std::uint64_t count;
  if (read(timer_, &count, sizeof count) < 0) return;
  const std::uint64_t now = NowMs();
  slept_ = now - ticked_ms_ > 2 * beat_ms_;
  if (slept_) heard_ms_ = now;
  ticked_ms_ = now;
  next_ms_ = now + beat_ms_;
  on_tick_();
}

}  // namespace lamina::launcher
