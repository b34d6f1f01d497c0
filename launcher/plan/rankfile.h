// SPDX-License-Identifier: BSD-3-Clause
// A rank file says for each rank its host and its place there. Pure.
//
//   rank 0=node01 slot=0-3        # cores 0 to 3, counted as hwloc counts them
//   rank 1=node01 slot=1:0-1      # cores 0 and 1 of socket 1
//   rank 2=node02 slot=1:*        # the whole of socket 1
//   rank 3=+n1    slot=*          # the second host of the job, unbound
//
// '#' starts a comment; "slot=" may be left out (unbound).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace lamina::launcher {

struct RankfileEntry {
  std::uint32_t rank = 0;
  std::string host;   // a name, or "+nK": the K-th host of the job
  std::string slot;   // what follows "slot=": see ParseCpuPlace; "": unbound
  std::string where;  // "ranks.txt:3"

  friend bool operator==(const RankfileEntry&, const RankfileEntry&) = default;
};

// Returns the entries in order of rank. kInvalid, with a message that begins "path:line: ", if a
// line is wrong or a rank is missing or there twice.
Result<std::vector<RankfileEntry>> ParseRankfile(std::string_view text, std::string_view path);

// One piece of what a slot says: cores `first`..`last` of `socket`, or of the machine.
struct CpuPlace {
  static constexpr std::uint32_t kAll = UINT32_MAX;
  std::uint32_t socket = kAll;  // kAll: cores are counted over the machine
  std::uint32_t first = 0;
  std::uint32_t last = kAll;

  friend bool operator==(const CpuPlace&, const CpuPlace&) = default;
};
// Understands "0-3,8", "1:0-1,0:*" and "*", which has no piece and leaves the rank unbound.
Result<std::vector<CpuPlace>> ParseCpuPlaces(std::string_view slot);

}  // namespace lamina::launcher
