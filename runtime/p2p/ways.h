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
  // The way for a message of `bytes`; asked once for each. To be pushed it must be a third faster:
  // among messages that are pushed one takes longer to fetch than among others, whose lines the
  // receiver's cache has not given up for the ring's. (Two Intel cores, 64 KiB in windows of 64,
  // us: all fetched 2.6, all pushed 3.7, one fetched among those 4.1.)
  Way Choose(std::uint64_t bytes) {
    Size& size = SizeOf(bytes);
    const std::uint64_t pushed = size.Time(Way::kPush);
    const bool push = pushed != 0 && pushed + pushed / 3 < size.Time(Way::kFetch);
    if (push != size.push) {
      size.push = push;
      size.turn = kFetchedFirst + kTrials;
      size.trial_every = kTrialEveryMin;
    } else if (size.turn == size.trial_every) {
      size.turn = 0;
      size.trial_every = std::min(2 * size.trial_every, kTrialEveryMax);
    }
    const bool trial = size.turn >= kFetchedFirst && size.turn < kFetchedFirst + kTrials;
    ++size.turn;
    return push != trial ? Way::kPush : Way::kFetch;
  }
  // A message of `bytes` was fetched. Those that are pushed stand still meanwhile.
  void Fetched(std::uint64_t bytes, std::uint64_t began_ns, std::uint64_t now_ns) {
    Note(Way::kFetch, bytes, now_ns - began_ns, 1);
    run_.began_ns += now_ns - began_ns;
  }
  // A message may be pushed.
  void Granted(std::uint64_t now_ns) {
    if (pushing_++ == 0) run_ = {0, 0, now_ns};
  }
  // One of them, of `bytes`, is here. Several come side by side and the last of them in a burst, so
  // they are timed together.
  void Pushed(std::uint64_t bytes, std::uint64_t now_ns) {
    if (pushing_ == 0) return;  // was granted when there was nothing to learn yet
    --pushing_;
    run_.bytes += bytes;
    ++run_.messages;
    if (pushing_ > 0 && run_.messages < kRunMax) return;
    Note(Way::kPush, run_.bytes / run_.messages, (now_ns - run_.began_ns) / run_.messages,
         run_.messages);
    run_ = {0, 0, now_ns};
  }

 private:
  static constexpr std::uint32_t kFetchedFirst = 8;
  static constexpr std::uint32_t kTrials = 3;  // by the way not preferred, of every so many:
  static constexpr std::uint32_t kTrialEveryMin = 256, kTrialEveryMax = 4096;
  static constexpr std::uint64_t kLate = 8;
  static constexpr std::uint64_t kRunMax = 64;
  static constexpr std::uint64_t kScale = 1024;
  static constexpr int kSmallest = 13, kSizes = 12;  // 8 KiB, ..., 16 MiB and more

  // What is known of messages of 2^n to 2^(n+1) bytes.
  struct Size {
    std::uint32_t turn = 0;  // of trial_every, which doubles as long as trials change nothing
    std::uint32_t trial_every = kTrialEveryMin;
    bool push = false;                     // is preferred
    std::array<std::uint64_t, 2> times{};  // ns for kScale bytes, by way; 0: not known
    std::uint64_t Time(Way way) const { return times[static_cast<std::size_t>(way)]; }
  };
  Size& SizeOf(std::uint64_t bytes) {
    const int n = std::bit_width(bytes) - 1 - kSmallest;
    return sizes_[static_cast<std::size_t>(n < 0 ? 0 : n >= kSizes ? kSizes - 1 : n)];
  }

  // Each of `messages` of about `bytes` took `ns` by `way`. The least counts, and is slowly
  // forgotten; a push that took many times as long, because its sender was busy elsewhere, ends the
  // preference at once.
  void Note(Way way, std::uint64_t bytes, std::uint64_t ns, std::uint64_t messages) {
    std::uint64_t& time = SizeOf(bytes).times[static_cast<std::size_t>(way)];
    const std::uint64_t now = ns * kScale / bytes + 1;
    const bool late = way == Way::kPush && now > kLate * time;
    time = time == 0 || late ? now : std::min(now, time + time * messages / 16 + 1);
  }

  // Messages that were pushed one beside the other.
  struct Run {
    std::uint64_t messages, bytes, began_ns;
  };

  std::array<Size, kSizes> sizes_;
  Run run_{};
  std::uint64_t pushing_ = 0;  // granted and not here yet
};

}  // namespace lamina::p2p
