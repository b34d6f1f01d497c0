// SPDX-License-Identifier: BSD-3-Clause
// Buffered sends (MPI-5.0, section 3.6): the message is copied and the send is over.
//
// A SendBuffer is what an application has attached to a communicator, a session or the process. A
// message for which the transport has room goes there at once. Only what finds no room, or is long,
// is copied into the buffer, and leaves from there as peers make room.
//
// Ownership: the communicator, the session or the engine holds one pointer. The functions below
// make
//            and delete what it points to.
// Threads:   the caller holds the library lock at MPI_THREAD_MULTIPLE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

#include "runtime/core/activity.h"
#include "runtime/core/request.h"
#include "runtime/p2p/p2p.h"

namespace lamina::p2p {

// Attaches `bytes` bytes at `address` to the owner of `place`. If the address is
// MPI_BUFFER_AUTOMATIC, memory is taken from the heap as needed. MPI_ERR_BUFFER: a buffer is
// attached already.
int AttachBuffer(SendBuffer** place, void* address, std::int64_t bytes);
// Waits until every message in the buffer has left, and detaches it. If nothing is attached, it
// answers as for a buffer of no bytes.
void DetachBuffer(SendBuffer** place, void** address, std::int64_t* bytes);
// Waits until what is in the buffer now has left. `buffer` may be null.
void FlushBuffer(SendBuffer* buffer);
// The same as an active request. Errors are raised on `comm`, which may be null.
core::Request* StartFlush(SendBuffer* buffer, core::Comm* comm);

// The place of the process's own buffer.
SendBuffer** ProcessBuffer();
// Waits until all buffered messages of this process have left.
void FlushBuffered();
// True if the send is one of a buffer.
bool IsBuffered(const core::Request* request);

// Sends through the communicator's buffer; if it has none, through its session's; if that has none,
// through the process's. MPI_ERR_BUFFER: there is not enough room.
int SendBuffered(const Envelope& to, const Buffer& data);

class SendBuffer final : public core::Activity {
 public:
  SendBuffer(void* address, std::int64_t bytes);
  ~SendBuffer() override;

  int Send(const Envelope& to, const Buffer& data);
  core::Request* StartFlush(core::Comm* comm);
  void Advance() override { Reclaim(); }

  bool empty() const { return parcels_.empty(); }
  bool automatic() const { return automatic_; }
  std::byte* address() const { return address_; }
  std::int64_t bytes() const { return bytes_; }
  SendBuffer* next() const { return next_; }

  // Serial numbers of the oldest message that is still here, and of the next one to come.
  std::uint64_t oldest() const;
  std::uint64_t next_serial() const { return next_serial_; }

 private:
  // A message on its way. Its bytes are free again when its request completes.
  struct Parcel {
    std::byte* data;
    std::int64_t bytes;
    core::Request* request;
    std::uint64_t serial;
  };
  // Completes when all messages before `serial` have left.
  struct PendingFlush {
    core::Request* request;
    std::uint64_t serial;
  };
  std::byte* Reserve(std::int64_t bytes, std::list<Parcel>::iterator* place);
  void Reclaim();

  std::byte* const address_;
  const std::int64_t bytes_;
  const bool automatic_;
  std::list<Parcel> parcels_;  // by address, unless automatic
  std::vector<PendingFlush> flushes_;
  std::uint64_t next_serial_ = 0;
  // All buffers of this process are linked.
  SendBuffer* previous_ = nullptr;
  SendBuffer* next_ = nullptr;
};

}  // namespace lamina::p2p
