// SPDX-License-Identifier: BSD-3-Clause
// Parts that cost statements are made of.
#pragma once

#include "collectives/collective.h"

namespace lamina::collective {

// `messages` one after the other, `bytes` in all.
inline double Move(const LinkModel& link, double messages, double bytes) {
  return messages * link.alpha_us + bytes * link.beta_us_per_byte;
}

inline double Combine(const LinkModel& link, double bytes) {
  return bytes * link.gamma_us_per_byte;
}

// Every rank stops to wait `times` times. Costs nothing as long as each has a CPU to itself.
inline double Turns(const LinkModel& link, double times) {
  return link.crowd > 1 ? times * link.crowd * link.turn_us : 0;
}

}  // namespace lamina::collective
