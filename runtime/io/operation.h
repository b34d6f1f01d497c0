// SPDX-License-Identifier: BSD-3-Clause
// The data accesses of a file (MPI-5.0, section 14.4): every one is described by the same few
// words, and is carried out blocking, nonblocking or split.
//
// A collective access, but for the ordered ones, begins with one agreement, in which the ranks
// learn what each of them has. Mostly they then move their data *directly*: each does its own part
// and reports its own error. Where many short pieces lie side by side they *exchange* it, and all
// report the same error. All ordered accesses are direct; their ranks find out who comes where.
//
// Threads: the caller holds the library lock at MPI_THREAD_MULTIPLE.
#pragma once

#include "runtime/core/request.h"
#include "runtime/io/file.h"

namespace lamina::io {

enum class Pointer { kExplicit, kIndividual, kShared };

struct Request {
  bool writes = false;
  bool collective = false;
  Pointer pointer = Pointer::kExplicit;
  MPI_Offset offset = 0;  // in etypes; with kExplicit
  datatype::Buffer memory = {};
};

// `mine` is what the caller has found wrong with the arguments; a rank of a collective access takes
// part nevertheless, so that nobody waits for it.
Failure Perform(File* file, const Request& request, Failure mine, MPI_Status* status);

// The individual pointer moves at once. On several nodes, a shared pointer is asked for and waited
// for.
Failure Start(File* file, const Request& request, Failure mine, core::Request** started);

// `end_call` is the function that ends it.
Failure BeginSplit(File* file, const Request& request, const char* end_call, Failure mine);
// `end_call` and `buffer` must be those of the split access under way.
Failure EndSplit(File* file, const char* end_call, const void* buffer, MPI_Status* status);

}  // namespace lamina::io
