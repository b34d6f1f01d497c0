// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/dynamic/stream.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/dynamic/await.h"

namespace lamina::dynamic {
namespace {

constexpr std::size_t kPieceBytes = 8 * 1024;  // on the stack, which may be small

Status Gone() { return Error(Code::kPeerLost, "the other end has closed the connection"); }

// Both send without a signal if the other end has gone. kAgain: not now.
Code SendSome(int socket, std::string_view* rest) {
  const ssize_t sent = send(socket, rest->data(), rest->size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) return errno == EAGAIN || errno == EINTR ? Code::kAgain : Code::kPeerLost;
  rest->remove_prefix(static_cast<std::size_t>(sent));
  return Code::kOk;
}

// Never reads more than `bytes_max`, because what follows may be somebody else's.
Code ReceiveSome(int socket, std::size_t bytes_max, std::string* received) {
  char piece[kPieceBytes];
  const ssize_t got = recv(socket, piece, std::min(sizeof piece, bytes_max), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR ? Code::kAgain : Code::kPeerLost;
  if (got == 0) return Code::kPeerLost;
  received->append(piece, static_cast<std::size_t>(got));
  return Code::kOk;
}

// Waits until the socket has `bytes` bytes to read, and reads none.
Status Peek(int socket, std::size_t bytes, std::uint64_t until_ms, std::string* seen) {
  for (;;) {
    char piece[kGreetingBytes];
    const ssize_t got = recv(socket, piece, std::min(bytes, sizeof piece), MSG_PEEK | MSG_DONTWAIT);
    if (got == 0) return Gone();
    if (got < 0 && errno != EAGAIN && errno != EINTR)
      return SystemError(Code::kPeerLost, errno, "the connection has failed");
    if (got > 0) {
      seen->assign(piece, static_cast<std::size_t>(got));
      const std::size_t marked = std::min(seen->size(), kMark.size());
      if (seen->size() >= bytes || seen->substr(0, marked) != kMark.substr(0, marked)) return {};
    }
    // A socket with a part of it is readable at once, so that is asked for only now and then.
    pollfd ready{socket, static_cast<short>(got > 0 ? 0 : POLLIN), 0};
    if (!AwaitReady({&ready, 1}, got > 0 ? std::min(until_ms, MomentIn(1)) : until_ms) && got <= 0)
      return Error(Code::kTimeout, "nobody has answered at the other end");
  }
}

}  // namespace

Result<std::vector<std::byte>> Stream::Swap(std::span<const std::byte> mine,
                                            std::uint64_t until_ms) {
  const std::string sent = SealedFrame({key_, is_host_, frames_}, mine);
  std::string_view rest = sent;
  std::string received;
  Result<std::size_t> to_come = BytesToCome(received);
  while (!rest.empty() || *to_come > 0) {
    pollfd ready{socket_.value(), static_cast<short>(rest.empty() ? 0 : POLLOUT), 0};
    if (*to_come > 0) ready.events |= POLLIN;
    if (!AwaitReady({&ready, 1}, until_ms))
      return Error(Code::kTimeout, "nobody has answered at the other end");
    if (!rest.empty() && SendSome(socket_.value(), &rest) == Code::kPeerLost) return Gone();
    if (*to_come == 0 || (ready.revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
    if (ReceiveSome(socket_.value(), *to_come, &received) == Code::kPeerLost) return Gone();
    to_come = BytesToCome(received);
    if (!to_come.ok()) return std::move(to_come).status();
  }
  Result<std::vector<std::byte>> payload = Unsealed({key_, !is_host_, frames_}, received);
  if (payload.ok()) ++frames_;
  return payload;
}

// Neither end is the host by birth, so the one with the larger nonce is.
Result<Stream> StreamOver(int socket, std::uint64_t until_ms) {
  int type = 0;
  socklen_t bytes = sizeof type;
  if (getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &bytes) != 0 || type != SOCK_STREAM)
    return Error(Code::kInvalid, "it is no stream socket");
  int listens = 0;
  bytes = sizeof listens;
  if (getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) == 0 && listens != 0)
    return Error(Code::kInvalid,
                 "the socket listens for connections; what accept() returns for one can be joined");
  sockaddr_storage other;
  bytes = sizeof other;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&other), &bytes) != 0)
    return SystemError(Code::kInvalid, errno, "%s", "the socket is not connected");
  const std::string own = NewGreeting();
  std::string_view rest = own;
  while (!rest.empty()) {
    pollfd ready{socket, POLLOUT, 0};
    if (!AwaitReady({&ready, 1}, until_ms))
      return Error(Code::kTimeout, "the socket takes nothing");
    if (SendSome(socket, &rest) == Code::kPeerLost) return Gone();
  }
  std::string theirs;
  if (Status status = Peek(socket, kGreetingBytes, until_ms, &theirs); !status.ok()) return status;
  if (!IsGreeting(theirs))
    return Error(Code::kUnsupported, "what speaks at the other end of the socket is no Lamina");
  theirs.clear();
  while (theirs.size() < kGreetingBytes)
    if (ReceiveSome(socket, kGreetingBytes - theirs.size(), &theirs) == Code::kPeerLost)
      return Gone();
  const bool is_host = own > theirs;
  return Stream(Descriptor(socket), KeyOfBoth(is_host ? own : theirs, is_host ? theirs : own, {}),
                is_host);
}

}  // namespace lamina::dynamic
