// SPDX-License-Identifier: BSD-3-Clause
// An open file, as one rank sees it (MPI-5.0, chapter 14).
//
//   OpenTogether ──> File ──> CloseTogether
//
// Functions whose names end in Together are collective: all ranks of the file call them, and all of
// them get the same class of failure. A rank that has found an error before gives it as `mine` and
// takes part, so that the others learn of it and nobody waits for ever.
//
// Ownership: the handle and each operation under way hold a reference.
// Threads:   the caller holds the library lock at MPI_THREAD_MULTIPLE. It is given up around system
//            calls.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/core/comm.h"
#include "runtime/core/info.h"
#include "runtime/io/amode.h"
#include "runtime/io/hints.h"
#include "runtime/io/locks.h"
#include "runtime/io/open_file.h"
#include "runtime/io/pointer.h"
#include "runtime/io/view.h"
#include "runtime/object/object.h"

namespace lamina::core {
struct Request;
}

namespace lamina::io {

struct File : core::Object {
  static constexpr core::Kind kKind = core::Kind::kFile;
  File() : Object(kKind) {}

  // A private communicator over the ranks of the file. Errors of the file are raised on it: its
  // handle is the file's, so error handlers of the application get that, and its error handler is
  // the file's.
  core::Comm* comm = nullptr;
  int amode = 0;
  std::string path;  // absolute, without the prefix that names a file system
  Identity identity;
  std::unique_ptr<OpenFile> body;
  Hints hints;
  View* view = nullptr;       // held by reference
  std::int64_t position = 0;  // the individual pointer, in data bytes of the view
  std::unique_ptr<SharedPointer> shared;
  std::unique_ptr<RangeLocks> locks;  // null until somebody needs them
  memory::SealedName page;            // memory of the ranks of one node, if all are on one
  bool on_one_node = true;
  bool atomic = false;
  // Some rank's view has holes, so that rank may write back bytes of others: all writes lock.
  bool locking = false;
  bool wrote = false;  // since the last sync
  std::uint32_t under_way = 0;
  unsigned collectives = 0;  // accesses that may exchange; the same on all ranks
  // The split collective under way; null if there is none.
  core::Request* split = nullptr;
  const void* split_buffer = nullptr;
  const char* split_call = "";  // the function that ends it
  const char* method = "";      // how the last collective access went, for get_info

  bool reads() const { return Reads(amode); }
  bool writes() const { return Writes(amode); }
};

// Returns null if the handle is no open file.
inline File* FindFile(MPI_File handle) { return core::FromHandle<File>(handle); }
inline void Retain(File* file) { ++file->references; }
void Release(File* file);

struct Opening {
  const char* name = "";
  int amode = 0;
  const core::Info* info = nullptr;  // may be null
};
// Opens the file on all ranks of `comm`, which is an intracommunicator, or on none.
Failure OpenTogether(core::Comm* comm, const Opening& opening, Failure mine, File** file);
// The file is closed in any case, and its handle is gone. Waits for what is under way.
Failure CloseTogether(File* file);
// Deletes a file by its name; local.
Failure Delete(const char* name);

Failure SizeOf(File* file, std::int64_t* bytes);
Failure ResizeTogether(File* file, std::int64_t bytes);
Failure ReserveTogether(File* file, std::int64_t bytes);
void ListInfo(const File& file, core::Info* info);

// `displacement` may be MPI_DISPLACEMENT_CURRENT.
struct ViewRequest {
  MPI_Offset displacement;
  datatype::Datatype* etype;
  datatype::Datatype* filetype;
  const char* datarep;
  const core::Info* info;
};
Failure SetViewTogether(File* file, const ViewRequest& request, Failure mine);

Failure SetAtomicityTogether(File* file, bool atomic);
// Waits for nobody, though it is collective.
Failure Sync(File* file);

// `offset` counts etypes.
Failure Seek(File* file, MPI_Offset offset, int whence);
Failure SeekSharedTogether(File* file, MPI_Offset offset, int whence);
Failure PositionOf(const File& file, MPI_Offset* offset);
Failure PositionOfShared(File* file, MPI_Offset* offset);
// Finds where in the file the etype at `offset` of the view is.
Failure ByteOffset(const File& file, MPI_Offset offset, MPI_Offset* bytes);

}  // namespace lamina::io
