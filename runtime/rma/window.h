// SPDX-License-Identifier: BSD-3-Clause
// One window of one process: how each member's memory is reached, and what is under way.
//
// A path is chosen once for each member: memory that is mapped here, memory of a process on this
// node that is copied by system calls, or messages that the target answers.
//
// Functions return an MPI error class. The caller has checked arguments and epochs.
//
// Ownership:  owns the block, the memory that it allocated, and the private communicator's traffic.
// Threads:    the caller holds the library lock at MPI_THREAD_MULTIPLE.
// Allocation: at creation; none for an operation on mapped or copied memory.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/core/comm.h"
#include "runtime/core/request.h"
#include "runtime/core/win.h"
#include "runtime/memory/sealed_memory.h"
#include "runtime/rma/block.h"
#include "runtime/rma/epoch.h"
#include "runtime/rma/hints.h"
#include "runtime/rma/locks.h"
#include "runtime/rma/messages.h"
#include "runtime/rma/origin.h"
#include "runtime/rma/place.h"
#include "runtime/rma/service.h"
#include "runtime/rma/tuning.h"

namespace lamina::rma {

// What a process asks for when a window is made.
struct Wish {
  int flavor = MPI_WIN_FLAVOR_CREATE;
  void* base = nullptr;  // MPI_WIN_FLAVOR_CREATE only
  std::int64_t size = 0;
  std::int64_t disp_unit = 1;
  Hints hints;
  int error = MPI_SUCCESS;  // what is wrong with the arguments here; all members are told
};

// What a member's memory is to a load or store of this process.
struct Mapping {
  std::int64_t size = 0;
  std::int64_t disp_unit = 1;
  void* base = nullptr;
};

class Window {
 public:
  // Collective over `over`. All members fail if one does: each returns its own error, and the
  // others the class of one that failed. `why` says more where this process knows more.
  static int Create(core::Comm* over, const Wish& wish, core::Win** made, std::string* why);
  // Collective. Ends the window and frees `win`.
  // `*gone` becomes a member that is gone, or -1.
  static int Free(core::Win* win, Rank* gone);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  Epoch& epoch() { return epoch_; }
  Hints& hints() { return hints_; }
  Rank members() const { return comm_->size; }
  bool is_dynamic() const { return flavor_ == MPI_WIN_FLAVOR_DYNAMIC; }

  // `owner` finishes with the operation, unless that is over at once; see Fetch. It may be null.
  // `stays`: the data is not changed before the next flush.
  int Put(const Goal& goal, const Buffer& from, bool stays);
  int Get(const Goal& goal, const Buffer& into, core::Request* owner);
  int Accumulate(const Goal& goal, const Accumulation& it, core::Request* owner);
  int CompareAndSwap(const Goal& goal, const Swap& it);
  // True if operations on the target are over when they return.
  bool IsNear(Rank target) const {
    const Near* const near = NearOf(target);
    return near != nullptr && near->path != kFramed;
  }

  int Fence(int assertion);
  int Start(std::vector<Rank> targets, int assertion);
  int Complete();
  int Post(const std::vector<Rank>& origins, int assertion);
  int Wait();
  bool Test();

  int Lock(Rank target, int type);
  int Unlock(Rank target, int type, bool unchecked);
  int LockAll();
  int UnlockAll(bool unchecked);
  int Flush(Rank target);
  int FlushAll();
  int FlushLocal(Rank target) { return Known(origin_.FlushLocal(target), target); }
  int FlushLocalAll() { return Known(origin_.FlushLocalAll(), kEveryone); }

  // False: it overlaps what is attached, or nothing is attached there.
  bool Attach(const void* base, std::int64_t size);
  bool Detach(const void* base);
  Mapping Query(Rank rank) const;
  // A member that is gone, `likely` if that one is; -1: none is known to be.
  Rank FindGone(Rank likely);

 private:
  enum Path : std::uint8_t { kMapped, kCopied, kFramed };
  // A member on this node, this process included.
  struct Near {
    Rank rank;
    Path path;
    std::byte* memory;  // where it is mapped; null: it is not
  };
  class Creation;
  static constexpr Rank kEveryone = -1;

  explicit Window(core::Comm* comm);
  // Null: the member is on another node. Where all are on this one, `near_` needs no search.
  const Near* NearOf(Rank rank) const {
    return near_.size() == static_cast<std::size_t>(members())
               ? &near_[static_cast<std::size_t>(rank)]
               : Search(rank);
  }
  const Near* Search(Rank rank) const;
  std::size_t IndexOf(const Near* near) const {
    return static_cast<std::size_t>(near - near_.data());
  }
  int Locate(const Near& near, const Goal& goal, Place* place) const;
  Exclusion ZonesOf(const Near& near) { return {block_.get(), IndexOf(&near), self_}; }
  int MakeReady(const Goal& goal, const Near** near);
  static void CountAccess(Path path, std::int64_t bytes);
  int AwaitPost(Rank target);
  int AwaitPosts();
  int Barrier();
  int Count();
  int Meet();
  // Memory that is mapped outlives its process, so whoever completes accesses to it looks now and
  // then whether that lives. What is known already is returned.
  int Known(int error, Rank target) {
    return error != MPI_SUCCESS || CoarseMonotonicMs() < look_at_ms_ ? error : LookAfter(target);
  }
  int LookAfter(Rank target);
  static int WaitAll(std::vector<core::Request*>* requests);

  core::Comm* const comm_;
  Epoch epoch_;
  Hints hints_;
  int flavor_ = MPI_WIN_FLAVOR_CREATE;
  std::vector<Near> near_;        // by rank
  std::size_t self_ = 0;          // this process in `near_` and in the block
  std::unique_ptr<Block> block_;  // of those in `near_`
  Messages messages_;
  Origin origin_;
  std::unique_ptr<Locks> locks_;
  std::unique_ptr<Service> service_;
  bool has_agent_ = false;
  // When to look after the members of this node again.
  std::uint64_t look_at_ms_ = CoarseMonotonicMs() + kLookAroundMs;
  std::uint64_t meetings_ = 0;  // across nodes
  // What this process has taken of the node's memory, to be given back.
  struct Shared {
    memory::Sealed memory;
    std::size_t bytes;
  };
  std::vector<Shared> shared_;
  std::vector<std::string> names_;  // of files that this process has made for the window
  std::byte* memory_ = nullptr;     // what was allocated and is mapped here
  std::size_t memory_bytes_ = 0;
  std::vector<Rank> targets_;                // of the access epoch that MPI_Win_start began
  std::vector<core::Request*> posts_;        // from these
  std::vector<core::Request*> completions_;  // from the origins of the exposure epoch
};

}  // namespace lamina::rma
