// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/shepherd/poller.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "runtime/base/check.h"

namespace lamina::launcher {

Result<std::unique_ptr<Poller>> Poller::Open() {
  std::unique_ptr<Poller> poller(new Poller);
  poller->epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (poller->epoll_ < 0) return SystemError(Code::kResource, errno, "cannot make an epoll set");
  return poller;
}

Poller::~Poller() {
  if (epoll_ >= 0) close(epoll_);
}

void Poller::Control(int operation, Entry* entry) {
  epoll_event event{};
  event.events = (entry->wanted & kRead ? EPOLLIN : 0u) | (entry->wanted & kWrite ? EPOLLOUT : 0u);
  event.data.ptr = entry;
  CHECK(epoll_ctl(epoll_, operation, entry->fd, &event) == 0);
}

void Poller::Add(int fd, std::uint32_t wanted, Action action) {
  auto entry = std::make_unique<Entry>(Entry{fd, wanted, std::move(action)});
  // A descriptor that is not wanted at all is left out, because a closed pipe would be reported for
  // ever.
  if (wanted != 0) Control(EPOLL_CTL_ADD, entry.get());
  CHECK(entries_.emplace(fd, std::move(entry)).second);
}

void Poller::Watch(int fd, std::uint32_t wanted) {
  Entry* entry = entries_.at(fd).get();
  if (entry->wanted == wanted) return;
  const std::uint32_t before = std::exchange(entry->wanted, wanted);
  Control(wanted == 0 ? EPOLL_CTL_DEL : before == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, entry);
}

void Poller::Remove(int fd) {
  const auto found = entries_.find(fd);
  if (found == entries_.end()) return;
  if (found->second->wanted != 0) Control(EPOLL_CTL_DEL, found->second.get());
  found->second->removed = true;
  if (turning_) removed_.push_back(std::move(found->second));
  entries_.erase(found);
}

void Poller::Turn() {
  std::array<epoll_event, 64> ready;
  const int count = epoll_wait(epoll_, ready.data(), ready.size(), 0);
  turning_ = true;
  for (int i = 0; i < count; ++i) {
    auto* entry = static_cast<Entry*>(ready[static_cast<std::size_t>(i)].data.ptr);
    if (entry->removed) continue;
    const Action action = entry->action;  // it may remove itself
    action();
  }
  turning_ = false;
  removed_.clear();
}

}  // namespace lamina::launcher
