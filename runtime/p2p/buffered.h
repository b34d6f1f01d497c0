// SPDX-License-Identifier: BSD-3-Clause
// Buffered sends (MPI-5.0, section 3.6): the message is copied and the send is over.
//
// A message that fits into the transport goes there at once. Only what finds no room, or is long,
// is copied into the buffer the user attached, and leaves from there as peers make room.
//
// Each function returns an MPI error class.
#pragma once

#include <cstdint>

#include "runtime/p2p/p2p.h"

namespace lamina::p2p {

// MPI_BUFFER_AUTOMATIC as address: memory is taken from the heap as needed. MPI_ERR_BUFFER if one
// is attached already.
int AttachBuffer(void* address, std::int64_t bytes);
// Waits until every buffered message has left.
int DetachBuffer(void** address, std::int64_t* bytes);
void FlushBuffered();
// MPI_ERR_BUFFER: not enough room left in the attached buffer.
int SendBuffered(const Envelope& to, const Buffer& data);

}  // namespace lamina::p2p
