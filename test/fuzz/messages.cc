// SPDX-License-Identifier: BSD-3-Clause
// What launcher and shepherd say to each other. The first byte chooses the message.
#include "launcher/wire/messages.h"

#include "runtime/base/check.h"
#include "test/fuzz/input.h"

namespace lamina::launcher::wire {
namespace {

// What is understood is written and understood again as the same message.
template <class Decode>
void Look(Decode decode, std::string_view bytes) {
  const auto message = decode(bytes);
  if (!message.ok()) return;
  const std::string written = Encode(*message);
  const auto again = decode(written);
  CHECK(again.ok());
  CHECK(Encode(*again) == written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  switch (input.Take<char>()) {
    case 'h':
      Look(DecodeHello, input.Rest());
      break;
    case 'o':
      Look(DecodeOrders, input.Rest());
      break;
    case 'e':
      Look(DecodeEnds, input.Rest());
      break;
    case 'g':
      Look(DecodeGone, input.Rest());
      break;
    case 'r':
      Look(DecodeReady, input.Rest());
      break;
    case 's':
      Look(DecodeStart, input.Rest());
      break;
    case 'p':
      Look(DecodePiece, input.Rest());
      break;
    case 'c':
      Look(DecodeCredit, input.Rest());
      break;
    case 'S':
      Look(DecodeSignal, input.Rest());
      break;
    case 'b':
      Look(DecodeBeat, input.Rest());
      break;
    case 'v':
      Look(DecodeVisit, input.Rest());
      break;
    case 'u':
      Look(DecodeUsage, input.Rest());
      break;
    case 'w':
      Look(DecodeSavingWord, input.Rest());
      break;
    case 'd':
      Look(DecodeStoreWord, input.Rest());
      break;
    default:
      Look(DecodePing, input.Rest());
  }
  return 0;
}

}  // namespace lamina::launcher::wire
