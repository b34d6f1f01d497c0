// SPDX-License-Identifier: BSD-3-Clause
// A file that is open in this process, as the operating system has it. Nothing here knows MPI.
//
// Calls block, go on after interrupts and after moving fewer bytes than asked, and answer with a
// value of errno, or 0.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace lamina::io {

// This is how far a call came. A read that ends early without an error has met the end of the file.
struct Moved {
  std::int64_t bytes = 0;
  int error_number = 0;
};

class OpenFile {
 public:
  virtual ~OpenFile() = default;
  virtual Moved ReadAt(std::int64_t offset, std::span<std::byte> into) = 0;
  virtual Moved WriteAt(std::int64_t offset, std::span<const std::byte> from) = 0;
  virtual int Size(std::int64_t* bytes) = 0;
  virtual int Resize(std::int64_t bytes) = 0;
  // Sees to it that the first `bytes` bytes have room. It neither shortens the file nor changes
  // data.
  virtual int Reserve(std::int64_t bytes) = 0;
  // Brings what was written to the device.
  virtual int Sync() = 0;
  // Forgets what this node has cached of the file, so that it sees what other nodes have brought to
  // the server. No lock is held, and nothing is under way.
  virtual int Refresh() = 0;
  // Locks `bytes` bytes from `offset` on against other openings of the file, and waits for them.
  virtual int Lock(std::int64_t offset, std::int64_t bytes, bool exclusive) = 0;
  virtual int Unlock(std::int64_t offset, std::int64_t bytes) = 0;
  // Finds whether another opening of the file has a lock there.
  virtual int IsLocked(std::int64_t offset, std::int64_t bytes, bool* locked) = 0;
  // Closes it and says what the system says then. The destructor closes it silently.
  virtual int Close() = 0;
};

// What identifies a file on this node.
struct Identity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool seekable = true;
  std::uint64_t file_system = 0;  // what statfs(2) calls its type
};

// Opens a file of the operating system with these flags of open(2). Returns a value of errno.
int OpenSystemFile(const std::string& path, int flags, unsigned permissions,
                   std::unique_ptr<OpenFile>* file, Identity* identity);

}  // namespace lamina::io
