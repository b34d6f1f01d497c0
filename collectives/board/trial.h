// SPDX-License-Identifier: BSD-3-Clause
// Which of several ways of doing the same is the fastest here? Found by trying.
//
// How long each takes depends on how far apart processors lie, on their caches and on what a system
// call costs; on a virtual machine also on where its processors happen to be. So after a few calls
// all are tried, the next calls take the fastest one, and after a while they are tried again.
//
// The first tries of a way find the caches as another one left them, and it may take several until
// they hold what this one wants: 1 MiB to each of 8 between their buffers 5.8 6.5 4.8 4.3 3.8 3.5
// 3.5 3.3 ms, through a board 5.6 4.8 4.7 4.8. So tries go on as long as they bring something.
//
// All members of a communicator are told the same times, so all choose alike.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace lamina::collective::board {

class Trial {
 public:
  static constexpr std::size_t kWaysMax = 4;

  // Numbers of calls.
  struct Pace {
    std::uint32_t before;   // the first ones, which take way 0
    std::uint32_t in_vain;  // tries in a row that bring nothing, which end a way's; at least 1
    std::uint32_t calls;    // for which holds what was found, at least 1
  };
  static constexpr std::uint32_t kTriesMax = 12;  // of each way

  Trial(std::size_t ways, Pace pace) : ways_(ways), pace_(pace), left_(pace.before) {}

  // The next call is one to be timed.
  bool trying() const { return left_ == 0; }
  // That it takes.
  std::size_t way() const { return trying() ? tried_ : fastest_; }

  // After a call that was none to be timed.
  void Count() { --left_; }
  // After one that was.
  void Took(std::int64_t ns) {
    std::int64_t& least = ns_[tried_];
    const bool faster = tries_ == 0 || ns < least - least / kGainShare;
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
  std::int64_t ns(std::size_t way) const { return ns_[way]; }

 private:
  static constexpr std::int64_t kGainShare = 32;  // less than that part is noise

  const std::size_t ways_;
  const Pace pace_;
  std::uint32_t left_;
  std::size_t tried_ = 0;      // the way whose turn it is
  std::uint32_t tries_ = 0;    // that it has had
  std::uint32_t in_vain_ = 0;  // the last ones of these
  std::size_t fastest_ = 0;
  std::array<std::int64_t, kWaysMax> ns_{};
};

}  // namespace lamina::collective::board
