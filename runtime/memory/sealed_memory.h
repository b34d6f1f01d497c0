// SPDX-License-Identifier: BSD-3-Clause
// Memory that several processes of one user share: a memfd whose size is sealed.
//
// It has no name in any file system, so nothing is left behind when its users end, however they
// end. Others open it as /proc/PID/fd/FD for as long as its maker lives and holds the descriptor.
// Because the size is sealed, nobody can make another process fault by shrinking it. A page exists
// once it is touched.
//
// The memory that the launcher makes for its ranks (runtime/base: roster.h, event_ring.h) is not
// made here, because the launcher shares nothing with the library but runtime/base.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/base/descriptor.h"
#include "runtime/base/status.h"

namespace lamina::memory {

inline constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t WholePages(std::size_t bytes) {
  return (bytes + kPageBytes - 1) & ~(kPageBytes - 1);
}

// Where other processes find sealed memory. The inode tells it from whatever its maker, or another
// process of the same number, opened later under the same descriptor.
struct SealedName {
  std::int32_t pid = 0;
  std::int32_t descriptor = -1;
  std::uint64_t inode = 0;
};

// "/proc/PID/fd/FD".
std::string DescriptorPath(std::int32_t pid, std::int32_t descriptor);

// `label` is what /proc shows for it. kResource names what ran out and how much was asked for;
// kUnsupported means that this kernel has no sealed memory.
Result<Descriptor> MakeSealed(const char* label, std::size_t bytes);
Result<SealedName> NameOf(const Descriptor& own);

// kPeerLost: the maker is gone, or has closed it. kInvalid: it does not have `bytes` bytes.
// kResource: this process ran out of descriptors or memory. kUnsupported: it is not permitted.
Result<Descriptor> OpenSealed(const SealedName& name, std::size_t bytes);

// Maps `bytes` bytes from `offset` on for reading and writing. munmap() ends it.
Result<std::byte*> MapShared(const Descriptor& descriptor, std::size_t offset, std::size_t bytes);

// Faults the pages in now, so that memory running out is an error now and no signal later.
Status Populate(std::byte* address, std::size_t bytes);

// A random number that is not 0, by which sealed memory proves that it is the right one.
Result<std::uint64_t> RandomToken();

// True if the maker still lives and holds the memory. Takes one system call.
bool IsHeld(const SealedName& name);
// True if the process runs; one that has ended does not, even if nobody has waited for it yet.
bool IsRunning(std::int32_t pid);

}  // namespace lamina::memory
