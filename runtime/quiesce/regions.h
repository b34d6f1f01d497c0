// SPDX-License-Identifier: BSD-3-Clause
// The memory that a program wants saved, and the file that it is saved in.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "runtime/base/status.h"

namespace lamina::quiesce {

class Regions {
 public:
  // Replaces what `id` stood for before; no bytes: it is saved no longer.
  void Protect(int id, void* address, std::size_t bytes);

  // Writes all regions into a new file in the directory `folder`. Nothing is written through to the
  // disk. kResource: the disk is full; kExists: the file is there already.
  Status Save(int folder) const;

  // Fills every region from the file in the directory `folder`. kInvalid: the file does not have
  // one of them, has it with another length, or is no such file; then nothing has been changed. A
  // disk that fails while regions are filled leaves them in pieces.
  Status Restore(int folder) const;

 private:
  struct Region {
    void* address = nullptr;
    std::size_t bytes = 0;
  };
  std::map<int, Region> regions_;
};

}  // namespace lamina::quiesce
