// SPDX-License-Identifier: BSD-3-Clause
// Two ways for a long message between processes of one node, and which of them is faster here.
//
// A message is fetched when the receiver reads the sender's memory: one copy, made by the kernel.
// It is pushed when the sender copies into the ring while the receiver copies out: twice as many
// bytes move, but two processors move them, and no system call is made. Which way is faster depends
// on what lies between the two processors, which no process can find out by itself, and on the
// moment. So it is learned, for each peer and size, from the times that both ways took.
//
// Pure: time comes from the caller. Threads: one.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "runtime/p2p/tuning.h"

namespace lamina::p2p {

enum class Way : std::uint8_t { kFetch, kPush };

class Ways {
 public:
  // The way for a message of `bytes` bytes. Asked once for each message. Fetching is preferred
  // unless pushing is clearly faster, because a fetch among pushed messages takes longer than one
  // among fetched ones: the receiver's cache then holds lines of the ring.
  Way Choose(std::uint64_t bytes) {
    Size& size = SizeOf(bytes);
    const std::uint64_t pushed = size.Time(Way::kPush);
    const bool push = pushed != 0 && pushed + pushed / kPushAdvantage < size.Time(Way::kFetch);
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
  // A message of `bytes` bytes was fetched. Messages that are being pushed stand still meanwhile.
  void Fetched(std::uint64_t bytes, std::uint64_t began_ns, std::uint64_t now_ns) {
    Note(Way::kFetch, bytes, now_ns - began_ns, 1);
    run_.began_ns += now_ns - began_ns;
  }
  // A message was granted, so that it will be pushed.
  void Granted(std::uint64_t now_ns) {
    if (pushing_++ == 0) run_ = {0, 0, now_ns};
  }
  // A granted message of `bytes` bytes has arrived. Several come side by side, and the last of them
  // in a burst, so they are timed together.
  void Pushed(std::uint64_t bytes, std::uint64_t now_ns) {
    if (pushing_ == 0) return;  // it was granted before there was anything to learn
    --pushing_;
    run_.bytes += bytes;
    ++run_.messages;
    if (pushing_ > 0 && run_.messages < kRunMessagesMax) return;
    Note(Way::kPush, run_.bytes / run_.messages, (now_ns - run_.began_ns) / run_.messages,
         run_.messages);
    run_ = {0, 0, now_ns};
  }

 private:
  static constexpr std::uint64_t kScale = 1024;
  // Sizes are told apart by their highest bit. The smallest class begins at 2^kSmallest bytes.
  static constexpr int kSmallest = 13, kSizes = 12;

  // What is known about messages of one class of sizes.
  struct Size {
    std::uint32_t turn = 0;  // counts to `trial_every`, and then trials begin again
    std::uint32_t trial_every = kTrialEveryMin;  // doubles as long as trials change nothing
    bool push = false;                           // pushing is preferred
    std::array<std::uint64_t, 2> times{};        // ns for kScale bytes, by way; 0: not known
    std::uint64_t Time(Way way) const { return times[static_cast<std::size_t>(way)]; }
  };
  Size& SizeOf(std::uint64_t bytes) {
    const int n = std::bit_width(bytes) - 1 - kSmallest;
    return sizes_[static_cast<std::size_t>(n < 0 ? 0 : n >= kSizes ? kSizes - 1 : n)];
  }

  // Notes that each of `messages` messages of about `bytes` bytes took `ns` by `way`. The shortest
  // time counts, and is slowly forgotten. A push that took many times as long, because its sender
  // was busy elsewhere, counts at once and so ends the preference.
  void Note(Way way, std::uint64_t bytes, std::uint64_t ns, std::uint64_t messages) {
    std::uint64_t& time = SizeOf(bytes).times[static_cast<std::size_t>(way)];
    const std::uint64_t now = ns * kScale / bytes + 1;
    const bool late = way == Way::kPush && now > kLateFactor * time;
    time = time == 0 || late ? now : std::min(now, time + time * messages / kForgetting + 1);
  }

  // Messages that were pushed side by side.
  struct Run {
    std::uint64_t messages, bytes, began_ns;
  };

  std::array<Size, kSizes> sizes_;
  Run run_{};
  std::uint64_t pushing_ = 0;  // messages that were granted and have not arrived
};

}  // namespace lamina::p2p
