// SPDX-License-Identifier: BSD-3-Clause
// The "external32" representation is big-endian and IEEE and has fixed sizes (MPI-5.0, section
// 14.5.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/datatype/datatype.h"

namespace lamina::datatype {

// Returns the bytes of one element in external32, which are never more than in memory.
std::int64_t ExternalBytes(const Datatype& type);
// The loops take one basic element at a time. `into` holds from.count * ExternalBytes() bytes.
void PackExternal(const Buffer& from, std::byte* into);
// Unpacks as many whole elements as `from` has, at most into.count of them. An element of a
// predefined type is whole or untouched. Returns the bytes of data that were written to memory.
std::int64_t UnpackExternal(std::span<const std::byte> from, const Buffer& into);

}  // namespace lamina::datatype
