// SPDX-License-Identifier: BSD-3-Clause
// Computes CRC-32C, the checksum that finds damage in what a checkpoint has written. Source:
// Castagnoli, Brauer, Herrmann, IEEE Transactions on Communications 41 (1993) 883-892.
//
// It finds damage and no malice, because anybody can compute it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lamina::checkpoint {

// Returns the checksum of the bytes that gave `before` and of `bytes` behind them. The checksum of
// no bytes is 0.
std::uint32_t Checksum(std::string_view bytes, std::uint32_t before = 0);

// Does the same without the processor's instruction, for processors that lack it.
std::uint32_t ChecksumByTable(std::string_view bytes, std::uint32_t before = 0);

}  // namespace lamina::checkpoint
