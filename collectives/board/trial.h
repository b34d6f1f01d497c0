// SPDX-License-Identifier: BSD-3-Clause
// A trial finds out which of several ways to do the same thing is the fastest on this machine.
//
// How long each way takes depends on how far apart the processors lie, on their caches, on the cost
// of a system call, and on a virtual machine also on where its processors happen to be. So after
// a few calls every way is tried, the calls that follow take the fastest one, and after a while all
// ways are tried again.
//
// The first tries of a way find the caches as another way left them, and get faster from try to
// try. So a way is tried for as long as that brings something.
//
// All members of a communicator are told the same times, so all choose alike.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "collectives/board/tuning.h"

namespace lamina::collective::board {

class Trial {
 public:
  static constexpr std::size_t kWaysMax = 3;

  // Numbers of calls.
  struct Pace {
    std::uint32_t before;   // calls that take way 0 before the first trial
    std::uint32_t in_vain;  // a way has been tried when so many tries in a row brought nothing
    std::uint32_t calls;    // calls that take the fastest way before the next trial; at least 1
  };

  Trial(std::size_t ways, Pace pace) : ways_(ways), pace_(pace), left_(pace.before) {}

  // The next call is to be timed.
  bool trying() const { return left_ == 0; }
  // The way that the next call takes.
  std::size_t way() const { return trying() ? tried_ : fastest_; }

  // Is called after a call that was not to be timed.
  void Count() { --left_; }
  // Is called after a call that was.
  void Took(std::int64_t ns) {
    std::int64_t& least = ns_[tried_];
    const bool faster = tries_ == 0 || ns < least - least / kTrialGainShare;
    least = tries_ == 0 ? ns : std::min(least, ns);
    in_vain_ = faster ? 0 : in_vain_ + 1;
    if (++tries_ < kTriesMax && in_vain_ < pace_.in_vain) return;
    tries_ = in_vain_ = 0;
    if (++tried_ < ways_) return;
    tried_ = 0;
    left_ = pace_.calls;
    fastest_ =
        static_cast<std::size_t>(std::min_element(ns_.begin(), ns_.begin() + ways_) - ns_.begin());
  }
  // The shortest time of a way in the last trial.
  std::int64_t ns(std::size_t way) const { return ns_[way]; }

 private:
  const std::size_t ways_;
  const Pace pace_;
  std::uint32_t left_;         // calls until the next trial
  std::size_t tried_ = 0;      // the way that is being tried
  std::uint32_t tries_ = 0;    // how often it has been
  std::uint32_t in_vain_ = 0;  // the last tries in a row that brought nothing
  std::size_t fastest_ = 0;
  std::array<std::int64_t, kWaysMax> ns_{};
};

}  // namespace lamina::collective::board
