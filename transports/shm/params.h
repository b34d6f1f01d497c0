// SPDX-License-Identifier: BSD-3-Clause
// What a user may change about shared memory. Both ends of a ring use the receiver's sizes.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "runtime/base/param.h"

namespace lamina::shm {

struct Params {
  std::uint32_t ring_cells = 128;
  std::uint32_t area_bytes = 512u * 1024;
  std::uint32_t frame_bytes_max = 64u * 1024;
  std::uint32_t eager_bytes_max = 0;
  std::uint32_t fetch_bytes_max = 0;
  std::uint32_t rings_spare = 64;
  std::string single_copy = "auto";
  std::uint32_t joint_bytes_min = 64u * 1024;
  std::string fence = "auto";
};
inline constexpr std::tuple kFields{
    param::Describe("transport.shm.ring_cells", &Params::ring_cells, Unit::kCount, 2u, 65536u,
                    "Cells of 64 bytes per ordered pair of peers, a power of two. Raise it if many "
                    "short messages wait for a receiver that computes; costs memory for every "
                    "lively pair."),
    param::Describe(
        "transport.shm.area_bytes", &Params::area_bytes, Unit::kBytes, 512u, 16u * 1024 * 1024,
        "Room per ordered pair of peers for longer payloads, a multiple of 64. Raise it "
        "for streams of long messages; it takes memory only where the reader falls "
        "behind."),
    param::Describe(
        "transport.shm.frame_bytes_max", &Params::frame_bytes_max, Unit::kBytes, 256u,
        8u * 1024 * 1024,
        "Largest frame, at most half of area_bytes. Longer messages that cannot be read "
        "from the sender's memory go in several frames; shorter frames cost more of "
        "them."),
    param::Describe("transport.shm.eager_bytes_max", &Params::eager_bytes_max, Unit::kBytes, 0u,
                    8u * 1024 * 1024,
                    "Messages up to this are copied twice at once instead of announced first. 0: "
                    "4 KiB, or 16 KiB where reading a peer's memory is slow or forbidden."),
    param::Describe("transport.shm.fetch_bytes_max", &Params::fetch_bytes_max, Unit::kBytes, 0u,
                    16u * 1024 * 1024,
                    "Up to here the sender fetches the lines of the next payload in advance. 0: as "
                    "suits the processor. Raising it helps where stores to shared lines are slow, "
                    "else it costs."),
    param::Describe("transport.shm.rings_spare", &Params::rings_spare, Unit::kCount, 0u, 65536u,
                    "Rings beyond the node's ranks, for processes that join later. Raise it if "
                    "many do; they cost address space and no memory."),
    param::Describe("transport.shm.single_copy", &Params::single_copy, "auto|never",
                    "auto: long messages are read from the sender's memory (process_vm_readv) if "
                    "the kernel allows it. Under Yama this permits the user's processes to trace "
                    "this one."),
    param::Describe(
        "transport.shm.joint_bytes_min", &Params::joint_bytes_min, Unit::kBytes, 4096u, UINT32_MAX,
        "From here on a sender that waits copies one half of a message and the receiver "
        "the other. Used only where every rank has a CPU. Lower values cost "
        "coordination."),
    param::Describe("transport.shm.fence", &Params::fence, "auto|sleeper|sender",
                    "Who pays for safe sleeping: the sleeper, by a fence on all CPUs before each "
                    "sleep, or the sender, by one in each send. auto: the sender where ranks share "
                    "CPUs."),
};

}  // namespace lamina::shm
