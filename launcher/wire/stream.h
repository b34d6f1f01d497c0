// SPDX-License-Identifier: BSD-3-Clause
// A Stream is one end of a connection between launcher and shepherd: it carries frames over a pair
// of descriptors and never blocks.
//
// Ownership: owns the descriptors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "launcher/wire/frame.h"
#include "runtime/base/status.h"

namespace lamina::launcher::wire {

class Stream {
 public:
  // `in` and `out` may be the same descriptor (a socket). The mark is sent and expected; the
  // launcher's end sends `nonce` after it, the shepherd's end gives what it has read.
  Stream(int in, int out, const Key& key, Direction sends);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  int in() const { return in_; }
  int out() const { return out_; }
  // Sends the mark and the launcher's nonce, in front of everything.
  void Open(std::string_view nonce);
  void Send(Kind kind, std::string_view payload);
  // Reads what there is, and returns false if the other end has closed.
  Result<bool> Receive();
  Result<std::optional<Frame>> Next() { return reader_.Next(); }
  // Writes what can be written now. kPeerLost means that nobody reads it any more.
  Status Flush();
  bool unsent() const { return done_ < outgoing_.size(); }
  std::size_t unsent_bytes() const { return outgoing_.size() - done_; }
  bool greeted() const { return reader_.marked(); }
  const std::string& noise() const { return reader_.noise(); }

 private:
  int in_;
  int out_;
  FrameWriter writer_;
  FrameReader reader_;
  std::string outgoing_;
  std::size_t done_ = 0;
};

// Returns sixteen random bytes.
Result<std::string> RandomBytes();

}  // namespace lamina::launcher::wire
