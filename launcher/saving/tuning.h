// SPDX-License-Identifier: BSD-3-Clause
// The constants of this folder that are no parameters.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lamina::launcher {

// So many saved states of a job are kept: the newest, and one for the case that it is damaged.
inline constexpr std::size_t kGenerationsKept = 2;

// Images go from node to node in pieces of this size.
inline constexpr std::size_t kPieceBytes = 128 * 1024;
// A node sends no more once so much is under way.
inline constexpr std::uint64_t kPiecesUnderWayBytes = 1024 * 1024;

}  // namespace lamina::launcher
