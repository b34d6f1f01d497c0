// SPDX-License-Identifier: BSD-3-Clause
// Memory that several processes share: a part of the memory that the launcher made for the node, or
// else a file without a name whose size is sealed.
//
// Nothing is left behind when its users end, however they end. Whoever has the node's memory needs
// no right to open a part of it. Anything else is opened as /proc/PID/fd/FD, which takes the right
// to trace the process, for as long as its maker lives and holds the descriptor. Where memfds are
// allowed the size is sealed, so nobody can make another process fault by shrinking it. A page
// exists once it is touched.
//
// The launcher makes the node's memory in runtime/base (node_memory.h), because that is all that it
// shares with the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "runtime/base/descriptor.h"
#include "runtime/base/node_memory.h"
#include "runtime/base/status.h"

namespace lamina::memory {

inline constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t WholePages(std::size_t bytes) {
  return (bytes + kPageBytes - 1) & ~(kPageBytes - 1);
}

// Where other processes find sealed memory. The inode tells it from whatever its maker, or another
// process of the same number, opened later under the same descriptor.
struct SealedName {
  std::int32_t pid = 0;  // 0: that process has no number here, so only the node's memory can be had
  std::int32_t descriptor = -1;
  std::uint64_t inode = 0;
  std::uint64_t offset = 0;  // where the memory begins in the file
};

// Sealed memory as one process has it. It is not mapped yet.
class Sealed {
 public:
  Sealed(Descriptor own, std::uint64_t offset) : own_(std::move(own)), offset_(offset) {}
  // `node` must outlive it.
  Sealed(NodeMemory* node, std::uint64_t offset) : node_(node), offset_(offset) {}

  // Maps `bytes` bytes from `offset` on for reading and writing. munmap() ends it.
  Result<std::byte*> Map(std::size_t offset, std::size_t bytes) const;
  // Gives whole pages back to the kernel; they read as zeros afterwards. False: it did not.
  bool Erase(std::size_t offset, std::size_t bytes) const;
  // The descriptor that leads to it.
  int descriptor() const { return node_ != nullptr ? node_->descriptor() : own_.value(); }
  // True if it is a part of the node's memory, which outlives its users.
  bool in_node_memory() const { return node_ != nullptr; }

 private:
  Descriptor own_;
  NodeMemory* node_ = nullptr;
  std::uint64_t offset_ = 0;
};

// New sealed memory, with what others need to find it and to know that it is the right one.
struct MadeSealed {
  Sealed memory;
  SealedName name;
  std::uint64_t token;  // random and not 0; the maker puts it into the memory
};

// "/proc/PID/fd/FD".
std::string DescriptorPath(std::int32_t pid, std::int32_t descriptor);

// `node` may be null. `label` is what /proc shows for memory of its own. kResource names what ran
// out and how much was asked for.
Result<MadeSealed> MakeSealed(const char* label, std::size_t bytes, NodeMemory* node);

// kPeerLost: the maker is gone, or has closed it. kInvalid: it does not have `bytes` bytes.
// kResource: this process ran out of descriptors or memory. kUnsupported: it is not permitted.
Result<Sealed> OpenSealed(const SealedName& name, std::size_t bytes, NodeMemory* node);

// Faults the pages in now, so that memory running out is an error now and no signal later.
Status Populate(std::byte* address, std::size_t bytes);

// What can be said about the maker of sealed memory. Takes one system call.
enum class Maker : std::uint8_t {
  kHolds,    // it lives and holds the memory, and its descriptors can be opened from here
  kHidden,   // its descriptors cannot be seen from here
  kHasGone,  // it has ended, or has closed the memory
};
Maker AskAfter(const SealedName& name);
// True if the process runs; one that has ended does not, even if nobody has waited for it yet.
bool IsRunning(std::int32_t pid);

}  // namespace lamina::memory
