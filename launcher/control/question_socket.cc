// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/control/question_socket.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "launcher/control/ask.h"
#include "launcher/control/tuning.h"
#include "runtime/base/clock.h"

namespace lamina::launcher::control {
namespace {

// Only the job's own user and root may ask.
bool IsWelcome(int socket) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 &&
         (peer.uid == geteuid() || peer.uid == 0);
}

// Sends what the loop has not sent yet, since it does not turn any more.
void SendRest(bufferevent* stream, std::uint64_t until_ms) {
  evbuffer* const output = bufferevent_get_output(stream);
  const int fd = bufferevent_getfd(stream);
  std::size_t left = evbuffer_get_length(output);
  const unsigned char* bytes = left > 0 ? evbuffer_pullup(output, -1) : nullptr;
  while (bytes != nullptr && left > 0) {
    const ssize_t sent = send(fd, bytes, left, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes += sent;
      left -= static_cast<std::size_t>(sent);
    } else if (errno == EAGAIN) {
      pollfd ready{fd, POLLOUT, 0};
      const std::uint64_t now_ms = MonotonicMs();
      if (now_ms >= until_ms || poll(&ready, 1, static_cast<int>(until_ms - now_ms)) == 0) return;
    } else if (errno != EINTR) {
      return;
    }
  }
}

}  // namespace

struct QuestionSocket::Guest {
  QuestionSocket* socket = nullptr;
  bufferevent* stream = nullptr;
  std::uint64_t number = 0;
  bool asked = false;
  bool answered = false;
};

std::unique_ptr<QuestionSocket> QuestionSocket::Open(event_base* loop, Answer answer) {
  std::unique_ptr<QuestionSocket> opened(new QuestionSocket);
  opened->loop_ = loop;
  opened->answer_ = std::move(answer);
  opened->socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const Address address = AddressOf(NameOf(geteuid(), getpid()));
  if (opened->socket_ < 0 ||
      bind(opened->socket_, reinterpret_cast<const sockaddr*>(&address.name), address.bytes) != 0 ||
      listen(opened->socket_, kWaiting) != 0)
    return nullptr;
  opened->connecting_ = event_new(
      loop, opened->socket_, EV_READ | EV_PERSIST,
      [](int, short, void* self) { static_cast<QuestionSocket*>(self)->OnConnection(); },
      opened.get());
  event_add(opened->connecting_, nullptr);
  return opened;
}

QuestionSocket::~QuestionSocket() {
  const std::uint64_t until_ms = MonotonicMs() + kLastWordsMs;
  for (const Guest& guest : guests_) {
    if (guest.answered) SendRest(guest.stream, until_ms);
    shutdown(bufferevent_getfd(guest.stream), SHUT_RDWR);  // it is closed when the loop ends
    bufferevent_free(guest.stream);
  }
  if (connecting_ != nullptr) event_free(connecting_);
  if (socket_ >= 0) close(socket_);
}

void QuestionSocket::OnConnection() {
  const int fd = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  if (!IsWelcome(fd) || guests_.size() >= kGuestsMax) {
    close(fd);
    return;
  }
  Guest& guest = guests_.emplace_back();
  guest.socket = this;
  guest.number = ++guests_seen_;
  guest.stream = bufferevent_socket_new(loop_, fd, BEV_OPT_CLOSE_ON_FREE);
  bufferevent_setcb(
      guest.stream,
      [](bufferevent*, void* self) {
        auto* speaker = static_cast<Guest*>(self);
        speaker->socket->OnWords(speaker);
      },
      [](bufferevent*, void* self) {  // everything is written
        auto* reader = static_cast<Guest*>(self);
        if (reader->answered) reader->socket->Leave(reader);
      },
      [](bufferevent*, short, void* self) {  // gone, or too slow
        auto* lost = static_cast<Guest*>(self);
        lost->socket->Leave(lost);
      },
      &guest);
  bufferevent_set_timeouts(guest.stream, &kPatience, &kPatience);
  bufferevent_enable(guest.stream, EV_READ | EV_WRITE);
}

void QuestionSocket::OnWords(Guest* guest) {
  if (guest->asked) return;
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
  guest->asked = true;
  bufferevent_disable(guest->stream, EV_READ);
  answer_(
      question, [this, number = guest->number](const std::string& answer) { Give(number, answer); },
      [this, number = guest->number] { return Take(number); });
}

Descriptor QuestionSocket::Take(std::uint64_t number) {
  for (Guest& guest : guests_) {
    if (guest.number != number || guest.answered) continue;
    Descriptor kept(fcntl(bufferevent_getfd(guest.stream), F_DUPFD_CLOEXEC, 0));
    Leave(&guest);
    return kept;
  }
  return Descriptor();
}

// The guest may have gone meanwhile.
void QuestionSocket::Give(std::uint64_t number, const std::string& answer) {
  for (Guest& guest : guests_) {
    if (guest.number != number || guest.answered) continue;
    if (answer.empty()) return Leave(&guest);
    guest.answered = true;
    bufferevent_write(guest.stream, answer.data(), answer.size());
    return;
  }
}

void QuestionSocket::Leave(Guest* guest) {
  bufferevent_free(guest->stream);
  guests_.remove_if([guest](const Guest& other) { return &other == guest; });
}

}  // namespace lamina::launcher::control
