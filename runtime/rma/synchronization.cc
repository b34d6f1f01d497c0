// SPDX-License-Identifier: BSD-3-Clause
// How epochs of a window begin and end (MPI-5.0, section 12.5).
//
// Fence: what this process did to members that are reached by messages is flushed; then all meet
// in a barrier. Loads and stores of mapped memory are ordered by a fence of the processor.
//
// Post, start, complete, wait: post and complete are messages without data. Whoever started waits
// for a target's post before it first accesses that target, or else in complete. What was done to
// a target is flushed before it is told.
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "runtime/p2p/p2p.h"
#include "runtime/rma/window.h"

namespace lamina::rma {

using core::Request;

namespace {

void OrderMemory() { std::atomic_thread_fence(std::memory_order_seq_cst); }

// A message without data is expected from `rank`.
Request* Expect(const Messages& messages, Rank rank, int tag) {
  Request* const request = core::NewRequest(messages.comm());
  p2p::PrepareReceive(request, messages.At(rank, tag),
                      {nullptr, 0, datatype::FindDatatype(MPI_BYTE)});
  p2p::Start(request);
  return request;
}

}  // namespace

int Window::WaitAll(std::vector<Request*>* requests) {
  int error = MPI_SUCCESS;
  for (Request* const request : *requests) {
    p2p::Wait(request);
    if (error == MPI_SUCCESS) error = request->error;
    core::FreeRequest(request);
  }
  requests->clear();
  return error;
}

int Window::Fence(int assertion) {
  constexpr int kNeither = MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
  const int error = origin_.FlushAll();
  OrderMemory();
  if ((assertion & kNeither) == kNeither) return error;
  const int met = Meet();
  OrderMemory();
  return error != MPI_SUCCESS ? error : met;
}

int Window::Start(std::vector<Rank> targets, int assertion) {
  if (const int error = epoch_.Start(targets); error != MPI_SUCCESS) return error;
  targets_ = std::move(targets);  // the elements stay where they are
  if ((assertion & MPI_MODE_NOCHECK) == 0)
    for (const Rank target : targets_) posts_.push_back(Expect(messages_, target, kPostTag));
  return MPI_SUCCESS;
}

// Complete() retires the requests, because several threads may wait for the same one.
int Window::AwaitPost(Rank target) {
  const auto found = std::find(targets_.begin(), targets_.end(), target);
  if (found == targets_.end()) return MPI_SUCCESS;
  Request* const post = posts_[static_cast<std::size_t>(found - targets_.begin())];
  p2p::Wait(post);
  return post->error;
}

int Window::Complete() {
  const std::vector<Rank> targets = std::exchange(targets_, {});
  const int posted = WaitAll(&posts_);
  const int flushed = origin_.FlushAll();
  OrderMemory();
  int error = posted != MPI_SUCCESS ? posted : flushed;
  for (const Rank target : targets) {
    messages_.Send(target, kCompleteTag, {});
    error = Known(error, target);
  }
  return error;
}

int Window::Post(const std::vector<Rank>& origins, int assertion) {
  OrderMemory();
  for (const Rank origin : origins) {
    completions_.push_back(Expect(messages_, origin, kCompleteTag));
    if ((assertion & MPI_MODE_NOCHECK) == 0) messages_.Send(origin, kPostTag, {});
  }
  return MPI_SUCCESS;
}

int Window::Wait() {
  const int error = WaitAll(&completions_);
  OrderMemory();
  return error;
}

bool Window::Test() {
  const bool all = std::all_of(completions_.begin(), completions_.end(),
                               [](const Request* request) { return request->complete; });
  if (!all && !p2p::Progress()) p2p::TestedInVain();
  return all;
}

int Window::Lock(Rank target, int type) {
  const bool nested = epoch_.locks() > 1;
  const Near* const near = NearOf(target);
  const int error = near != nullptr ? locks_->Lock(IndexOf(near), type, nested)
                                    : origin_.Lock(target, type, nested);
  OrderMemory();
  return error;
}

int Window::Unlock(Rank target, int type, bool unchecked) {
  const Near* const near = NearOf(target);
  OrderMemory();
  if (near == nullptr) return unchecked ? origin_.Flush(target) : origin_.Unlock(target);
  const int error = origin_.Flush(target);
  if (!unchecked) locks_->Unlock(IndexOf(near), type);
  return Known(error, target);
}

int Window::LockAll() {
  const int error = locks_->LockAll();
  OrderMemory();
  return error;
}

int Window::UnlockAll(bool unchecked) {
  const int error = origin_.FlushAll();
  OrderMemory();
  const int unlocked = unchecked ? static_cast<int>(MPI_SUCCESS) : locks_->UnlockAll();
  return Known(error != MPI_SUCCESS ? error : unlocked, kEveryone);
}

// If one is gone, the next one looks again, because all that need it are to fail.
[[gnu::cold]] int Window::LookAfter(Rank target) {
  bool any = false, concerns = false;
  for (std::size_t i = 0; i < near_.size(); ++i) {
    if (i == self_ || memory::IsRunning(block_->member(i).pid)) continue;
    any = true;
    concerns = concerns || target == kEveryone || near_[i].rank == target;
  }
  look_at_ms_ = any ? 0 : CoarseMonotonicMs() + kLookAroundMs;
  return concerns ? static_cast<int>(MPI_ERR_PROC_ABORTED) : static_cast<int>(MPI_SUCCESS);
}

int Window::Flush(Rank target) {
  OrderMemory();
  return Known(origin_.Flush(target), target);
}

int Window::FlushAll() {
  OrderMemory();
  return Known(origin_.FlushAll(), kEveryone);
}

// This is asked when something has failed.
[[gnu::cold]] Rank Window::FindGone(Rank likely) {
  const auto is_gone = [this](Rank rank) {
    if (rank < 0 || rank >= members() || rank == comm_->rank) return false;
    if (const Near* const near = NearOf(rank); near != nullptr)
      return !memory::IsRunning(block_->member(IndexOf(near)).pid);
    return messages_.IsGone(rank);
  };
  if (is_gone(likely)) return likely;
  for (Rank rank = 0; rank < members(); ++rank)
    if (is_gone(rank)) return rank;
  return -1;
}

}  // namespace lamina::rma
