// SPDX-License-Identifier: BSD-3-Clause
// Which of several ways of doing the same is the fastest here? Found by trying.
//
// How long each takes depends on how far apart processors lie, on their caches and on what a system
// call costs; on a virtual machine also on where its processors happen to be. So after a few calls
// all are tried, the next calls take the fastest one, and after a while they are tried again.
//
// All members of a communicator are told the same times, so all choose alike.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace lamina::collective::shared {

class Trial {
 public:
  static constexpr std::size_t kWaysMax = 3;

  // Numbers of calls.
  struct Pace {
    std::uint32_t before;  // the first ones, which take way 0
    std::uint32_t tries;   // of each way
    std::uint32_t calls;   // for which holds what was found, at least 1
  };

  Trial(std::size_t ways, Pace pace) : ways_(ways), pace_(pace), left_(pace.before) {}

  // The next call is one to be timed.
  bool trying() const { return left_ == 0; }
  // That it takes.
  std::size_t way() const { return trying() ? tried_ / pace_.tries : fastest_; }

  // After a call that was none to be timed.
  void Count() { --left_; }
  // After one that was.
  void Took(std::int64_t ns) {
    std::int64_t& least = ns_[way()];
    least = tried_ % pace_.tries == 0 ? ns : std::min(least, ns);
    if (++tried_ < ways_ * pace_.tries) return;
    tried_ = 0;
    left_ = pace_.calls;
    fastest_ =
        static_cast<std::size_t>(std::min_element(ns_.begin(), ns_.begin() + ways_) - ns_.begin());
  }
  std::int64_t ns(std::size_t way) const { return ns_[way]; }

 private:
  const std::size_t ways_;
  const Pace pace_;
  std::uint32_t left_;
  std::size_t tried_ = 0;
  std::size_t fastest_ = 0;
  std::array<std::int64_t, kWaysMax> ns_{};
};

}  // namespace lamina::collective::shared
