// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/control/door.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "launcher/control/ask.h"

namespace lamina::launcher::control {
namespace {

constexpr int kWaiting = 8;
constexpr std::size_t kGuestsMax = 32;
constexpr timeval kPatience = {5, 0};

// The user himself, or root.
bool IsWelcome(int socket) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 &&
         (peer.uid == geteuid() || peer.uid == 0);
}

}  // namespace

struct Door::Guest {
  Door* door = nullptr;
  bufferevent* stream = nullptr;
  bool answered = false;
};

std::unique_ptr<Door> Door::Open(event_base* loop, Answer answer) {
  std::unique_ptr<Door> door(new Door);
  door->loop_ = loop;
  door->answer_ = std::move(answer);
  door->socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const Address address = AddressOf(NameOf(geteuid(), getpid()));
  if (door->socket_ < 0 ||
      bind(door->socket_, reinterpret_cast<const sockaddr*>(&address.name), address.bytes) != 0 ||
      listen(door->socket_, kWaiting) != 0)
    return nullptr;
  door->knock_ = event_new(
      loop, door->socket_, EV_READ | EV_PERSIST,
      [](int, short, void* self) { static_cast<Door*>(self)->OnKnock(); }, door.get());
  event_add(door->knock_, nullptr);
  return door;
}

Door::~Door() {
  for (const Guest& guest : guests_) bufferevent_free(guest.stream);
  if (knock_ != nullptr) event_free(knock_);
  if (socket_ >= 0) close(socket_);
}

void Door::OnKnock() {
  const int fd = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  if (!IsWelcome(fd) || guests_.size() >= kGuestsMax) {
    close(fd);
    return;
  }
  Guest& guest = guests_.emplace_back();
  guest.door = this;
  guest.stream = bufferevent_socket_new(loop_, fd, BEV_OPT_CLOSE_ON_FREE);
  bufferevent_setcb(
      guest.stream,
      [](bufferevent*, void* self) {
        auto* speaker = static_cast<Guest*>(self);
        speaker->door->OnWords(speaker);
      },
      [](bufferevent*, void* self) {  // everything is written
        auto* reader = static_cast<Guest*>(self);
        if (reader->answered) reader->door->Leave(reader);
      },
      [](bufferevent*, short, void* self) {  // gone, or too slow
        auto* lost = static_cast<Guest*>(self);
        lost->door->Leave(lost);
      },
      &guest);
  bufferevent_set_timeouts(guest.stream, &kPatience, &kPatience);
  bufferevent_enable(guest.stream, EV_READ | EV_WRITE);
}

void Door::OnWords(Guest* guest) {
  if (guest->answered) return;
  evbuffer* input = bufferevent_get_input(guest->stream);
  std::size_t bytes = 0;
  char* line = evbuffer_readln(input, &bytes, EVBUFFER_EOL_LF);
  if (line == nullptr) {
    if (evbuffer_get_length(input) > kQuestionBytesMax) Leave(guest);
    return;
  }
  const std::string question(line, bytes);
  free(line);
  if (bytes > kQuestionBytesMax) return Leave(guest);
  const std::string answer = answer_(question);
  guest->answered = true;
  bufferevent_disable(guest->stream, EV_READ);
  if (answer.empty()) return Leave(guest);
  bufferevent_write(guest->stream, answer.data(), answer.size());
}

void Door::Leave(Guest* guest) {
  bufferevent_free(guest->stream);
  guests_.remove_if([guest](const Guest& other) { return &other == guest; });
}

}  // namespace lamina::launcher::control
