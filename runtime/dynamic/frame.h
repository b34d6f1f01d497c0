// SPDX-License-Identifier: BSD-3-Clause
// What goes over a stream between the roots of two groups, as bytes: the greeting, the proof that a
// guest knows the secret, and sealed frames. README.md has the format.
//
// Pure, but for NewGreeting().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/seal.h"
#include "runtime/base/status.h"

namespace lamina::dynamic {

inline constexpr std::string_view kMark = "LAMINA1\n";
inline constexpr std::size_t kGreetingBytes = 24;
inline constexpr std::size_t kAnswerBytes = 32;

// The words of the greeting.
std::string NewGreeting();
std::string AnswerTo(const std::string& greeting, const Key& secret, const std::string& own);
// True if that is the greeting of a host, or the answer of a guest who knows the secret.
bool IsGreeting(const std::string& text);
bool IsAnswer(const std::string& answer, const std::string& greeting, const Key& secret);
// Makes the key of a connection from the words of both.
Key KeyOfBoth(const std::string& greeting, const std::string& answer, const Key& secret);

// What a frame is sealed with.
struct FrameSeal {
  Key key;
  bool from_host;
  std::uint64_t number;  // of the frame, from 0
};
std::string SealedFrame(const FrameSeal& seal, std::span<const std::byte> payload);
// Returns how many bytes are still to come of a frame that begins so; 0: it is complete. kInvalid:
// it is longer than a frame may be.
Result<std::size_t> BytesToCome(std::string_view begun);
// Returns the payload of a complete frame. kInvalid: it was not sealed so.
Result<std::vector<std::byte>> Unsealed(const FrameSeal& seal, std::string_view frame);

}  // namespace lamina::dynamic
