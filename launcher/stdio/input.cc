// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/stdio/input.h"

#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "launcher/stdio/tuning.h"

namespace lamina::launcher::stdio {
namespace {

constexpr timeval kAtOnce{0, 0};

// True for plain files, /dev/null and their like, which are always ready and which epoll does not
// take.
bool IsAlwaysReady(int fd) {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  const bool refused = epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0 && errno == EPERM;
  close(epoll);
  return refused;
}

}  // namespace

bool IsTerminal(int fd) { return isatty(fd) == 1; }

struct Input::Target {
  Input* input;
  int fd;
  std::size_t taken = 0;  // of piece_
  std::uint64_t spared = 0;
  std::uint64_t given = 0;
  std::string before;  // goes first
  std::string recent;  // the last of what is for it
  std::uint64_t all = 0;
  event* writable;
  void Note(std::string_view bytes) {
    all += bytes.size();
    recent += bytes;
    if (recent.size() > 2 * kKeptBytes) recent.erase(0, recent.size() - kKeptBytes);
  }
};

Input::Input(event_base* loop, int fd, std::vector<To> targets, bool keeps)
    : fd_(fd),
      terminal_(IsTerminal(fd)),
      always_ready_(IsAlwaysReady(fd)),
      keeps_(keeps),
      // What is always ready is read by an immediate timer.
      readable_(
          event_new(loop, always_ready_ ? -1 : fd, always_ready_ ? 0 : EV_READ, OnReadable, this)),
      later_(event_new(loop, -1, 0, OnLater, this)) {
  for (To& target : targets) {
    fcntl(target.fd, F_SETFL, O_NONBLOCK);
    auto entry = std::make_unique<Target>();
    entry->input = this;
    entry->fd = target.fd;
    entry->spared = target.spared;
    entry->before = std::move(target.before);
    if (keeps_) entry->Note(entry->before);
    entry->writable = event_new(loop, target.fd, EV_WRITE, OnWritable, entry.get());
    targets_.push_back(std::move(entry));
  }
  for (const auto& target : targets_) Feed(target.get());
  Continue();
}

Input::~Input() {
  for (const auto& target : targets_) Close(target.get());
  event_free(readable_);
  event_free(later_);
}

// A terminal that is not ours to be in front of (setsid, su) has no foreground to wait for.
bool Input::MayRead() const {
  const pid_t front = terminal_ ? tcgetpgrp(fd_) : -1;
  return front < 0 || front == getpgrp();
}

void Input::OnReadable(int, short, void* self) { static_cast<Input*>(self)->Read(); }
void Input::OnLater(int, short, void* self) { static_cast<Input*>(self)->Continue(); }

void Input::Read() {
  if (!MayRead()) return Continue();
  // The descriptor is shared with other programs, so it may not be made non-blocking; it is ready,
  // but another reader may have been faster.
  pollfd ready{fd_, POLLIN, 0};
  if (poll(&ready, 1, 0) == 0) return Continue();
  piece_.resize(kPieceBytes);
  const ssize_t count = read(fd_, piece_.data(), piece_.size());
  piece_.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return Continue();
  if (count <= 0) {
    ended_ = true;
    for (const auto& target : targets_) Close(target.get());
    return;
  }
  for (const auto& target : targets_) {
    target->taken = std::min<std::uint64_t>(target->spared, piece_.size());
    target->spared -= target->taken;
    if (keeps_) target->Note(std::string_view(piece_).substr(target->taken));
    Feed(target.get());
  }
  Continue();
}

void Input::OnWritable(int, short, void* self) {
  auto* target = static_cast<Target*>(self);
  target->input->Feed(target);
  target->input->Continue();
}

void Input::Feed(Target* target) {
  while (target->fd >= 0 && (!target->before.empty() || target->taken < piece_.size())) {
    const bool first = !target->before.empty();
    const std::string_view rest =
        first ? std::string_view(target->before) : std::string_view(piece_).substr(target->taken);
    const ssize_t count = write(target->fd, rest.data(), rest.size());
    if (count >= 0) {
      if (first)
        target->before.erase(0, static_cast<std::size_t>(count));
      else
        target->taken += static_cast<std::size_t>(count);
      target->given += static_cast<std::uint64_t>(count);
    } else if (errno == EAGAIN) {
      event_add(target->writable, nullptr);
      return;
    } else {
      Close(target);  // the rank reads no more
    }
  }
}

std::uint64_t Input::given(std::size_t target) const { return targets_[target]->given; }

std::string Input::Unread(std::size_t target, std::uint64_t read) const {
  const Target& its = *targets_[target];
  const std::uint64_t unread = its.all - std::min(its.all, read);
  return its.recent.substr(its.recent.size() - std::min<std::uint64_t>(unread, its.recent.size()));
}

// Reads on once every rank that still reads has taken the last piece.
void Input::Continue() {
  if (ended_) return;
  bool any = false;
  for (const auto& target : targets_) {
    if (target->fd < 0) continue;
    if (!target->before.empty() || target->taken < piece_.size()) return;
    any = true;
  }
  if (!any) return;
  if (!MayRead())
    event_add(later_, &kForegroundCheck);
  else
    event_add(readable_, always_ready_ ? &kAtOnce : nullptr);
}

void Input::Close(Target* target) {
  if (target->fd < 0) return;
  event_free(target->writable);
  close(target->fd);
  target->fd = -1;
}

}  // namespace lamina::launcher::stdio
