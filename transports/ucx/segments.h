// SPDX-License-Identifier: BSD-3-Clause
// How much UCX takes from a TCP socket at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "transports/ucx/params.h"

namespace lamina::ucx {

// The answer is in bytes and at least a segment, because a segment that does not fit cannot be
// received. Taking more makes a stream faster. Under BBR, which paces a stream by how it is taken,
// it makes a stream slower, except in a job of one node, which uses the loopback device.
std::uint64_t ReceiveBytes(const Params& params, std::uint32_t job_ranks, std::uint32_t local_ranks,
                           std::string_view congestion_control);

// The name of the algorithm that TCP uses in this network namespace; empty: the kernel does not
// tell.
std::string CongestionControl();

}  // namespace lamina::ucx
