// SPDX-License-Identifier: BSD-3-Clause
// The hints of a window (MPI-5.0, sections 12.2.1 and 12.2.3). This is pure.
#pragma once

#include <cstddef>
#include <string>

#include "runtime/core/info.h"

namespace lamina::rma {

// No larger alignment is granted, because it is paid for with addresses.
inline constexpr std::size_t kAlignmentMax = std::size_t{1} << 30;

struct Hints {
  bool no_locks = false;
  std::string accumulate_ordering = "rar,raw,war,waw";
  std::string accumulate_ops = "same_op_no_op";
  std::size_t accumulate_granularity = 0;
  bool same_size = false;
  bool same_disp_unit = false;
  bool noncontiguous = false;  // of memory that is allocated shared
  // What memory that is allocated begins on a multiple of, beside a page. 0: none was asked for.
  std::size_t alignment = 0;
  std::string memory_kinds;  // asserted kinds; empty if none were
};

// Takes what is known and sensible of `info`, which may be null, and leaves the rest as it is.
void Take(const core::Info* info, Hints* hints);
// Takes what may still change of a window that exists.
void TakeLater(const core::Info* info, Hints* hints);
// Lists every hint with its value in force.
void List(const Hints& hints, int flavor, core::Info* info);

}  // namespace lamina::rma
