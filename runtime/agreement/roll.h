// SPDX-License-Identifier: BSD-3-Clause
// A roll tells who is in a group to processes that may have other numbers for its members.
//
// Format, little endian: a count of 32 bits, and for each member its name (64 bits), the length of
// its card (32 bits) and the card. Within a job, whose processes all have the same numbers, the
// roll of a group is these numbers alone: a count of ffffffff, and 32 bits for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/base/status.h"
#include "runtime/p2p/other_jobs.h"

namespace lamina::agreement {

std::vector<std::byte> RollOf(std::span<const p2p::Introduction> members);
// Reads a roll with names and cards. The error kInvalid says what is wrong with the bytes.
Result<std::vector<p2p::Introduction>> ReadRoll(std::span<const std::byte> roll);

// Return the roll of a group, as short as will do, and the members of one.
Result<std::vector<std::byte>> RollOf(const std::vector<PeerId>& members);
Result<std::vector<PeerId>> MeetAll(std::span<const std::byte> roll);

}  // namespace lamina::agreement
