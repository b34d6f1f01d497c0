// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/buffered.h"

#include <algorithm>
#include <cstdlib>

#include "runtime/core/group.h"
#include "runtime/core/session.h"
#include "runtime/p2p/engine.h"
#include "runtime/p2p/short_send.h"

namespace lamina::p2p {
namespace {

// The first of all buffers that are attached anywhere in this process.
constinit SendBuffer* first_buffer = nullptr;

}  // namespace

SendBuffer::SendBuffer(void* address, std::int64_t bytes)
    : address_(address == MPI_BUFFER_AUTOMATIC ? nullptr : static_cast<std::byte*>(address)),
      bytes_(address == MPI_BUFFER_AUTOMATIC ? 0 : bytes),
      automatic_(address == MPI_BUFFER_AUTOMATIC),
      next_(first_buffer) {
  if (first_buffer != nullptr) first_buffer->previous_ = this;
  first_buffer = this;
}

SendBuffer::~SendBuffer() {
  (previous_ != nullptr ? previous_->next_ : first_buffer) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
}

std::uint64_t SendBuffer::oldest() const {
  std::uint64_t oldest = next_serial_;
  for (const Parcel& parcel : parcels_) oldest = std::min(oldest, parcel.serial);
  return oldest;
}

// Finds room for one message: the first gap between those still on their way that is large enough.
std::byte* SendBuffer::Reserve(std::int64_t bytes, std::list<Parcel>::iterator* place) {
  if (automatic_) {
    *place = parcels_.end();
    return static_cast<std::byte*>(
        std::malloc(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1))));
  }
  std::byte* free_from = address_;
  for (auto parcel = parcels_.begin(); parcel != parcels_.end(); ++parcel) {
    if (parcel->data - free_from >= bytes) {
      *place = parcel;
      return free_from;
    }
    free_from = parcel->data + parcel->bytes;
  }
  *place = parcels_.end();
  return address_ + bytes_ - free_from >= bytes ? free_from : nullptr;
}

// Takes back the room of messages that have left, and ends the flushes that waited for them.
void SendBuffer::Reclaim() {
  Request* left = nullptr;
  for (auto parcel = parcels_.begin(); parcel != parcels_.end();) {
    if (!parcel->request->complete) {
      ++parcel;
      continue;
    }
    parcel->request->next = left;
    left = parcel->request;
    if (automatic_) std::free(parcel->data);
    parcel = parcels_.erase(parcel);
  }
  if (left == nullptr) return;
  const std::uint64_t oldest_serial = oldest();
  const auto waits = [=](const PendingFlush& flush) { return flush.serial > oldest_serial; };
  const auto end = std::partition(flushes_.begin(), flushes_.end(), waits);
  const std::vector<PendingFlush> ended(end, flushes_.end());
  flushes_.erase(end, flushes_.end());
  // The last request that refers to a communicator deletes its buffer, which may be this one.
  for (const PendingFlush& flush : ended) core::Finish(flush.request, MPI_SUCCESS);
  while (left != nullptr) {
    Request* next = left->next;
    core::FreeRequest(left);
    left = next;
  }
}

int SendBuffer::Send(const Envelope& to, const Buffer& data) {
  const std::int64_t bytes = data.bytes();
  if (!automatic_ && bytes > bytes_) return MPI_ERR_BUFFER;
  if (TrySendNow(to, data)) return MPI_SUCCESS;
  std::list<Parcel>::iterator place;
  std::byte* room = Reserve(bytes, &place);
  if (room == nullptr) {
    Progress();
    room = Reserve(bytes, &place);
    if (room == nullptr) return MPI_ERR_BUFFER;
  }
  datatype::Pack(data, 0, {room, static_cast<std::size_t>(bytes)});
  Request* request = core::NewRequest(to.comm);
  PrepareSend(request, to, {room, bytes, datatype::FindDatatype(MPI_BYTE)},
              Request::Mode::kStandard);
  request->watcher = this;
  parcels_.insert(place, {room, bytes, request, next_serial_++});
  p2p::Start(request);
  return MPI_SUCCESS;
}

core::Request* SendBuffer::StartFlush(core::Comm* comm) {
  Request* request = core::NewRequest(comm);
  request->active = true;
  request->complete = parcels_.empty();
  if (!request->complete) flushes_.push_back({request, next_serial_});
  return request;
}

int AttachBuffer(SendBuffer** place, void* address, std::int64_t bytes) {
  if (*place != nullptr) return MPI_ERR_BUFFER;
  *place = new SendBuffer(address, bytes);
  return MPI_SUCCESS;
}

void DetachBuffer(SendBuffer** place, void** address, std::int64_t* bytes) {
  SendBuffer* buffer = *place;
  if (buffer == nullptr) {
    *address = nullptr;
    *bytes = 0;
    return;
  }
  *place = nullptr;  // nobody adds to it any more
  FlushBuffer(buffer);
  *address = buffer->automatic() ? MPI_BUFFER_AUTOMATIC : buffer->address();
  *bytes = buffer->bytes();
  delete buffer;
}

void FlushBuffer(SendBuffer* buffer) {
  if (buffer == nullptr) return;
  struct Until {
    SendBuffer* buffer;
    std::uint64_t serial;
  } until{buffer, buffer->next_serial()};
  WaitUntil(
      [](void* argument) {
        const Until* self = static_cast<const Until*>(argument);
        return self->buffer->oldest() >= self->serial;
      },
      &until);
}

core::Request* StartFlush(SendBuffer* buffer, core::Comm* comm) {
  if (buffer != nullptr) return buffer->StartFlush(comm);
  Request* request = core::NewRequest(comm);
  request->active = request->complete = true;
  return request;
}

SendBuffer** ProcessBuffer() { return &TheEngine().send_buffer(); }

void FlushBuffered() {
  // The list is walked anew each time, because a freed communicator takes its buffer along when its
  // last message has left.
  WaitUntil(
      [](void*) {
        for (SendBuffer* buffer = first_buffer; buffer != nullptr; buffer = buffer->next())
          if (!buffer->empty()) return false;
        return true;
      },
      nullptr);
}

bool IsBuffered(const Request* request) {
  if (request->watcher == nullptr) return false;
  for (const SendBuffer* buffer = first_buffer; buffer != nullptr; buffer = buffer->next())
    if (request->watcher == buffer) return true;
  return false;
}

int SendBuffered(const Envelope& to, const Buffer& data) {
  SendBuffer* buffer = to.comm->send_buffer;
  const core::Session* session = to.comm->group->session;
  if (buffer == nullptr && session != nullptr) buffer = session->send_buffer;
  if (buffer == nullptr) buffer = TheEngine().send_buffer();
  // Without a buffer MPI behaves as if one of no bytes were attached.
  return buffer != nullptr ? buffer->Send(to, data) : MPI_ERR_BUFFER;
}

}  // namespace lamina::p2p
