// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/signals.h"

#include <event2/event.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace lamina::launcher {
namespace {

constexpr int kWatched[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
// These are blocked and never looked at: the system calls that raise them then fail or go on, and
// say so themselves. SIGCHLD is the local spawner's, but must be blocked before libpmix makes
// threads.
constexpr int kUnwanted[] = {SIGPIPE, SIGTTIN, SIGTTOU, SIGXFSZ, SIGCHLD};

// True if whoever started us ignores it: nohup, or a shell without job control for what it puts
// into the background.
bool IsIgnored(int signal) {
  struct sigaction now {};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

Result<std::unique_ptr<Signals>> Signals::Watch(event_base* loop,
                                                std::function<void(int)> on_signal) {
  std::unique_ptr<Signals> signals(new Signals);
  signals->on_signal_ = std::move(on_signal);
  sigset_t watched;
  sigemptyset(&watched);
  for (const int signal : kWatched)
    if (!IsIgnored(signal)) sigaddset(&watched, signal);
  sigset_t blocked = watched;
  for (const int signal : kUnwanted) sigaddset(&blocked, signal);
  sigprocmask(SIG_BLOCK, &blocked, nullptr);
  signals->fd_ = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals->fd_ < 0) return SystemError(Code::kResource, errno, "cannot watch for signals");
  signals->readable_ =
      event_new(loop, signals->fd_, EV_READ | EV_PERSIST, OnReadable, signals.get());
  event_add(signals->readable_, nullptr);
  return signals;
}

Signals::~Signals() {
  if (readable_ != nullptr) event_free(readable_);
  if (fd_ >= 0) close(fd_);
}

void Signals::OnReadable(int fd, short, void* self) {
  signalfd_siginfo info;
  while (read(fd, &info, sizeof info) == sizeof info)
    static_cast<Signals*>(self)->on_signal_(static_cast<int>(info.ssi_signo));
}

void DieBy(int signal) {
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  sigaction(signal, &plain, nullptr);
  raise(signal);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
}

}  // namespace lamina::launcher
