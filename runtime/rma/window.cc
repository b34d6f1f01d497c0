// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/rma/window.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "collectives/exec/exec.h"
#include "runtime/p2p/p2p.h"
#include "runtime/trace/trace.h"

namespace lamina::rma {

Window::Window(core::Comm* comm)
    : comm_(comm), epoch_(comm->size), messages_(comm), origin_(&messages_) {}

Window::~Window() {
  service_.reset();
  messages_.WaitForRoom(1);  // they may lie in the memory
  if (memory_ != nullptr) munmap(memory_, memory_bytes_);
  for (const std::string& name : names_) unlink(name.c_str());
}

const Window::Near* Window::Search(Rank rank) const {
  const auto found =
      std::lower_bound(near_.begin(), near_.end(), rank,
                       [](const Near& near, Rank wanted) { return near.rank < wanted; });
  return found != near_.end() && found->rank == rank ? &*found : nullptr;
}

// Finds where the goal lies. MPI_ERR_RMA_RANGE: some byte of it is not in the window.
int Window::Locate(const Near& near, const Goal& goal, Place* place) const {
  const MemberRecord& record = block_->member(IndexOf(&near));
  std::int64_t start = 0;
  if (__builtin_mul_overflow(goal.displacement, record.disp_unit, &start)) return MPI_ERR_RMA_RANGE;
  if (is_dynamic()) {
    const AttachTable& attached = block_->attached(IndexOf(&near));
    const bool holds = datatype::ForEachRun(goal.count, *goal.type, [&](const datatype::Run& run) {
      for (std::int64_t i = 0; i < run.count; ++i)
        if (!attached.Holds(static_cast<std::uint64_t>(start + run.offset + i * run.stride),
                            static_cast<std::uint64_t>(run.bytes)))
          return false;
      return true;
    });
    if (!holds) return MPI_ERR_RMA_RANGE;
  } else {
    const datatype::Span span = datatype::SpanOf(goal.count, *goal.type);
    std::int64_t begin = 0, end = 0;
    if (__builtin_add_overflow(start, span.begin, &begin) ||
        __builtin_add_overflow(start, span.end, &end) || begin < 0 || end > record.size)
      return MPI_ERR_RMA_RANGE;
  }
  place->offset = static_cast<std::uint64_t>(start);
  if (near.path == kMapped) {
    place->memory = datatype::At(near.memory, start);
  } else {
    place->address = record.address + place->offset;
    place->pid = record.pid;
  }
  return MPI_SUCCESS;
}

void Window::CountAccess(Path path, std::int64_t bytes) {
  using trace::Counter;
  constexpr Counter kAccesses[] = {Counter::kMappedAccesses, Counter::kCopiedAccesses};
  constexpr Counter kBytes[] = {Counter::kMappedBytes, Counter::kCopiedBytes};
  trace::Count(kAccesses[path]);
  trace::Count(kBytes[path], static_cast<std::uint64_t>(bytes));
}

// Waits until the target may be accessed. `*near` is null if it is reached by messages.
int Window::MakeReady(const Goal& goal, const Near** near) {
  *near = NearOf(goal.target);
  if (*near != nullptr && (*near)->path == kFramed) *near = nullptr;
  if (*near != nullptr) CountAccess((*near)->path, goal.bytes());
  return posts_.empty() ? static_cast<int>(MPI_SUCCESS) : AwaitPost(goal.target);
}

int Window::Put(const Goal& goal, const Buffer& from, bool stays) {
  const Near* near;
  if (const int error = MakeReady(goal, &near); error != MPI_SUCCESS) return error;
  if (goal.bytes() == 0) return MPI_SUCCESS;
  if (near == nullptr) return origin_.Put(goal, from, stays);
  Place place;
  const int error = Locate(*near, goal, &place);
  return error != MPI_SUCCESS ? error : rma::Put(place, {goal.count, goal.type, {}}, from);
}

int Window::Get(const Goal& goal, const Buffer& into, core::Request* owner) {
  const Near* near;
  if (const int error = MakeReady(goal, &near); error != MPI_SUCCESS) return error;
  if (near == nullptr && (goal.bytes() != 0 || owner != nullptr))
    return origin_.Get(goal, into, owner);
  if (goal.bytes() == 0) return MPI_SUCCESS;
  Place place;
  const int error = Locate(*near, goal, &place);
  return error != MPI_SUCCESS ? error : rma::Get(place, {goal.count, goal.type, {}}, into);
}

int Window::Accumulate(const Goal& goal, const Accumulation& it, core::Request* owner) {
  const Near* near;
  if (const int error = MakeReady(goal, &near); error != MPI_SUCCESS) return error;
  if (near == nullptr && (goal.bytes() != 0 || owner != nullptr))
    return origin_.Accumulate(goal, it, owner);
  if (goal.bytes() == 0) return MPI_SUCCESS;
  Place place;
  const int error = Locate(*near, goal, &place);
  if (error != MPI_SUCCESS) return error;
  return rma::Accumulate(place, {goal.count, goal.type, {}}, it, ZonesOf(*near));
}

int Window::CompareAndSwap(const Goal& goal, const Swap& it) {
  const Near* near;
  if (const int error = MakeReady(goal, &near); error != MPI_SUCCESS) return error;
  if (near == nullptr) return origin_.CompareAndSwap(goal, it);
  Place place;
  const int error = Locate(*near, goal, &place);
  return error != MPI_SUCCESS ? error : rma::CompareAndSwap(place, it, ZonesOf(*near));
}

bool Window::Attach(const void* base, std::int64_t size) {
  return block_->attached(self_).Attach(reinterpret_cast<std::uint64_t>(base),
                                        static_cast<std::uint64_t>(size));
}

bool Window::Detach(const void* base) {
  if (service_ != nullptr) service_->Detached();
  return block_->attached(self_).Detach(reinterpret_cast<std::uint64_t>(base));
}

// A member with memory that is not mapped here looks as if it had none. The first member that has
// some answers for MPI_PROC_NULL.
Mapping Window::Query(Rank rank) const {
  for (const Near& near : near_) {
    const MemberRecord& record = block_->member(IndexOf(&near));
    if (rank == MPI_PROC_NULL ? near.memory == nullptr || record.size == 0 : near.rank != rank)
      continue;
    if (near.memory == nullptr) break;
    return {record.size, record.disp_unit, near.memory};
  }
  return {};
}

int Window::Barrier() {
  collective::Invocation barrier;
  barrier.operation = collective::Operation::kBarrier;
  barrier.comm = comm_;
  return collective::Run(barrier);
}

// Somebody who fails to meet goes on, so that those who wait for him do not wait for ever, and a
// barrier tells them nothing. So all count themselves, and whoever finds that not all were counted
// knows. The weight of each differs from meeting to meeting, lest an old sum is taken for a new
// one.
int Window::Count() {
  const std::uint64_t own = ++meetings_;
  std::uint64_t all = 0;
  collective::Invocation count;
  count.operation = collective::Operation::kAllreduce;
  count.comm = comm_;
  count.input = &own;
  count.output = &all;
  count.input_count = count.output_count = 1;
  count.input_type = count.output_type = datatype::FindDatatype(MPI_UINT64_T);
  count.op = datatype::FindOp(MPI_SUM);
  const int error = collective::Run(count);
  if (error != MPI_SUCCESS) return error;
  return all == own * static_cast<std::uint64_t>(members())
             ? static_cast<int>(MPI_SUCCESS)
             : static_cast<int>(MPI_ERR_PROC_ABORTED);
}

// Nobody leaves before all have come. On one node a barrier fails for all if it fails for one.
// Members are looked after before it, because behind it one of them may have ended the program.
int Window::Meet() {
  if (near_.size() != static_cast<std::size_t>(members())) return Count();
  const int known = Known(MPI_SUCCESS, kEveryone);
  const int met = Barrier();
  return met != MPI_SUCCESS ? met : known;
}

}  // namespace lamina::rma
