// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/stdio/outlet.h"

#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

namespace lamina::launcher::stdio {
namespace {

// Opens another file description of the same pipe or terminal, so that only we do not block on it.
int OpenAnew(int fd) {
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  return open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

}  // namespace

Outlet::Outlet(event_base* loop, int fd, std::function<void()> on_change)
    : fd_(fd), on_change_(std::move(on_change)) {
  struct stat status {};
  if (fstat(fd, &status) != 0) {
    error_ = errno;
    return;
  }
  if (S_ISREG(status.st_mode) || S_ISBLK(status.st_mode)) {
    kind_ = Kind::kFile;
    return;
  }
  if (S_ISSOCK(status.st_mode)) {
    kind_ = Kind::kSocket;
  } else if (const int own = OpenAnew(fd); own >= 0) {
    kind_ = Kind::kOwn;
    fd_ = own;
  }
  writable_ = event_new(loop, fd_, EV_WRITE | EV_PERSIST, OnWritable, this);
}

Outlet::~Outlet() {
  if (writable_ != nullptr) event_free(writable_);
  if (kind_ == Kind::kOwn) close(fd_);
}

// Returns the bytes written, 0 if it would block; sets error_.
std::size_t Outlet::WriteSome(std::string_view bytes) {
  ssize_t count = -1;
  switch (kind_) {
    case Kind::kFile:
    case Kind::kOwn:
      count = write(fd_, bytes.data(), bytes.size());
      break;
    case Kind::kSocket:
      count = send(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      break;
    case Kind::kShared: {
      // It may block, so we write no more than poll() promises room for, which is PIPE_BUF.
      pollfd room{fd_, POLLOUT, 0};
      if (poll(&room, 1, 0) == 0) return 0;
      count = write(fd_, bytes.data(), std::min<std::size_t>(bytes.size(), 4096));
      break;
    }
  }
  if (count >= 0) return static_cast<std::size_t>(count);
  if (errno != EAGAIN && errno != EINTR) error_ = errno;
  return 0;
}

void Outlet::Write(std::string_view bytes) {
  while (empty() && !bytes.empty() && !broken()) {
    const std::size_t count = WriteSome(bytes);
    bytes.remove_prefix(count);
    if (count == 0 && kind_ != Kind::kFile) break;
  }
  if (broken()) {
    held_.clear();
    done_ = 0;
    if (writable_ != nullptr) event_del(writable_);
    return;  // the caller looks at broken()
  }
  if (bytes.empty()) return;
  if (empty()) {
    held_.clear();
    done_ = 0;
    event_add(writable_, nullptr);
  }
  held_ += bytes;
}

void Outlet::OnWritable(int, short, void* self) { static_cast<Outlet*>(self)->Drain(); }

void Outlet::Drain() {
  const bool was_full = full();
  done_ += WriteSome(std::string_view(held_).substr(done_));
  if (broken() || empty()) {
    held_.clear();
    done_ = 0;
    event_del(writable_);
  } else if (done_ > kHeldBytesMax) {
    held_.erase(0, done_);
    done_ = 0;
  }
  if (broken() || empty() || (was_full && !full())) on_change_();
}

}  // namespace lamina::launcher::stdio
