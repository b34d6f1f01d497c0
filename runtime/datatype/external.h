// SPDX-License-Identifier: BSD-3-Clause
// The "external32" representation is big-endian and IEEE and has fixed sizes (MPI-5.0, section
// 14.5.2).
#pragma once

#include "runtime/datatype/datatype.h"

namespace lamina::datatype {

// Returns the bytes of one element in external32, which are never more than in memory.
std::int64_t ExternalBytes(const Datatype& type);
// `into` and `from` hold from.count * ExternalBytes() bytes. The loops take one basic element at a
// time.
void PackExternal(const Buffer& from, std::byte* into);
void UnpackExternal(const std::byte* from, const Buffer& into);

}  // namespace lamina::datatype
