// SPDX-License-Identifier: BSD-3-Clause
// Buffered sends (MPI-5.0, section 3.6): the message is copied and the send is over.
//
// A SendBuffer is what an application attached to a communicator, a session or the process. A
// message that fits into the transport goes there at once; only what finds no room, or is long, is
// copied into the buffer, and leaves from there as peers make room.
//
// Ownership: one pointer, in the communicator, the session or the engine (the process's own); the
//            functions below make and delete what it points to.
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

// Attaches `bytes` at `address` to the owner of `place`. MPI_BUFFER_AUTOMATIC as address: memory is
// taken from the heap as needed. MPI_SUCCESS, or MPI_ERR_BUFFER if one is attached already.
int AttachBuffer(SendBuffer** place, void* address, std::int64_t bytes);
// Waits until every message in it has left. Nothing attached counts as a buffer of no bytes.
void DetachBuffer(SendBuffer** place, void** address, std::int64_t* bytes);
// Waits until what is in it now has left. Null: nothing is attached.
void FlushBuffer(SendBuffer* buffer);
// The same as a request, active; `comm` for its errors, may be null.
core::Request* StartFlush(SendBuffer* buffer, core::Comm* comm);

// Where the process's own buffer hangs.
SendBuffer** ProcessBuffer();
// Waits until all buffered messages of this process have left; before finalisation.
void FlushBuffered();

// A buffered send: through the communicator's buffer, else its session's, else the process's.
// MPI_SUCCESS, or MPI_ERR_BUFFER: it has not enough room.
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

  // Serial number of the oldest message still in it, and of the next one to come.
  std::uint64_t oldest() const;
  std::uint64_t next_serial() const { return next_serial_; }

 private:
  // A message on its way; the request completes when its bytes are free again.
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
  // Links of the list of all buffers of this process.
  SendBuffer* previous_ = nullptr;
  SendBuffer* next_ = nullptr;
};

}  // namespace lamina::p2p
