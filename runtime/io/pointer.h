// SPDX-License-Identifier: BSD-3-Clause
// The shared file pointer (MPI-5.0, section 14.4.4): one number for all ranks of an open file, in
// data bytes of the view that all have set alike. It is never in a file, so nothing of it is left
// behind.
//
//   Alone   one rank: a member
//   OnNode  all ranks on one node: a word in memory that they share
//   Owned   several nodes: rank 0 has it and answers messages whenever it is inside MPI
//
// Threads: the caller holds the library lock at MPI_THREAD_MULTIPLE.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/core/comm.h"
#include "runtime/io/failure.h"
#include "runtime/memory/sealed_memory.h"

namespace lamina::io {

class SharedPointer {
 public:
  virtual ~SharedPointer() = default;
  // Moves the pointer by `bytes` in one step and gives where it was.
  virtual Failure Claim(std::int64_t bytes, std::int64_t* first) = 0;
  virtual Failure Set(std::int64_t position) = 0;

  Failure Get(std::int64_t* position) { return Claim(0, position); }
};

std::unique_ptr<SharedPointer> MakeAlone();

// `own` is the memory on the rank that made it; others open it by its name when they first need it.
std::unique_ptr<SharedPointer> MakeOnNode(std::optional<memory::Sealed> own,
                                          const memory::SealedName& name);
// Makes it outside the node's memory, because atomic mode locks ranges of it from its beginning.
Result<memory::MadeSealed> MakeNodePage();

// `comm` belongs to the file alone and outlives the pointer. The pointer of rank 0 lives until no
// other rank uses its own any more.
std::unique_ptr<SharedPointer> MakeOwned(core::Comm* comm);

}  // namespace lamina::io
