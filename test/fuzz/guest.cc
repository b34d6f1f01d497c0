// SPDX-License-Identifier: BSD-3-Clause
// What a guest at a port says before and after it has proved that it knows the secret, and what a
// file of names holds.
#include <algorithm>
#include <span>
#include <string>

#include "runtime/base/check.h"
#include "runtime/base/name_file.h"
#include "runtime/dynamic/frame.h"
#include "test/fuzz/input.h"

namespace lamina {
namespace {

void Frames(const dynamic::FrameSeal& seal, std::string_view text) {
  const auto to_come = dynamic::BytesToCome(text);
  // libFuzzer sees the seals that its bytes are compared with, so it may make a good one.
  if (to_come.ok() && *to_come == 0)
    if (const auto opened = dynamic::Unsealed(seal, text); opened.ok())
      CHECK(dynamic::SealedFrame(seal, *opened) == text);
  // The same bytes, sealed as they ought to be.
  const auto* at = reinterpret_cast<const std::byte*>(text.data());
  const std::span payload(at, text.size());
  const std::string frame = dynamic::SealedFrame(seal, payload);
  CHECK(*dynamic::BytesToCome(frame) == 0);
  CHECK(std::ranges::equal(*dynamic::Unsealed(seal, frame), payload));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string greeting = std::string(dynamic::kMark) + "0123456789abcdef";
  constexpr Key kSecret = {0x0123456789abcdef, 0xfedcba9876543210};
  if (dynamic::IsAnswer(text, greeting, kSecret))
    CHECK(dynamic::AnswerTo(greeting, kSecret, text.substr(0, dynamic::kGreetingBytes)) == text);
  const Key key =
      dynamic::KeyOfBoth(greeting, dynamic::IsGreeting(text) ? text : greeting, kSecret);
  Frames({key, size % 2 == 0, size}, text);
  const auto lines = ReadNameLines(text);
  if (lines.ok()) CHECK(*ReadNameLines(WriteNameLines(*lines)) == *lines);
  return 0;
}

}  // namespace lamina
