// SPDX-License-Identifier: BSD-3-Clause
// Carries a rank's standard stream across the wire: a Source reads a pipe at one end, a Sink writes
// a pipe at the other. The Sink grants what the Source may send, so that no more than a window is
// ever between them: a slow reader makes the writer wait, as with a pipe.
//
// Ownership: of the descriptors. Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "launcher/shepherd/poller.h"
#include "launcher/shepherd/tuning.h"

namespace lamina::launcher {

class Source {
 public:
  // `send` takes a piece for the other end; an empty piece is the end, after which nothing more is
  // sent. `credit` says how much may be sent before anything is granted.
  Source(Poller* poller, int fd, std::uint32_t credit, std::function<void(std::string_view)> send);
  ~Source() { Close(); }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  void Grant(std::uint32_t bytes);
  // Nobody takes the stream any more, so the pipe is closed and its writer sees that.
  void Refuse() { Close(); }
  // Sends what is in the pipe now, whatever was granted: its writers stand still.
  void TakeAll();
  // All writers are thought to be gone, so what is in the pipe is all there is.
  void LastCall();
  bool ended() const { return fd_ < 0; }

 private:
  void Read();
  void Close();

  Poller* poller_;
  int fd_;
  std::function<void(std::string_view)> send_;
  std::uint32_t credit_;
  bool last_call_ = false;
};

class Sink {
 public:
  // `granted` is told how many bytes have been written, or wire::Credit::kGone if nobody reads them
  // any more.
  Sink(Poller* poller, int fd, std::function<void(std::uint32_t)> granted);
  ~Sink() { Close(); }
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  // Writes `piece` as soon as the pipe takes it. An empty piece is the end: the pipe is closed when
  // everything is written.
  void Take(std::string_view piece);
  // Gives up what is not written yet.
  void Close();
  bool ended() const { return fd_ < 0; }
  std::uint64_t given() const { return given_; }  // bytes that were written so far

 private:
  void Write();

  Poller* poller_;
  int fd_;
  std::function<void(std::uint32_t)> granted_;
  std::string held_;
  std::size_t done_ = 0;       // of held_
  std::uint32_t written_ = 0;  // and not yet granted
  std::uint64_t given_ = 0;
  bool ending_ = false;
};

}  // namespace lamina::launcher
