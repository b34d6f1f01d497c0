// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/dynamic/frame.h"

#include <sys/random.h>

#include <cstring>

namespace lamina::dynamic {
namespace {

constexpr std::size_t kNonceBytes = 16;
constexpr std::size_t kHeadBytes = 12;
constexpr std::uint32_t kFrameBytesMax = 64u * 1024 * 1024;

std::string_view Text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint64_t WordOf(const FrameSeal& seal, std::string_view payload) {
  Seal word(seal.key);
  word.Add(seal.from_host ? "h" : "g");
  word.Add({reinterpret_cast<const char*>(&seal.number), sizeof seal.number});
  word.Add(payload);
  return word.Finish();
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

std::string SealedFrame(const FrameSeal& seal, std::span<const std::byte> payload) {
  const auto length = static_cast<std::uint32_t>(payload.size());
  const std::uint64_t word = WordOf(seal, Text(payload));
  std::string frame(kHeadBytes, '\0');
  std::memcpy(frame.data(), &length, sizeof length);
  std::memcpy(frame.data() + sizeof length, &word, sizeof word);
  return frame.append(Text(payload));
}

Result<std::size_t> BytesToCome(std::string_view begun) {
  if (begun.size() < kHeadBytes) return kHeadBytes - begun.size();
  std::uint32_t length;
  std::memcpy(&length, begun.data(), sizeof length);
  if (length > kFrameBytesMax) return Error(Code::kInvalid, "what came is too long to be meant");
  const std::size_t bytes = kHeadBytes + length;
  return begun.size() < bytes ? bytes - begun.size() : 0;
}

Result<std::vector<std::byte>> Unsealed(const FrameSeal& seal, std::string_view frame) {
  const std::string_view payload = frame.substr(kHeadBytes);
  std::uint64_t word;
  std::memcpy(&word, frame.data() + sizeof(std::uint32_t), sizeof word);
  if (word != WordOf(seal, payload))
    return Error(Code::kInvalid, "what came does not bear the seal of the connection");
  const auto* at = reinterpret_cast<const std::byte*>(payload.data());
  return std::vector<std::byte>(at, at + payload.size());
}

}  // namespace lamina::dynamic
