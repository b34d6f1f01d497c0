// SPDX-License-Identifier: BSD-3-Clause
// Two ways for a long message between processes of one node, and which of them is faster here.
//
// Fetched: the receiver reads the sender's memory, one copy by the kernel. Pushed: the sender
// copies into the ring while the receiver copies out, twice as many bytes moved, but by two
// processors and without the kernel. Which is faster depends on what lies between the two
// processors (64 KiB fetched and pushed, us: two threads of one core 4.8, 3.1; two Intel
// cores 4.0, 8.0; two AMD cores that share a cache 5.0, 2.8), which no process can find out by
// itself, and on the moment. So it is learned: for each peer and size, from the times both ways
// took.
//
// Pure: time comes from the caller. Threads: one.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace lamina::p2p {

enum class Way : std::uint8_t { kFetch, kPush };

class Ways {
 public:
  // The way for a message of `bytes`; asked once for each.
  Way Choose(std::uint64_t bytes) {
    Size& size = SizeOf(bytes);
    const std::uint32_t turn = size.messages++ % kTrialEvery;
    const std::uint64_t pushed = size.Time(Way::kPush);
    const bool push = pushed != 0 && pushed < size.Time(Way::kFetch);
    const bool trial = turn >= kFetchedFirst && turn < kFetchedFirst + kTrials;
    return push != trial ? Way::kPush : Way::kFetch;
  }
  // A message of `bytes` took `ns` by `way`. The least counts, and is slowly forgotten; one that
  // took many times as long, because its sender was busy elsewhere, ends the preference at once.
  void Note(Way way, std::uint64_t bytes, std::uint64_t ns) {
    std::uint64_t& time = SizeOf(bytes).times[static_cast<std::size_t>(way)];
    const std::uint64_t now = ns * kScale / bytes + 1;
    const bool jump = time == 0 || now < time || now > kLate * time;
    time = jump ? now : std::min(now, time + time / 16 + 1);
  }

 private:
  static constexpr std::uint32_t kTrialEvery = 256;
  static constexpr std::uint32_t kFetchedFirst = 8;
  static constexpr std::uint32_t kTrials = 3;  // of every kTrialEvery, by the way not preferred
  static constexpr std::uint64_t kLate = 8;
  static constexpr std::uint64_t kScale = 1024;
  static constexpr int kSmallest = 13, kSizes = 12;  // 8 KiB, ..., 16 MiB and more

  // What is known of messages of 2^n to 2^(n+1) bytes.
  struct Size {
    std::uint32_t messages = 0;
    std::array<std::uint64_t, 2> times{};  // ns for kScale bytes, by way; 0: not known
    std::uint64_t Time(Way way) const { return times[static_cast<std::size_t>(way)]; }
  };
  Size& SizeOf(std::uint64_t bytes) {
    const int n = std::bit_width(bytes) - 1 - kSmallest;
    return sizes_[static_cast<std::size_t>(n < 0 ? 0 : n >= kSizes ? kSizes - 1 : n)];
  }
  std::array<Size, kSizes> sizes_;
};

}  // namespace lamina::p2p
