// SPDX-License-Identifier: BSD-3-Clause
// Runs criu once, with a time limit.
//
// Ownership: its destructor ends what still runs. Whoever reaps children of any number must leave
//            those of a Run alone.
// Threads:   one.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/descriptor.h"
#include "runtime/base/status.h"

namespace lamina::checkpoint::criu {

struct RunOrder {
  std::vector<std::string> words;    // the program's path first
  int folder = -1;                   // it runs there; -1: here
  std::span<const int> descriptors;  // become its 3, 4, and so on; it has no others
  std::uint64_t limit_ms = 0;
};

class Run {
 public:
  // The order is borrowed until this returns.
  static Result<std::unique_ptr<Run>> Start(const RunOrder& order);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Readable when Ended() may have something.
  int ReadyFd() const { return ready_.value(); }

  enum class End : std::uint8_t { kGood, kFailed, kKilled, kTimedOut };
  // Returns nothing while it runs. A run whose time is over, or that has stopped at an error of its
  // own (BUG), has been killed when this says so.
  std::optional<End> Ended();
  int signal() const { return signal_; }  // that has killed it
  std::string Printed() const;            // on both its streams
  // Ends it now, unless it has ended.
  void Kill();

 private:
  Run() = default;
  Status Watch();
  bool SetTimer();

  pid_t process_ = -1;  // -1: none, or reaped
  Descriptor printed_;
  Descriptor process_fd_;
  Descriptor timer_;
  std::uint64_t deadline_ms_ = 0;
  Descriptor ready_;  // an epoll set of the two above
  std::optional<End> end_;
  int signal_ = 0;
};

}  // namespace lamina::checkpoint::criu
