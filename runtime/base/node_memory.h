// SPDX-License-Identifier: BSD-3-Clause
// The memory that the ranks of one node share because their launcher made it for them.
//
// A process may open another's memory (/proc/PID/fd) only if it could trace that process, which
// user namespaces, capabilities, a change of user and unreadable programs forbid. So the launcher
// makes one file, which all ranks of the node inherit, and ranks put what others are to reach into
// parts of it. The file has no bytes but those that were touched, so a part is never used twice,
// and reads as zeros at first.
//
// Ownership: The launcher closes its descriptor; NodeMemory closes the rank's.
// Threads:   Any process may take a part at any time; one thread of each at a time.
// Layout:    The head is pinned by node_memory_test.cc, because processes share it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace lamina {

// Ranks find it by this variable: the process id of its maker, a colon, and the number of the
// descriptor there, which they have inherited under the same number.
inline constexpr char kNodeMemoryVariable[] = "LAMINA_NODE_MEMORY";

struct NodeMemoryHead {
  static constexpr std::uint64_t kMagic = 0x31656d65'646f6e6cull;  // "lnodeme1"
  static constexpr std::size_t kBytes = 4096;

  std::uint64_t magic;
  std::atomic<std::uint64_t> taken;  // bytes from the start that have been given out
  char job[256];                     // terminated, as is
};
static_assert(sizeof(NodeMemoryHead) <= NodeMemoryHead::kBytes);

// Makes the memory of a job, whose descriptor the caller closes.
Result<int> MakeNodeMemory(std::string_view job);
// Returns what ranks are told: "LAMINA_NODE_MEMORY=...".
std::string NodeMemoryAssignment(int fd);

class NodeMemory {
 public:
  // Opens the memory of `job` that `place`, the variable's value, leads to. The inherited
  // descriptor stays open and is closed by exec from now on. kNotFound: there is none for this job.
  static Result<std::unique_ptr<NodeMemory>> Open(std::string_view place, std::string_view job);
  ~NodeMemory();
  NodeMemory(const NodeMemory&) = delete;
  NodeMemory& operator=(const NodeMemory&) = delete;

  // Returns where a new part of `bytes` bytes, whole pages, begins. kResource: it is used up.
  Result<std::uint64_t> Take(std::size_t bytes);
  // Gives pages back to the kernel; they read as zeros afterwards. False: it did not.
  bool Erase(std::uint64_t offset, std::size_t bytes);
  // Maps a part for reading and writing. munmap() ends it.
  Result<std::byte*> Map(std::uint64_t offset, std::size_t bytes);

  // How other processes may find it: the number of the descriptor here, and the file's inode.
  int descriptor() const { return fd_; }
  std::uint64_t inode() const { return inode_; }

 private:
  NodeMemory(std::string_view place, int fd, std::uint64_t inode, std::uint64_t bytes,
             NodeMemoryHead* head)
      : place_(place), fd_(fd), inode_(inode), bytes_(bytes), head_(head) {}
  bool IsOpen() const;
  Status Reopen();

  const std::string place_;
  int fd_;
  const std::uint64_t inode_;
  const std::uint64_t bytes_;
  NodeMemoryHead* const head_;
};

}  // namespace lamina
