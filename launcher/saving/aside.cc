// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/saving/aside.h"

#include <event2/event.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "runtime/base/quiet_thread.h"

namespace lamina::launcher {

Result<std::unique_ptr<Aside>> Aside::Open(event_base* loop) {
  std::unique_ptr<Aside> aside(new Aside());
  aside->ready_ = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (aside->ready_.value() < 0) return SystemError(Code::kResource, errno, "eventfd");
  aside->done_event_ = event_new(
      loop, aside->ready_.value(), EV_READ | EV_PERSIST,
      [](int, short, void* self) { static_cast<Aside*>(self)->OnDone(); }, aside.get());
  event_add(aside->done_event_, nullptr);
  return aside;
}

Aside::~Aside() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
  if (done_event_ != nullptr) event_free(done_event_);
}

void Aside::Run(Work work) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
  if (thread_.joinable()) return;
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { Loop(); });
}

void Aside::Loop() {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
    if (ends_) return;
    const Work work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    std::function<void()> then = work();
    lock.lock();
    done_.push_back(std::move(then));
    const std::uint64_t one = 1;
    static_cast<void>(!write(ready_.value(), &one, sizeof one));
  }
}

void Aside::OnDone() {
  std::uint64_t times;
  static_cast<void>(!read(ready_.value(), &times, sizeof times));
  std::unique_lock lock(mutex_);
  std::deque<std::function<void()>> done = std::exchange(done_, {});
  lock.unlock();
  for (const std::function<void()>& then : done) then();
}

}  // namespace lamina::launcher
