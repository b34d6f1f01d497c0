// SPDX-License-Identifier: BSD-3-Clause
// What a user may change about collectives in shared memory.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "runtime/base/param.h"

namespace lamina::collective::board {

// No message is that long.
inline constexpr std::uint64_t kAnyBytes = std::uint64_t{1} << 40;

struct Params {
  std::string enable = "auto";
  std::uint64_t area_bytes = 4 << 20;
  std::string single_copy = "auto";
  std::uint32_t calls_before = 4;
  std::uint64_t trial_bytes_min = 8 << 10;
  std::uint32_t trial_before_calls = 8;
  std::uint32_t trial_calls = 2000;
};
inline constexpr std::tuple kFields{
    param::Describe("collective.board.enable", &Params::enable, "auto|never",
                    "auto: blocking collectives of ranks that share a node go through memory they "
                    "share where that is faster; across nodes the ranks of each meet there. never: "
                    "all go by messages."),
    param::Describe("collective.board.area_bytes", &Params::area_bytes, Unit::kBytes,
                    std::uint64_t{64} << 10, std::uint64_t{1} << 30,
                    "Shared memory for the data of one communicator. Longer data goes in pieces, "
                    "each a turn of every rank: raise it where many ranks share CPUs. Costs memory "
                    "once it is used."),
    param::Describe("collective.board.single_copy", &Params::single_copy, "auto|never",
                    "auto: long data goes straight between the ranks' buffers (process_vm_readv, "
                    "process_vm_writev) where the kernel allows it and that was found to be "
                    "faster."),
    param::Describe("collective.board.calls_before", &Params::calls_before, Unit::kCount, 0u,
                    1000000u,
                    "Short calls on a communicator that go by messages before the memory is made. "
                    "Lower it if communicators live long; making it takes as long as some hundred "
                    "short calls."),
    param::Describe("collective.board.trial_bytes_min", &Params::trial_bytes_min, Unit::kBytes,
                    std::uint64_t{1}, kAnyBytes,
                    "Shortest vector or block for which other ways are tried: straight between the "
                    "buffers or, for gather and scatter, messages. Lower it if system calls are "
                    "cheap."),
    param::Describe("collective.board.trial_before_calls", &Params::trial_before_calls,
                    Unit::kCount, 0u, 1000000000u,
                    "Calls of one operation and about one length before the first trial. They pay "
                    "for touching the memory; raise it if a trial comes to a wrong result."),
    param::Describe("collective.board.trial_calls", &Params::trial_calls, Unit::kCount, 1u,
                    1000000000u,
                    "Calls of one operation and about one length between two trials of which way "
                    "is the fastest. Lower it if ranks move between processors; a trial costs some "
                    "30 calls."),
};

}  // namespace lamina::collective::board
