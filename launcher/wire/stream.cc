// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/wire/stream.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

namespace lamina::launcher::wire {
namespace {

constexpr std::size_t kPieceBytes = 65536;

Direction Other(Direction direction) {
  return direction == Direction::kToShepherd ? Direction::kToLauncher : Direction::kToShepherd;
}

}  // namespace

Stream::Stream(int in, int out, const Key& key, Direction sends)
    : in_(in), out_(out), writer_(key, sends), reader_(key, Other(sends)) {
  fcntl(in_, F_SETFL, fcntl(in_, F_GETFL) | O_NONBLOCK);
  if (out_ != in_) fcntl(out_, F_SETFL, fcntl(out_, F_GETFL) | O_NONBLOCK);
  // The shepherd has read the launcher's mark and nonce by itself: its key depends on them.
  if (sends == Direction::kToShepherd) reader_.ExpectMark();
}

Stream::~Stream() {
  close(in_);
  if (out_ != in_) close(out_);
}

void Stream::Open(std::string_view nonce) {
  outgoing_ += kMark;
  outgoing_ += nonce;
}

void Stream::Send(Kind kind, std::string_view payload) {
  writer_.Append(kind, payload, &outgoing_);
}

Result<bool> Stream::Receive() {
  const auto bytes = std::make_unique_for_overwrite<char[]>(kPieceBytes);
  for (int turn = 0; turn < 16; ++turn) {  // bounded, so that others get their turn
    const ssize_t count = read(in_, bytes.get(), kPieceBytes);
    if (count > 0) {
      reader_.Feed({bytes.get(), static_cast<std::size_t>(count)});
      if (static_cast<std::size_t>(count) < kPieceBytes) return true;
      continue;
    }
    if (count == 0) return false;
    if (errno == EINTR) continue;
    if (errno == EAGAIN) return true;
    if (errno == ECONNRESET || errno == EPIPE) return false;
    return SystemError(Code::kPeerLost, errno, "cannot read from the stream");
  }
  return true;
}

Status Stream::Flush() {
  while (unsent()) {
    const ssize_t count = write(out_, outgoing_.data() + done_, outgoing_.size() - done_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count < 0) return SystemError(Code::kPeerLost, errno, "cannot write to the stream");
    done_ += static_cast<std::size_t>(count);
  }
  if (!unsent()) {
    outgoing_.clear();
    done_ = 0;
  } else if (done_ > 1 << 20) {
    outgoing_.erase(0, done_);
    done_ = 0;
  }
  return {};
}

Result<std::string> RandomBytes() {
  std::string bytes(kNonceBytes, '\0');
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return SystemError(Code::kResource, errno, "cannot get random numbers");
  return bytes;
}

}  // namespace lamina::launcher::wire
