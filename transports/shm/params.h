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
    param::Describe(
        "transport.shm.ring_cells", &Params::ring_cells, Unit::kCount, 2u, 65536u,
        "Cells of 64 bytes per ordered pair of peers, a power of two. 128 keep 8-byte frames "
        "at 35 million a second, and are 8 KiB once more than 16 frames were sent."),
    param::Describe(
        "transport.shm.area_bytes", &Params::area_bytes, Unit::kBytes, 512u, 16u * 1024 * 1024,
        "Room per ordered pair of peers for payloads above 40 bytes, a multiple of 64. "
        "More than 32 KiB of it is memory only where the reader has been behind. 4 KiB in "
        "windows of 64 went at 7.6 GB/s with 32 KiB, 9.8 with 128, 13.7 with 256, and with 256 "
        "and 512 alike; 1 MiB copied twice took, on two machines, with 128, 256, 512 KiB and 1 "
        "MiB: 97 84 - 90 us, - 34 27 26."),
    param::Describe(
        "transport.shm.frame_bytes_max", &Params::frame_bytes_max, Unit::kBytes, 256u,
        8u * 1024 * 1024,
        "Largest frame, at most half of area_bytes. What is longer, and is not read out of the "
        "sender's memory, is copied twice in frames. 1 MiB took, us, with 8, 16, 32, 64 KiB on "
        "two machines: 94 86 88 -, 41 32 28 27; in windows of 64, GB/s: 27 33 41 45."),
    param::Describe(
        "transport.shm.eager_bytes_max", &Params::eager_bytes_max, Unit::kBytes, 0u,
        8u * 1024 * 1024,
        "Up to here, if it fits a frame, copying twice at once beats asking first. 0: 4 KiB, or 16 "
        "where the kernel forbids to read the peer's memory or takes more than 1 us for a word. "
        "There (1.8 us) half a round trip took, once and twice copied, us: 8 KiB 2.7 0.57; 16 KiB "
        "3.4 1.04."),
    param::Describe(
        "transport.shm.fetch_bytes_max", &Params::fetch_bytes_max, Unit::kBytes, 0u,
        16u * 1024 * 1024,
        "Up to here the lines of a payload like the last one are fetched for writing in time. 0: "
        "16 KiB on processors by Intel, else 2. Intel, 4 KiB one way, with and without: 0.98 1.24 "
        "us. AMD, processors that share a cache: 1 KiB 0.156 0.165, 4 KiB 0.39 0.32, 16 KiB 0.84 "
        "0.64, 4 KiB in windows of 64 16.6 34 GB/s; that share none: 0.58 0.62, 1.08 1.00, 2.10 "
        "1.90, 7.7 13."),
    param::Describe("transport.shm.rings_spare", &Params::rings_spare, Unit::kCount, 0u, 65536u,
                    "Rings beyond the node's ranks, for processes that join later. They cost "
                    "address space, no memory."),
    param::Describe("transport.shm.single_copy", &Params::single_copy, "auto|never",
                    "auto: long messages are read out of the sender's memory (process_vm_readv) "
                    "where the kernel allows it. Where Yama asks for it this process then permits "
                    "its user's other processes to trace it."),
    param::Describe(
        "transport.shm.joint_bytes_min", &Params::joint_bytes_min, Unit::kBytes, 4096u, UINT32_MAX,
        "From here on the sender of a long message that waits for it copies one half, its receiver "
        "the other, in chunks of half the message within 32 and 256 KiB. Measured, us, alone and "
        "together: 32 KiB 6.0 6.0; 64 KiB 8.9 6.4; 256 KiB 33 20; 1 MiB 115 61; 64 MiB 17600 "
        "9900. Only where every rank has a CPU of its own."),
    param::Describe(
        "transport.shm.fence", &Params::fence, "auto|sleeper|sender",
        "Who pays for safe sleeping. sleeper: a fence on all CPUs before each sleep, 17 "
        "us here where a peer runs; sender: a fence in every send, below 0.1 us. auto: "
        "sender if p2p.wait.mode is oversubscribed, or this node has more ranks "
        "than this process has CPUs and the mode is not exclusive; else sleeper."),
};

}  // namespace lamina::shm
