// SPDX-License-Identifier: BSD-3-Clause
// What a user may change about collectives in shared memory.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "collectives/collective.h"
#include "runtime/base/param.h"

namespace lamina::collective::shared {

// The name under which collective.<operation>.algorithm asks for it.
inline constexpr const char* kName = "shared";

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
  std::uint64_t alltoall_bytes_max = 16 << 10;
  std::uint64_t exclusive_bytes_max = 8 << 10;
  std::uint64_t direct_bcast_bytes_min = 8 << 10;
  std::uint64_t direct_reduce_bytes_min = 16 << 10;
  std::uint64_t direct_allgather_bytes_min = 8 << 10;
  std::uint64_t direct_alltoall_bytes_min = 16 << 10;
  std::uint64_t direct_alltoall_total_bytes_max = 512 << 10;
};
inline constexpr std::tuple kFields{
    param::Describe("collective.shared.enable", &Params::enable, "auto|never",
                    "auto: blocking collectives of a communicator whose members are all on one "
                    "node go through memory they share where that was measured to be faster than "
                    "messages, or where collective.<operation>.algorithm=shared says so."),
    param::Describe("collective.shared.area_bytes", &Params::area_bytes, Unit::kBytes,
                    std::uint64_t{64} << 10, std::uint64_t{1} << 30,
                    "Memory for data that the members of a communicator share, beside one page "
                    "and 9 cache lines for each; touched only as far as it is used. Longer data "
                    "goes through it in pieces, a turn of each rank for each. 8 and 16 ranks on 2 "
                    "CPUs, us, with 1 and 4 MiB: allreduce 1 MiB 1094 530, 4343 1599; alltoall 64 "
                    "KiB 186 147, 2751 1375; 16 MiB: no faster."),
    param::Describe("collective.shared.single_copy", &Params::single_copy, "auto|never",
                    "auto: long data goes straight between the members' buffers (process_vm_readv, "
                    "process_vm_writev) where the kernel allows it and that was measured to be "
                    "faster."),
    param::Describe("collective.shared.calls_before", &Params::calls_before, Unit::kCount, 0u,
                    1000000u,
                    "Calls on a communicator that go by messages before the memory is made, which "
                    "costs about 100 us. Reductions do not wait, so that equal calls give equal "
                    "bits."),
    param::Describe(
        "collective.shared.alltoall_bytes_max", &Params::alltoall_bytes_max, Unit::kBytes,
        std::uint64_t{0}, kAnyBytes,
        "Longest block of an alltoall in that memory where ranks share CPUs. 8 ranks on "
        "2 CPUs, us, there, by messages, direct: 8 KiB 41 96 65, 16 KiB 96 133 84."),
    param::Describe("collective.shared.exclusive_bytes_max", &Params::exclusive_bytes_max,
                    Unit::kBytes, std::uint64_t{0}, kAnyBytes,
                    "Longest block of a gather, scatter, allgather or alltoall, or vector of a "
                    "reduce among more than two, in that memory where every rank has a CPU. "
                    "2 ranks, us, there and by messages: allgather 8 KiB 2.6 2.7, 16 KiB 4.9 3.3; "
                    "alltoall 8 KiB 2.3 2.5, 16 KiB 3.9 3.3."),
    param::Describe("collective.shared.direct_bcast_bytes_min", &Params::direct_bcast_bytes_min,
                    Unit::kBytes, std::uint64_t{0}, kAnyBytes,
                    "Shortest broadcast between two ranks with a CPU each that goes straight "
                    "between the buffers. Us, in that memory and direct: 8 KiB 2.1 1.9, 16 KiB 3.4 "
                    "2.1."),
    param::Describe("collective.shared.direct_reduce_bytes_min", &Params::direct_reduce_bytes_min,
                    Unit::kBytes, std::uint64_t{0}, kAnyBytes,
                    "Shortest vector, for each rank, of a reduce (where every rank has a CPU) or "
                    "allreduce that goes straight between the buffers. 2 ranks, us, in that memory "
                    "and direct: reduce 16 KiB 3.6 3.6, 32 KiB 6.4 "
                    "4.8; 8 ranks on 2 CPUs: allreduce 128 KiB 197 204, 256 KiB 407 360."),
    param::Describe("collective.shared.direct_allgather_bytes_min",
                    &Params::direct_allgather_bytes_min, Unit::kBytes, std::uint64_t{0}, kAnyBytes,
                    "Shortest block of an allgather that goes straight between the buffers, where "
                    "every rank has a CPU. 2 ranks, us, in that memory and direct: 4 KiB 1.3 1.9, "
                    "8 KiB 2.6 2.2."),
    param::Describe(
        "collective.shared.direct_alltoall_bytes_min", &Params::direct_alltoall_bytes_min,
        Unit::kBytes, std::uint64_t{0}, kAnyBytes,
        "Shortest block of an alltoall that goes straight between the buffers. 2 ranks, us, by "
        "messages and direct: 16 "
        "KiB 3.3 3.1, 64 KiB 7.9 7.0; 8 ranks on 2 CPUs: 16 KiB 133 84, 64 KiB 387 308."),
    param::Describe(
        "collective.shared.direct_alltoall_total_bytes_max",
        &Params::direct_alltoall_total_bytes_max, Unit::kBytes, std::uint64_t{0}, kAnyBytes,
        "Most bytes a rank has for all together in such an alltoall where ranks share CPUs. 16 "
        "ranks on 2 CPUs, us, by messages and direct: 32 KiB each 765 713, 64 KiB 1376 1574."),
};

}  // namespace lamina::collective::shared
