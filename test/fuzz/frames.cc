// SPDX-License-Identifier: BSD-3-Clause
// The stream between launcher and shepherd: bytes of strangers, and frames that arrive in pieces.
#include "launcher/wire/frame.h"
#include "runtime/base/check.h"
#include "test/fuzz/input.h"

namespace lamina::launcher::wire {
namespace {

constexpr Key kKey = {1, 2};

void Strange(std::string_view bytes, bool with_mark) {
  FrameReader reader(kKey, Direction::kToLauncher);
  if (with_mark) reader.ExpectMark();
  reader.Feed(bytes.substr(0, bytes.size() / 2));
  Result<std::optional<Frame>> frame = reader.Next();
  if (!frame.ok()) return;
  CHECK(!frame->has_value());  // nobody guesses the seal
  reader.Feed(bytes.substr(bytes.size() / 2));
  frame = reader.Next();
  CHECK(!frame.ok() || !frame->has_value());
}

// Each line of the input is the payload of a frame, whose first byte says how it is cut.
void InPieces(fuzz::Input input) {
  FrameWriter writer(kKey, Direction::kToLauncher);
  FrameReader reader(kKey, Direction::kToLauncher);
  for (const std::string& line : input.Lines()) {
    std::string bytes;
    writer.Append(Kind::kOutput, line, &bytes);
    const std::size_t piece = 1 + (line.empty() ? 0 : static_cast<unsigned char>(line[0]));
    Result<std::optional<Frame>> frame = std::optional<Frame>();
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      CHECK(!frame->has_value());
      reader.Feed(std::string_view(bytes).substr(at, piece));
      frame = reader.Next();
      CHECK(frame.ok());
    }
    CHECK(frame->has_value() && (*frame)->kind == Kind::kOutput && (*frame)->payload == line);
  }
}

}  // namespace
}  // namespace lamina::launcher::wire

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace wire = lamina::launcher::wire;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  wire::Strange(bytes, false);
  wire::Strange(bytes, true);
  wire::InPieces({data, size});
  return 0;
}
