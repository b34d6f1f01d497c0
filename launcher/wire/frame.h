// SPDX-License-Identifier: BSD-3-Clause
// A Frame is a piece of a byte stream with a kind, a bounded length and a seal. The format is
// written down in this folder's README.
//
// Pure: bytes go in and come out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/seal.h"
#include "runtime/base/status.h"

namespace lamina::launcher::wire {

inline constexpr std::uint16_t kVersion = 13;
inline constexpr std::size_t kNonceBytes = 16;
inline constexpr std::size_t kHeaderBytes = 16;
inline constexpr std::uint32_t kFirstPayloadBytesMax = 4096;  // of a greeting: nothing is proved
inline constexpr std::uint32_t kPayloadBytesMax = 64u << 20;
inline constexpr std::size_t kNoiseBytesMax = 1 << 20;
// The mark begins each direction. A shell's start-up files may write in front of it, but never the
// mark.
inline constexpr std::string_view kMark{"\0LAMINA\n", 8};

enum class Kind : std::uint16_t {
  // The shepherd sends these.
  kHello = 1,
  kEnded = 2,
  kOutput = 3,
  kTaken = 4,  // of the input
  kBye = 5,
  kGone = 6,
  kReady = 7,
  kStarted = 8,
  kTrace = 9,     // of a rank that is about to be told as ended
  kProfile = 10,  // of a rank that runs
  kUsage = 11,    // what ranks use of their host
  // The launcher sends these.
  kOrders = 32,
  kInput = 33,
  kWritten = 34,  // of the output
  kSignal = 35,
  kSweep = 36,
  kStart = 37,
  // Both send these.
  kLetter = 64,
  kBeat = 65,
  kPing = 66,   // sent back by the shepherd of the host it names
  kVisit = 67,  // what passes at the door of a shepherd
  kSaving = 68,
};

struct Frame {
  Kind kind;
  std::string payload;
};

// The direction is part of the seal, so that no frame can be sent back to its sender.
enum class Direction : std::uint8_t { kToShepherd = 1, kToLauncher = 2 };

class FrameWriter {
 public:
  FrameWriter(const Key& key, Direction direction) : key_(key), direction_(direction) {}
  // Appends a frame to `bytes`. `payload` is at most kPayloadBytesMax.
  void Append(Kind kind, std::string_view payload, std::string* bytes);

 private:
  Key key_;
  Direction direction_;
  std::uint64_t number_ = 0;
};

class FrameReader {
 public:
  FrameReader(const Key& key, Direction direction) : key_(key), direction_(direction) {}
  // Passes over everything up to and including the mark.
  void ExpectMark() { marked_ = false; }
  void Feed(std::string_view bytes) { bytes_ += bytes; }
  // Returns the next whole frame, nothing if more bytes are needed, or what is wrong. After an
  // error the stream is of no use.
  Result<std::optional<Frame>> Next();
  // Has the mark been passed?
  bool marked() const { return marked_; }
  // Returns what stood before the mark, or the end of it.
  const std::string& noise() const { return noise_; }

 private:
  Status PassMark();

  Key key_;
  Direction direction_;
  std::uint64_t number_ = 0;
  std::string bytes_;
  std::size_t done_ = 0;  // of bytes_
  bool marked_ = true;
  std::string noise_;
  std::size_t noise_bytes_ = 0;
};

}  // namespace lamina::launcher::wire
