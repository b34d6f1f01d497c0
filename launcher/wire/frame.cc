// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/wire/frame.h"

#include "launcher/wire/bytes.h"
#include "runtime/base/check.h"

namespace lamina::launcher::wire {
namespace {

constexpr std::size_t kNoiseKept = 2048;

std::uint64_t SealOf(const Key& key, Direction direction, std::uint64_t number,
                     std::string_view head, std::string_view payload) {
  Seal seal(key);
  seal.Add(Writer().U64(number << 8 | static_cast<std::uint8_t>(direction)).bytes());
  seal.Add(head);
  seal.Add(payload);
  return seal.Finish();
}

}  // namespace

void FrameWriter::Append(Kind kind, std::string_view payload, std::string* bytes) {
  CHECK(payload.size() <= kPayloadBytesMax);
  Writer head;
  head.U32(static_cast<std::uint32_t>(payload.size())).U16(static_cast<std::uint16_t>(kind)).U16(0);
  const std::uint64_t seal = SealOf(key_, direction_, number_++, head.bytes(), payload);
  head.U64(seal);
  *bytes += head.bytes();
  *bytes += payload;
}

Status FrameReader::PassMark() {
  const std::size_t at = bytes_.find(kMark);
  // Without a mark everything is noise, but for what may be the beginning of one.
  const std::size_t noise = at != std::string::npos        ? at
                            : bytes_.size() > kMark.size() ? bytes_.size() - kMark.size()
                                                           : 0;
  noise_.append(bytes_, 0, noise);
  if (noise_.size() > kNoiseKept) noise_.erase(0, noise_.size() - kNoiseKept);
  noise_bytes_ += noise;
  bytes_.erase(0, at == std::string::npos ? noise : at + kMark.size());
  marked_ = at != std::string::npos;
  if (!marked_ && noise_bytes_ > kNoiseBytesMax)
    return Error(Code::kInvalid, "more than %zu bytes came before any greeting", kNoiseBytesMax);
  return {};
}

Result<std::optional<Frame>> FrameReader::Next() {
  if (!marked_) {
    if (Status status = PassMark(); !status.ok()) return status;
    if (!marked_) return std::optional<Frame>();
  }
  const std::string_view rest = std::string_view(bytes_).substr(done_);
  if (rest.size() < kHeaderBytes) {
    bytes_.erase(0, done_);
    done_ = 0;
    return std::optional<Frame>();
  }
  Reader header(rest.substr(0, kHeaderBytes));
  const std::uint32_t bytes = header.U32();
  const std::uint16_t kind = header.U16();
  const std::uint16_t zero = header.U16();
  const std::uint64_t seal = header.U64();
  const bool greeting = number_ == 0 && direction_ == Direction::kToLauncher;
  const std::uint32_t bytes_max = greeting ? kFirstPayloadBytesMax : kPayloadBytesMax;
  if (bytes > bytes_max || zero != 0)
    return Error(Code::kInvalid, "bytes that are no frame arrived on the stream");
  if (rest.size() - kHeaderBytes < bytes) return std::optional<Frame>();
  const std::string_view payload = rest.substr(kHeaderBytes, bytes);
  if (SealOf(key_, direction_, number_, rest.substr(0, 8), payload) != seal)
    return Error(Code::kInvalid, "a frame on the stream is damaged or not from the other end");
  ++number_;
  Frame frame{static_cast<Kind>(kind), std::string(payload)};
  done_ += kHeaderBytes + bytes;
  if (done_ > 1 << 20) {
    bytes_.erase(0, done_);
    done_ = 0;
  }
  return std::optional<Frame>(std::move(frame));
}

}  // namespace lamina::launcher::wire
