// SPDX-License-Identifier: BSD-3-Clause
// The terms that cost statements are made of. All of them are in microseconds.
#pragma once

#include <algorithm>

#include "collectives/collective.h"

namespace lamina::collective {

// The time of `messages` that each need the one before, with `bytes` in all.
inline double Move(const LinkModel& link, double messages, double bytes) {
  return messages * link.alpha_us + bytes * link.beta_us_per_byte;
}

// The time of Move if all ranks do it at once, with ranks anywhere.
inline double MoveAtOnce(const LinkModel& link, double messages, double bytes) {
  return Move(link, messages, link.sharers * bytes);
}

// The time of Move if all ranks do it at once with their neighbours. Only one of the ranks that
// share a way out uses it then, but all of them share CPUs.
inline double MoveInRing(const LinkModel& link, double messages, double bytes) {
  return Move(link, messages, std::min(link.crowd, link.sharers) * bytes);
}

// The time of `messages` that one rank sends or receives without waiting in between, with `bytes`
// in all.
inline double Burst(const LinkModel& link, double messages, double bytes) {
  return link.alpha_us + (messages - 1) * link.overhead_us + bytes * link.beta_us_per_byte;
}

// The time of Burst if one rank only receives. The others send at once, and taking a message in is
// half the work of sending it.
inline double Intake(const LinkModel& link, double messages, double bytes) {
  return Burst(link, (messages + 1) / 2, bytes);
}

// The time of a step that copies a short block, whatever the link.
inline constexpr double kCopyUs = 0.02;

// The time of reducing `bytes`.
inline double Combine(const LinkModel& link, double bytes) {
  return bytes * link.gamma_us_per_byte;
}

// What `depth` messages that each need the one before cost more if ranks share CPUs, because each
// arrives at a rank that has to wait for its turn.
inline double Turns(const LinkModel& link, double depth) {
  return link.crowd > 1 ? depth * link.crowd * link.turn_us : 0;
}

}  // namespace lamina::collective
