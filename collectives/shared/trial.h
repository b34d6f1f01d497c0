// SPDX-License-Identifier: BSD-3-Clause
// Is the board the fastest here, or the other way of doing the same? Found by trying.
//
// How long either takes depends on how far apart processors lie, on their caches and on what a
// system call costs; on a virtual machine also on where its processors happen to be. So after a few
// calls both are tried, the next calls take the faster one, and after a while they are tried again.
//
// All members of a communicator are told the same times, so all choose alike.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lamina::collective::shared {

class Trial {
 public:
  // Of either way; any try may be disturbed.
  static constexpr std::uint32_t kTries = 3;

  // The first `before` calls go to the board. What was found holds for `calls`, at least 1.
  Trial(std::uint32_t before, std::uint32_t calls) : calls_(calls), left_(before) {}

  // The next call is one to be timed.
  bool trying() const { return left_ == 0; }
  // It takes the other way. Tries take turns, so that what disturbs disturbs both.
  bool other() const { return trying() ? tried_ % 2 != 0 : other_ns_ < board_ns_; }

  // After a call that was none to be timed.
  void Count() { --left_; }
  // After one that was.
  void Took(std::int64_t ns) {
    std::int64_t& best = other() ? other_ns_ : board_ns_;
    best = tried_ < 2 ? ns : std::min(best, ns);
    if (++tried_ < 2 * kTries) return;
    tried_ = 0;
    left_ = calls_;
  }
  std::int64_t board_ns() const { return board_ns_; }
  std::int64_t other_ns() const { return other_ns_; }

 private:
  const std::uint32_t calls_;
  std::uint32_t left_;
  std::uint32_t tried_ = 0;
  std::int64_t board_ns_ = 0;
  std::int64_t other_ns_ = 0;
};

}  // namespace lamina::collective::shared
