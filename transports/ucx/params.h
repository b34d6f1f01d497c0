// SPDX-License-Identifier: BSD-3-Clause
// What a user may change about UCX through us. UCX's own UCX_* variables work as well and win.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "runtime/base/param.h"

namespace lamina::ucx {

struct Params {
  std::string tls = "^sm";
  std::string net_devices;
  std::uint32_t short_bytes_max = 108u * 1024;
  std::uint32_t tcp_segment_bytes = 112u * 1024;
  std::uint32_t tcp_receive_bytes = 640u * 1024;
  std::uint32_t connect_ms = 100;
  std::uint32_t sends_max = 1024;
  std::uint32_t large_sends_max = 64;
};
inline constexpr std::tuple kFields{
    param::Describe(
        "transport.ucx.tls", &Params::tls, "",
        "Transports UCX may use, as in UCX_TLS, e.g. \"tcp\"; empty: UCX chooses. Ranks of "
        "one node have our own shared memory, and to make UCX's ready costs each rank "
        "2.5 ms and files in /dev/shm."),
    param::Describe("transport.ucx.net_devices", &Params::net_devices, "",
                    "Network devices UCX may use, as in UCX_NET_DEVICES, e.g. \"eth0\"; empty: UCX "
                    "chooses among all but bridges of this node's containers (docker0)."),
    param::Describe(
        "transport.ucx.short_bytes_max", &Params::short_bytes_max, Unit::kBytes, 1024u,
        1024u * 1024,
        "Largest frame that is copied and sent at once; longer ones go by rendezvous. "
        "Over TCP a rendezvous costs three messages of 4 us, a copy of 64 KiB 2 us; and "
        "more than a segment (tcp_segment_bytes) UCX first puts together. 100000 bytes "
        "between network namespaces, half a round trip and a stream, at once and by "
        "rendezvous: 23 and 33 us, 6.7 and 5.7 GB/s."),
    param::Describe("transport.ucx.tcp_segment_bytes", &Params::tcp_segment_bytes, Unit::kBytes,
                    8192u, 1024u * 1024,
                    "What UCX hands to a TCP socket at once. A stream of 64 KiB between network "
                    "namespaces, GB/s: 64 KiB 4.4; 112 KiB 4.6; of 1 MiB the same."),
    param::Describe(
        "transport.ucx.tcp_receive_bytes", &Params::tcp_receive_bytes, Unit::kBytes, 8192u,
        8u * 1024 * 1024,
        "What UCX takes from a TCP socket at once, at most and never less than a segment; in jobs "
        "of many ranks less, so that all peers of one hold 32 MiB. Half a round trip of 1 MiB and "
        "a stream of them, us and GB/s, between network namespaces: 112 KiB 180 6.2; 256 KiB 176 "
        "6.4; 512 KiB 162 7.2; 640 KiB 160 7.6; 1 MiB 173 7.3. Where the kernel's congestion "
        "control is BBR, jobs of several nodes take a segment: 112 KiB 170 6.4; 128 KiB 200 5.6; "
        "512 KiB 480 2.2. Over the loopback device 112 KiB 163 7.6; 640 KiB 139 7.9."),
    param::Describe(
        "transport.ucx.connect_ms", &Params::connect_ms, Unit::kMilliseconds, 0u, 60000u,
        "How long the first message to a peer waits for its connection, so that it has left when "
        "the send is over. That needs the peer's help, so a peer that computes costs this once."),
    param::Describe("transport.ucx.sends_max", &Params::sends_max, Unit::kCount, 16u, 1u << 20,
                    "Frames handed to UCX and not yet sent; beyond, senders wait."),
    param::Describe(
        "transport.ucx.large_sends_max", &Params::large_sends_max, Unit::kCount, 1u, 65536u,
        "How many of them may carry more than 1 KiB; each holds short_bytes_max bytes."),
};

}  // namespace lamina::ucx
