// SPDX-License-Identifier: BSD-3-Clause
// What a user may change about UCX through this library. UCX's own variables, UCX_*, work as well
// and take precedence.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "runtime/base/param.h"

namespace lamina::ucx {

struct Params {
  std::string tls = "^sm";
  std::string network;
  std::string net_devices;
  std::uint32_t short_bytes_max = 108u * 1024;
  std::uint32_t tcp_segment_bytes = 112u * 1024;
  std::uint32_t tcp_receive_bytes = 640u * 1024;
  std::uint32_t connect_ms = 100;
  std::uint32_t sends_max = 1024;
  std::uint32_t large_sends_max = 64;
  std::string one_sided = "auto";
};
inline constexpr std::tuple kFields{
    param::Describe("transport.ucx.tls", &Params::tls, "",
                    "Transports UCX may use, as in UCX_TLS, e.g. \"tcp\"; empty: UCX chooses. The "
                    "default leaves out UCX's shared memory, whose start costs time and files."),
    param::Describe(
        "transport.ucx.network", &Params::network, "",
        "Where UCX listens and sends: a device (\"eth1\") or a network (\"10.1.0.0/16\"); "
        "the same on all nodes. Whoever reaches that network can disturb the job. Empty: "
        "as net_devices says."),
    param::Describe("transport.ucx.net_devices", &Params::net_devices, "",
                    "Network devices UCX may use, as in UCX_NET_DEVICES, e.g. \"eth0\"; empty: UCX "
                    "chooses among all but bridges of this node's containers (docker0)."),
    param::Describe("transport.ucx.short_bytes_max", &Params::short_bytes_max, Unit::kBytes, 1024u,
                    1024u * 1024,
                    "Largest frame that is copied and sent at once; longer ones go by rendezvous, "
                    "which costs three messages. Above tcp_segment_bytes UCX copies once more."),
    param::Describe("transport.ucx.tcp_segment_bytes", &Params::tcp_segment_bytes, Unit::kBytes,
                    8192u, 1024u * 1024,
                    "How much UCX gives to a TCP socket at once. Raising it saves system calls in "
                    "streams of long messages and costs memory for every peer."),
    param::Describe("transport.ucx.tcp_receive_bytes", &Params::tcp_receive_bytes, Unit::kBytes,
                    8192u, 8u * 1024 * 1024,
                    "How much UCX takes from a TCP socket at once, at most. Raise it for long "
                    "messages on fast networks. Never less than a segment; less in large jobs and "
                    "under BBR."),
    param::Describe("transport.ucx.connect_ms", &Params::connect_ms, Unit::kMilliseconds, 0u,
                    60000u,
                    "How long the first message to a peer waits for its connection, so that it has "
                    "left when the send is over. A peer that computes makes the sender wait this "
                    "long once."),
    param::Describe("transport.ucx.sends_max", &Params::sends_max, Unit::kCount, 16u, 1u << 20,
                    "Frames handed to UCX and not yet sent; beyond, senders wait. Raising it costs "
                    "memory where a network is slower than its senders."),
    param::Describe("transport.ucx.large_sends_max", &Params::large_sends_max, Unit::kCount, 1u,
                    65536u,
                    "How many of these frames may carry more than 1 KiB; each of them holds "
                    "short_bytes_max bytes."),
    param::Describe(
        "transport.ucx.one_sided", &Params::one_sided, "off|on|auto",
        "Whether windows reach memory of other nodes by UCX's put and get. auto: if "
        "there is an RDMA adapter. on: also over TCP, where whoever reaches the network "
        "can write there. off: never."),
};

}  // namespace lamina::ucx
