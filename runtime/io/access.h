// SPDX-License-Identifier: BSD-3-Clause
// One access by one process, from the first byte to the last: whole runs, pieces, or, for many
// short pieces close together, windows that are read at once. What is read is handed out; what
// is written is patched into the window, which is written back under a lock.
//
// Threads: any. There are system calls and memory here, and nothing of MPI.
// Memory:  a chunk of memory where the user's data is not contiguous, and a window where pieces are
//          read together.
#pragma once

#include "runtime/datatype/datatype.h"
#include "runtime/io/locks.h"
#include "runtime/io/open_file.h"
#include "runtime/io/tuning.h"
#include "runtime/io/view.h"

namespace lamina::io {

struct Access {
  OpenFile* body = nullptr;
  const View* view = nullptr;
  bool writes = false;
  RangeLocks* locks = nullptr;  // null if nobody needs any
  bool atomic = false;          // the access locks all that it spans
  bool patches = false;         // it may write back what lies between its pieces
  bool sieves = true;           // it may read what lies between its pieces
  // Short pieces within windows of these sizes are read, or written back, at once.
  std::int64_t read_window_bytes = kReadWindowBytes;
  std::int64_t write_window_bytes = kWriteWindowBytes;
  std::int64_t position = 0;     // in data bytes of the view
  datatype::Buffer memory = {};  // data in the representation of the file
};

struct Outcome {
  std::int64_t bytes = 0;    // moved; a prefix of what was asked
  int error_number = 0;      // of the system call that failed
  const char* call = "";     // its name
  std::int64_t offset = 0;   // where it failed
  std::int64_t asked = 0;    // how many bytes it was to move
  std::int64_t patched = 0;  // windows that were read and written back
};

Outcome Carry(const Access& access);

}  // namespace lamina::io
