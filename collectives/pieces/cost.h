// SPDX-License-Identifier: BSD-3-Clause
// Parts that cost statements are made of.
#pragma once

#include <algorithm>

#include "collectives/collective.h"

namespace lamina::collective {

// `messages` one after the other, each needing the one before, `bytes` in all.
inline double Move(const LinkModel& link, double messages, double bytes) {
  return messages * link.alpha_us + bytes * link.beta_us_per_byte;
}

// Move, where all ranks do so at once, with others anywhere.
inline double MoveAtOnce(const LinkModel& link, double messages, double bytes) {
  return Move(link, messages, link.sharers * bytes);
}

// The same with neighbours: of those that share a way out one uses it, but all share CPUs.
inline double MoveInRing(const LinkModel& link, double messages, double bytes) {
  return Move(link, messages, std::min(link.crowd, link.sharers) * bytes);
}

// `messages` that one rank sends or receives without waiting in between, `bytes` in all.
inline double Burst(const LinkModel& link, double messages, double bytes) {
  return link.alpha_us + (messages - 1) * link.overhead_us + bytes * link.beta_us_per_byte;
}

// The same of what one rank only receives: others send at once, and to take a message in is half
// the work of sending it.
inline double Intake(const LinkModel& link, double messages, double bytes) {
  return Burst(link, (messages + 1) / 2, bytes);
}

// A step that copies a short block, whatever the link.
inline constexpr double kCopyUs = 0.02;

inline double Combine(const LinkModel& link, double bytes) {
  return bytes * link.gamma_us_per_byte;
}

// `depth` messages that need each other: where ranks share CPUs, each arrives at a rank that has to
// wait for its turn. Costs nothing as long as each rank has a CPU to itself.
inline double Turns(const LinkModel& link, double depth) {
  return link.crowd > 1 ? depth * link.crowd * link.turn_us : 0;
}

}  // namespace lamina::collective
