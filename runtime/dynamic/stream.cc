// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/dynamic/stream.h"

#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "runtime/dynamic/await.h"

namespace lamina::dynamic {
namespace {

constexpr std::string_view kMark = "LAMINA1\n";
constexpr std::size_t kNonceBytes = 16;
constexpr std::size_t kHeadBytes = 12;
constexpr std::uint32_t kFrameBytesMax = 64u * 1024 * 1024;
constexpr std::size_t kPieceBytes = 64 * 1024;

Status Gone() { return Error(Code::kPeerLost, "the other end has closed the connection"); }

std::string_view Text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint32_t LengthIn(const std::string& frame) {
  std::uint32_t length;
  std::memcpy(&length, frame.data(), sizeof length);
  return length;
}

// Both send without a signal if the other end has gone. kAgain: not now.
Code SendSome(int socket, std::string_view* rest) {
  const ssize_t sent = send(socket, rest->data(), rest->size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) return errno == EAGAIN || errno == EINTR ? Code::kAgain : Code::kPeerLost;
  rest->remove_prefix(static_cast<std::size_t>(sent));
  return Code::kOk;
}

// Never reads beyond `bytes_max` in all, because what follows may be somebody else's.
Code ReceiveSome(int socket, std::size_t bytes_max, std::string* received) {
  char piece[kPieceBytes];
  const std::size_t wanted = std::min(sizeof piece, bytes_max - received->size());
  const ssize_t got = recv(socket, piece, wanted, MSG_DONTWAIT);
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

std::string NewGreeting() {
  std::string greeting(kMark);
  greeting.resize(kGreetingBytes);
  static_cast<void>(!getrandom(greeting.data() + kMark.size(), kNonceBytes, 0));
  return greeting;
}

bool IsGreeting(const std::string& text) {
  return text.size() >= kGreetingBytes && text.starts_with(kMark);
}

Key KeyOfBoth(const std::string& greeting, const std::string& answer, const Key& secret) {
  const auto nonce = [](const std::string& words) {
    return std::string_view(words).substr(kMark.size(), kNonceBytes);
  };
  return SessionKey(SessionKey(secret, nonce(greeting)), nonce(answer));
}

std::string AnswerTo(const std::string& greeting, const Key& secret, const std::string& own) {
  Seal proof(KeyOfBoth(greeting, own, secret));
  proof.Add("guest");
  const std::uint64_t word = proof.Finish();
  return own + std::string(reinterpret_cast<const char*>(&word), sizeof word);
}

bool IsAnswer(const std::string& answer, const std::string& greeting, const Key& secret) {
  return answer.size() == kAnswerBytes && IsGreeting(answer) &&
         answer == AnswerTo(greeting, secret, answer.substr(0, kGreetingBytes));
}

std::uint64_t Stream::SealOf(bool from_host, std::span<const std::byte> payload) const {
  Seal seal(key_);
  seal.Add(from_host ? "h" : "g");
  seal.Add({reinterpret_cast<const char*>(&frames_), sizeof frames_});
  seal.Add(Text(payload));
  return seal.Finish();
}

bool Stream::Complete(const std::string& received) const {
  return received.size() >= kHeadBytes && received.size() - kHeadBytes >= LengthIn(received);
}

Result<std::vector<std::byte>> Stream::Swap(std::span<const std::byte> mine,
                                            std::uint64_t until_ms) {
  const auto length = static_cast<std::uint32_t>(mine.size());
  const std::uint64_t seal = SealOf(is_host_, mine);
  std::string sent(kHeadBytes, '\0');
  std::memcpy(sent.data(), &length, sizeof length);
  std::memcpy(sent.data() + sizeof length, &seal, sizeof seal);
  sent += Text(mine);
  std::string_view rest = sent;
  std::string received;
  while (!rest.empty() || !Complete(received)) {
    pollfd ready{socket_.value(), static_cast<short>(rest.empty() ? 0 : POLLOUT), 0};
    if (!Complete(received)) ready.events |= POLLIN;
    if (!AwaitReady({&ready, 1}, until_ms))
      return Error(Code::kTimeout, "nobody has answered at the other end");
    if (!rest.empty() && SendSome(socket_.value(), &rest) == Code::kPeerLost) return Gone();
    if (Complete(received) || (ready.revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
    const std::size_t bytes_max =
        kHeadBytes + (received.size() < kHeadBytes ? 0 : LengthIn(received));
    if (ReceiveSome(socket_.value(), bytes_max, &received) == Code::kPeerLost) return Gone();
    if (received.size() >= kHeadBytes && LengthIn(received) > kFrameBytesMax)
      return Error(Code::kInvalid, "what came is too long to be meant");
  }
  std::uint64_t theirs;
  std::memcpy(&theirs, received.data() + sizeof(std::uint32_t), sizeof theirs);
  const auto* at = reinterpret_cast<const std::byte*>(received.data()) + kHeadBytes;
  std::vector<std::byte> payload(at, at + LengthIn(received));
  if (theirs != SealOf(!is_host_, payload))
    return Error(Code::kInvalid, "what came does not bear the seal of the connection");
  ++frames_;
  return payload;
}

// Neither end is the host by birth, so the one with the larger nonce is.
Result<Stream> StreamOver(int socket, std::uint64_t until_ms) {
  int type = 0;
  socklen_t bytes = sizeof type;
  if (getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &bytes) != 0 || type != SOCK_STREAM)
    return Error(Code::kInvalid, "it is no stream socket");
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
    if (ReceiveSome(socket, kGreetingBytes, &theirs) == Code::kPeerLost) return Gone();
  const bool is_host = own > theirs;
  return Stream(Descriptor(socket), KeyOfBoth(is_host ? own : theirs, is_host ? theirs : own, {}),
                is_host);
}

}  // namespace lamina::dynamic
