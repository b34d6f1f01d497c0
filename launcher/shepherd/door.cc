// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/shepherd/door.h"

#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "launcher/control/ask.h"
#include "launcher/shepherd/tuning.h"
#include "runtime/base/dynamic_words.h"

namespace lamina::launcher {

std::unique_ptr<Door> Door::Open(Poller* poller, std::uint32_t host,
                                 std::function<void(const wire::Visit&)> send) {
  std::unique_ptr<Door> door(new Door(poller, host, std::move(send)));
  door->name_ = control::NameOf(geteuid(), getpid()) + kShepherdsDoor;
  const control::Address address = control::AddressOf(door->name_);
  Descriptor made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (made.value() < 0 ||
      bind(made.value(), reinterpret_cast<const sockaddr*>(&address.name), address.bytes) != 0 ||
      listen(made.value(), static_cast<int>(kGuestsMax)) != 0)
    return nullptr;
  door->socket_ = std::move(made);
  poller->Add(door->socket_.value(), Poller::kRead, [door = door.get()] { door->OnGuest(); });
  return door;
}

Door::~Door() {
  if (socket_.value() >= 0) poller_->Remove(socket_.value());
}

void Door::OnGuest() {
  Descriptor guest(accept4(socket_.value(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (guest.value() < 0 || getsockopt(guest.value(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 ||
      (peer.uid != geteuid() && peer.uid != 0))
    return;
  visitors_.Add(host_, ++guests_, std::move(guest));
}

}  // namespace lamina::launcher
