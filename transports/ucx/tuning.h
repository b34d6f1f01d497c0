// SPDX-License-Identifier: BSD-3-Clause
// Constants of this folder that no user should have to change.
#pragma once

#include <chrono>
#include <cstdint>

namespace lamina::ucx {

// Short frames up to this have slots of their own, so that they need not wait for long ones.
inline constexpr std::uint32_t kSmallBytes = 1024;
// A process counts as one that also sends long messages for this many fetches after it sent one.
inline constexpr std::uint32_t kSendsToo = 8;
// How long an orderly end may take to hand the last bytes to a peer that does not read.
inline constexpr std::chrono::milliseconds kCloseTimeout{500};
// UCX holds a receive buffer for every peer from which part of a segment has come. All of a job's
// together hold no more than this, unless one segment for each is more.
inline constexpr std::uint64_t kReceiveBytesOfAll = 32u << 20;

}  // namespace lamina::ucx
