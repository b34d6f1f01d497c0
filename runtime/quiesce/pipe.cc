// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/quiesce/pipe.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace lamina::quiesce {
namespace {

// While it lives, writing to a pipe that nobody reads raises no SIGPIPE in this thread.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  // A signal that was raised meanwhile is taken away again.
  ~NoPipeSignal() {
    const timespec at_once{};
    if (!was_pending_)
      while (sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) continue;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool was_pending_ = false;
};

}  // namespace

Status WriteToPipe(int pipe, std::string_view bytes) {
  ssize_t written;
  int error = 0;
  {
    const NoPipeSignal quiet;
    do {
      written = write(pipe, bytes.data(), bytes.size());
      error = errno;
    } while (written < 0 && error == EINTR);
  }
  if (written != static_cast<ssize_t>(bytes.size()))
    return SystemError(Code::kAborted, error, "the launcher does not listen");
  return {};
}

Status ReadFromPipe(int pipe, void* data, std::size_t bytes, int limit_ms) {
  char* into = static_cast<char*>(data);
  while (bytes > 0) {
    pollfd ready{pipe, POLLIN, 0};
    const int polled = limit_ms >= 0 ? poll(&ready, 1, limit_ms) : 1;
    if (polled < 0 && errno == EINTR) continue;
    if (polled == 0)
      return Error(Code::kTimeout, "the launcher did not answer within %d s", limit_ms / 1000);
    const ssize_t got = read(pipe, into, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      return SystemError(Code::kAborted, got < 0 ? errno : EPIPE, "the launcher is gone");
    into += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return {};
}

}  // namespace lamina::quiesce
