// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/p2p/buffered.h"

#include <cstdlib>

#include "runtime/p2p/engine.h"

namespace lamina::p2p {

// Room for one message, first fit among those still on their way, which lie in order of address.
std::byte* BufferedSends::Reserve(std::int64_t bytes, std::list<Parcel>::iterator* place) {
  Reclaim();
  if (automatic_) {
    *place = parcels_.end();
    return static_cast<std::byte*>(std::malloc(static_cast<std::size_t>(bytes)));
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
  return address_ != nullptr && address_ + bytes_ - free_from >= bytes ? free_from : nullptr;
}

void BufferedSends::Reclaim() {
  for (auto parcel = parcels_.begin(); parcel != parcels_.end();) {
    if (!parcel->request->complete) {
      ++parcel;
      continue;
    }
    core::FreeRequest(parcel->request);
    if (automatic_) std::free(parcel->data);
    parcel = parcels_.erase(parcel);
  }
}

int BufferedSends::Send(const Envelope& to, const Buffer& data) {
  const std::int64_t bytes = data.bytes();
  std::list<Parcel>::iterator place;
  std::byte* room = Reserve(bytes, &place);
  if (room == nullptr && bytes > 0) {
    Progress();
    room = Reserve(bytes, &place);
    if (room == nullptr) return MPI_ERR_BUFFER;
  }
  datatype::Pack(data, 0, {room, static_cast<std::size_t>(bytes)});
  Request* request = core::NewRequest(to.comm);
  PrepareSend(request, to, {room, bytes, datatype::FindDatatype(MPI_BYTE)},
              Request::Mode::kStandard);
  parcels_.insert(place, {room, bytes, request});
  Start(request);
  return MPI_SUCCESS;
}

void BufferedSends::Flush() {
  WaitUntil(
      [](void* self) {
        BufferedSends* sends = static_cast<BufferedSends*>(self);
        sends->Reclaim();
        return sends->parcels_.empty();
      },
      this);
}

int BufferedSends::Attach(void* address, std::int64_t bytes) {
  if (address_ != nullptr || automatic_) return MPI_ERR_BUFFER;
  automatic_ = address == MPI_BUFFER_AUTOMATIC;
  address_ = automatic_ ? nullptr : static_cast<std::byte*>(address);
  bytes_ = bytes;
  return MPI_SUCCESS;
}

void BufferedSends::Detach(void** address, std::int64_t* bytes) {
  Flush();
  *address = automatic_ ? MPI_BUFFER_AUTOMATIC : address_;
  *bytes = automatic_ ? 0 : bytes_;
  address_ = nullptr;
  bytes_ = 0;
  automatic_ = false;
}

int AttachBuffer(void* address, std::int64_t bytes) {
  return TheEngine().buffered().Attach(address, bytes);
}
int DetachBuffer(void** address, std::int64_t* bytes) {
  TheEngine().buffered().Detach(address, bytes);
  return MPI_SUCCESS;
}
void FlushBuffered() { TheEngine().buffered().Flush(); }
int SendBuffered(const Envelope& to, const Buffer& data) {
  if (TheEngine().TrySendNow(to, data)) return MPI_SUCCESS;
  return TheEngine().buffered().Send(to, data);
}

}  // namespace lamina::p2p
