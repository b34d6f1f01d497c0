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

struct Params {
  std::string enable = "auto";
  std::uint64_t area_bytes = 1 << 20;
  std::string single_copy = "auto";
  std::uint32_t calls_before = 4;
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
                    "goes through it in pieces."),
    param::Describe("collective.shared.single_copy", &Params::single_copy, "auto|never",
                    "auto: long data goes straight between the members' buffers (process_vm_readv, "
                    "process_vm_writev) where the kernel allows it and that was measured to be "
                    "faster."),
    param::Describe("collective.shared.calls_before", &Params::calls_before, Unit::kCount, 0u,
                    1000000u,
                    "Calls on a communicator that go by messages before the memory is made, which "
                    "costs about 100 us. Reductions do not wait, so that equal calls give equal "
                    "bits."),
};

}  // namespace lamina::collective::shared
