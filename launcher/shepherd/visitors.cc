// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/shepherd/visitors.h"

#include <sys/socket.h>

#include <cerrno>

namespace lamina::launcher {
namespace {

constexpr std::size_t kPieceBytes = 16 * 1024;

}  // namespace

Visitors::~Visitors() {
  for (const auto& [key, guest] : guests_) poller_->Remove(guest.socket.value());
}

void Visitors::Add(std::uint32_t host, std::uint64_t guest, Descriptor socket) {
  const Key key{host, guest};
  const int fd = socket.value();
  guests_.insert_or_assign(key, Guest{std::move(socket)});
  poller_->Add(fd, Poller::kRead, [this, key] { OnReady(key); });
}

bool Visitors::Knows(const wire::Visit& visit) const {
  return guests_.contains({visit.host, visit.guest});
}

void Visitors::Hear(const wire::Visit& visit) {
  const Key key{visit.host, visit.guest};
  const auto found = guests_.find(key);
  if (found == guests_.end()) return;
  Guest& guest = found->second;
  guest.unsent += visit.bytes;
  guest.ending = guest.ending || visit.bytes.empty();
  if (!Write(&guest) || (guest.ending && guest.unsent.empty())) return Leave(key);
  poller_->Watch(guest.socket.value(),
                 Poller::kRead | (guest.unsent.empty() ? 0u : std::uint32_t{Poller::kWrite}));
}

bool Visitors::Write(Guest* guest) {
  while (!guest->unsent.empty()) {
    const ssize_t sent = send(guest->socket.value(), guest->unsent.data(), guest->unsent.size(),
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return errno == EAGAIN;
    guest->unsent.erase(0, static_cast<std::size_t>(sent));
  }
  return true;
}

bool Visitors::Read(Key key, const Guest& guest) {
  char piece[kPieceBytes];
  const ssize_t got = recv(guest.socket.value(), piece, sizeof piece, MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got > 0) send_({key.first, key.second, {piece, static_cast<std::size_t>(got)}});
  return got > 0;
}

void Visitors::OnReady(Key key) {
  const auto found = guests_.find(key);
  if (found == guests_.end()) return;
  Guest& guest = found->second;
  const bool stays = Write(&guest) && Read(key, guest);
  if (!stays) send_({key.first, key.second, {}});
  if (!stays || (guest.ending && guest.unsent.empty())) return Leave(key);
  poller_->Watch(guest.socket.value(),
                 Poller::kRead | (guest.unsent.empty() ? 0u : std::uint32_t{Poller::kWrite}));
}

void Visitors::Leave(Key key) {
  const auto found = guests_.find(key);
  if (found == guests_.end()) return;
  poller_->Remove(found->second.socket.value());
  guests_.erase(found);
}

void Visitors::Forget(std::uint32_t host) {
  for (auto guest = guests_.lower_bound({host, 0});
       guest != guests_.end() && guest->first.first == host;) {
    poller_->Remove(guest->second.socket.value());
    guest = guests_.erase(guest);
  }
}

}  // namespace lamina::launcher
