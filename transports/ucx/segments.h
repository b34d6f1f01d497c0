// SPDX-License-Identifier: BSD-3-Clause
// What UCX takes from a TCP socket at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "transports/ucx/params.h"

namespace lamina::ucx {

// Every peer of which a part has come holds so much; all of a job together hold no more than this,
// unless a segment for each is more.
inline constexpr std::uint64_t kReceiveBytesOfAll = 32u << 20;

// Bytes, at least a segment: a segment that does not fit cannot be received. Long ones make a
// stream faster (params.h). BBR paces a stream by how it is taken and halves it from 128 KiB on,
// but not that of a job of one node, which goes over the loopback device.
std::uint64_t ReceiveBytes(const Params& params, std::uint32_t job_ranks, std::uint32_t local_ranks,
                           std::string_view congestion_control);

// Of the kernel's TCP in this network namespace; empty: it does not tell.
std::string CongestionControl();

}  // namespace lamina::ucx
