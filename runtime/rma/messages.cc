// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/rma/messages.h"

#include <mpi.h>

#include <utility>

#include "runtime/datatype/datatype.h"
#include "runtime/rma/request.h"

namespace lamina::rma {

using core::Request;

Messages::~Messages() { WaitForRoom(1); }

void Messages::Send(Rank to, int tag, std::vector<std::byte> bytes) {
  const std::span<const std::byte> view(bytes);
  Start(to, tag, view, std::move(bytes));
}

void Messages::SendLent(Rank to, int tag, std::span<const std::byte> bytes) {
  Start(to, tag, bytes, {});
}

// Moving a vector does not move its elements, so `bytes` may point into `kept`.
void Messages::Start(Rank to, int tag, std::span<const std::byte> bytes,
                     std::vector<std::byte> kept) {
  Reap();
  Request* const request = core::NewRequest(comm_);
  const datatype::Buffer data{const_cast<std::byte*>(bytes.data()),
                              static_cast<std::int64_t>(bytes.size()),
                              datatype::FindDatatype(MPI_BYTE)};
  p2p::PrepareSend(request, At(to, tag), data, Request::Mode::kStandard);
  p2p::Start(request);
  if (request->complete)
    Retire(request);
  else
    sent_.push_back({request, std::move(kept)});
}

// A receive from a process that is gone ends at once.
[[gnu::cold]] bool Messages::IsGone(Rank rank) {
  Request* const request = core::NewRequest(comm_);
  p2p::PrepareReceive(request, At(rank, kNothingTag),
                      {nullptr, 0, datatype::FindDatatype(MPI_BYTE)});
  p2p::Start(request);
  const bool gone = request->complete;
  if (!gone && !p2p::Cancel(request)) p2p::Wait(request);
  core::FreeRequest(request);
  return gone;
}

void Messages::Retire(Request* request) {
  any_lost_ = any_lost_ || request->error != MPI_SUCCESS;
  core::FreeRequest(request);
}

void Messages::Reap() {
  for (auto message = sent_.begin(); message != sent_.end();) {
    if (message->request->complete) {
      Retire(message->request);
      message = sent_.erase(message);
    } else {
      ++message;
    }
  }
}

std::size_t Messages::under_way() {
  Reap();
  return sent_.size();
}

void Messages::WaitForRoom(std::size_t count) {
  struct Wait {
    Messages* self;
    std::size_t count;
  } wait{this, count};
  if (under_way() < count) return;
  p2p::WaitUntil(
      [](void* argument) {
        const auto* it = static_cast<Wait*>(argument);
        return it->self->under_way() < it->count;
      },
      &wait);
}

}  // namespace lamina::rma
