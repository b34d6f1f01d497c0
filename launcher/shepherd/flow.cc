// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/shepherd/flow.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "launcher/shepherd/tuning.h"
#include "launcher/wire/messages.h"

namespace lamina::launcher {
namespace {

void MakeNonBlocking(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

}  // namespace

Source::Source(Poller* poller, int fd, std::uint32_t credit,
               std::function<void(std::string_view)> send)
    : poller_(poller), fd_(fd), send_(std::move(send)), credit_(credit) {
  MakeNonBlocking(fd_);
  poller_->Add(fd_, credit_ > 0 ? std::uint32_t{Poller::kRead} : 0u, [this] { Read(); });
}

void Source::Close() {
  if (fd_ < 0) return;
  poller_->Remove(fd_);
  close(fd_);
  fd_ = -1;
}

void Source::Read() {
  const auto bytes = std::make_unique_for_overwrite<char[]>(kPieceBytes);
  // After a few pieces others get their turn, but the last call takes all it may.
  for (int turn = 0; (turn < 4 || last_call_) && credit_ > 0; ++turn) {
    const ssize_t count = read(fd_, bytes.get(), std::min<std::size_t>(kPieceBytes, credit_));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN && !last_call_) return;
    if (count <= 0) {
      Close();
      return send_({});
    }
    credit_ -= static_cast<std::uint32_t>(count);
    send_({bytes.get(), static_cast<std::size_t>(count)});
  }
  if (credit_ == 0) poller_->Watch(fd_, 0);
}

void Source::TakeAll() {
  if (fd_ < 0) return;
  const auto bytes = std::make_unique_for_overwrite<char[]>(kPieceBytes);
  ssize_t count;
  while ((count = read(fd_, bytes.get(), kPieceBytes)) > 0) {
    credit_ -=
        static_cast<std::uint32_t>(std::min<std::size_t>(credit_, static_cast<std::size_t>(count)));
    send_({bytes.get(), static_cast<std::size_t>(count)});
  }
  if (credit_ == 0) poller_->Watch(fd_, 0);
}

void Source::Grant(std::uint32_t bytes) {
  if (fd_ < 0) return;
  credit_ = std::min<std::uint64_t>(std::uint64_t{credit_} + bytes, kWindowBytes);
  poller_->Watch(fd_, Poller::kRead);
  if (last_call_) Read();
}

void Source::LastCall() {
  if (fd_ < 0) return;
  last_call_ = true;
  Read();
}

Sink::Sink(Poller* poller, int fd, std::function<void(std::uint32_t)> granted)
    : poller_(poller), fd_(fd), granted_(std::move(granted)) {
  MakeNonBlocking(fd_);
  poller_->Add(fd_, 0, [this] { Write(); });
}

void Sink::Close() {
  if (fd_ < 0) return;
  poller_->Remove(fd_);
  close(fd_);
  fd_ = -1;
  held_.clear();
  done_ = 0;
}

void Sink::Take(std::string_view piece) {
  if (fd_ < 0) return;
  if (piece.empty()) ending_ = true;
  held_ += piece;
  Write();
}

void Sink::Write() {
  while (done_ < held_.size()) {
    const ssize_t count = write(fd_, held_.data() + done_, held_.size() - done_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count < 0) {
      Close();
      return granted_(wire::Credit::kGone);
    }
    done_ += static_cast<std::size_t>(count);
    written_ += static_cast<std::uint32_t>(count);
    given_ += static_cast<std::uint64_t>(count);
  }
  const bool empty = done_ == held_.size();
  if (empty) {
    held_.clear();
    done_ = 0;
  }
  if (written_ > 0 && (empty || written_ >= kGrantBytesMin)) granted_(std::exchange(written_, 0));
  if (empty && ending_) return Close();
  poller_->Watch(fd_, empty ? 0u : std::uint32_t{Poller::kWrite});
}

}  // namespace lamina::launcher
