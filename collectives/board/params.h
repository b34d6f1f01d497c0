// SPDX-License-Identifier: BSD-3-Clause
// What a user may change about collectives in shared memory.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "collectives/collective.h"
#include "runtime/base/param.h"

namespace lamina::collective::board {

// The name under which collective.<operation>.algorithm asks for it.
inline constexpr const char* kName = "board";

// As bits, by operation.
constexpr std::uint32_t Bit(Operation operation) {
  return std::uint32_t{1} << static_cast<std::uint32_t>(operation);
}
inline constexpr std::uint32_t kOperations =
    Bit(Operation::kBarrier) | Bit(Operation::kBcast) | Bit(Operation::kGather) |
    Bit(Operation::kScatter) | Bit(Operation::kAllgather) | Bit(Operation::kAlltoall) |
    Bit(Operation::kReduce) | Bit(Operation::kAllreduce);

// More than anybody has.
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
                    "auto: blocking collectives of a communicator whose members are all on one "
                    "node go through memory they share where that was measured to be faster than "
                    "messages, or where collective.<operation>.algorithm=board says so; across "
                    "nodes the members on each meet there. never: all go by messages."),
    param::Describe("collective.board.area_bytes", &Params::area_bytes, Unit::kBytes,
                    std::uint64_t{64} << 10, std::uint64_t{1} << 30,
                    "Memory for data that the members of a communicator share, beside 4 pages and "
                    "12 KiB for each; touched only as far as it is used. Longer data "
                    "goes through it in pieces, a turn of each rank for each. 8 and 16 ranks on 2 "
                    "CPUs, us, with 1 and 4 MiB: allreduce 1 MiB 1094 530, 4343 1599; alltoall 64 "
                    "KiB 186 147, 2751 1375; 16 MiB: no faster."),
    param::Describe("collective.board.single_copy", &Params::single_copy, "auto|never",
                    "auto: long data goes straight between the members' buffers (process_vm_readv, "
                    "process_vm_writev) where the kernel allows it and that was found to be "
                    "faster."),
    param::Describe(
        "collective.board.calls_before", &Params::calls_before, Unit::kCount, 0u, 1000000u,
        "Calls on a communicator that go by messages before the memory is made, which "
        "costs about 100 us. Calls that write twice as much as it holds do not wait; nor "
        "do reductions, so that equal calls give equal bits."),
    param::Describe("collective.board.trial_bytes_min", &Params::trial_bytes_min, Unit::kBytes,
                    std::uint64_t{1}, kAnyBytes,
                    "Shortest vector or block that may be written past the caches, or go straight "
                    "between the buffers (a gather or scatter: by messages), where that is found "
                    "to be faster. 2 ranks, us, in "
                    "that memory and direct, 16 KiB: allgather 1.5 3.2 on two cores that share a "
                    "cache, 2.4 4.5 on two that do not; on two cores of another make 4.9 3.3; 4 "
                    "KiB 1.3 1.9."),
    param::Describe(
        "collective.board.trial_before_calls", &Params::trial_before_calls, Unit::kCount, 0u,
        1000000000u,
        "Calls of one operation and about one length that go through that memory before "
        "the first trial; of calls that write twice as much as that memory holds, at most one. "
        "They pay for touching it: 64 KiB 105 us each of four times, then 5."),
    param::Describe(
        "collective.board.trial_calls", &Params::trial_calls, Unit::kCount, 1u, 1000000000u,
        "Calls of one operation and about one length between trials of which way is "
        "the fastest: of each calls until 5 in a row are no faster than those before, or 2 that "
        "write twice as much as that memory holds; at most 12. 2000 calls of 64 KiB take "
        "10 ms, and a trial about as long as 30 of them more."),
};

}  // namespace lamina::collective::board
