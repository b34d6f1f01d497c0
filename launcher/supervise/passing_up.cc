// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/passing_up.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/util.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "launcher/control/ask.h"

namespace lamina::launcher {

PassingUp::~PassingUp() {
  while (!pairs_.empty()) End(&pairs_.front());
}

Descriptor PassingUp::Reach(pid_t launcher) {
  const control::Address door = control::AddressOf(control::NameOf(geteuid(), launcher));
  Descriptor made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (made.value() < 0 ||
      connect(made.value(), reinterpret_cast<const sockaddr*>(&door.name), door.bytes) != 0)
    return Descriptor();
  return made;
}

void PassingUp::Add(Descriptor asker, Descriptor launcher, const std::string& question) {
  Pair& pair = pairs_.emplace_back();
  pair.owner = this;
  const auto open = [&](Descriptor descriptor) {
    const int fd = fcntl(descriptor.value(), F_DUPFD_CLOEXEC, 0);
    evutil_make_socket_nonblocking(fd);
    bufferevent* const end = bufferevent_socket_new(loop_, fd, BEV_OPT_CLOSE_ON_FREE);
    bufferevent_setcb(end, OnWords, OnWritten, OnGone, &pair);
    bufferevent_enable(end, EV_READ | EV_WRITE);
    return end;
  };
  pair.asker = open(std::move(asker));
  pair.launcher = open(std::move(launcher));
  bufferevent_write(pair.launcher, question.data(), question.size());
  bufferevent_write(pair.launcher, "\n", 1);
}

void PassingUp::OnWords(bufferevent* from, void* pair) {
  auto* const self = static_cast<Pair*>(pair);
  bufferevent_write_buffer(from == self->asker ? self->launcher : self->asker,
                           bufferevent_get_input(from));
}

void PassingUp::OnWritten(bufferevent*, void* pair) {
  auto* const self = static_cast<Pair*>(pair);
  if (self->ending) self->owner->End(self);
}

// The launcher ends the connection with its last words, which the asker still has to get.
void PassingUp::OnGone(bufferevent* from, short, void* pair) {
  auto* const self = static_cast<Pair*>(pair);
  self->ending = true;
  if (from == self->asker || evbuffer_get_length(bufferevent_get_output(self->asker)) == 0)
    self->owner->End(self);
}

void PassingUp::End(Pair* pair) {
  for (bufferevent* end : {pair->asker, pair->launcher}) {
    shutdown(bufferevent_getfd(end), SHUT_RDWR);  // it is closed when the loop comes to that
    bufferevent_free(end);
  }
  pairs_.remove_if([pair](const Pair& each) { return &each == pair; });
}

}  // namespace lamina::launcher
