// SPDX-License-Identifier: BSD-3-Clause
// Memory of other processes, reached by a device without their processors.
//
// A process exposes memory and gets a key, which goes to others by whatever way. Whoever has the
// key can open the memory and move data there and back. There is no order among these moves.
//
// Ownership:  what was exposed and opened ends before the transport.
// Threads:    like the transport's.
// Allocation: Expose() and Open(), and inside the device's own library.
// Progress:   Transport::Progress() drives it. A device that only seems to be one, as over TCP,
//             moves data while the owner of the memory progresses as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/status.h"

namespace lamina::transport {

struct Completion;

// Memory of this process that peers reach for as long as this lives.
class Exposed {
 public:
  virtual ~Exposed() = default;
  virtual std::span<const std::byte> key() const = 0;
};

// Memory of a peer. It ends when all that was begun through it is over.
class Remote {
 public:
  virtual ~Remote() = default;
  virtual std::uint64_t bytes() const = 0;
  // Copies `from` to `offset`. `done`: `from` may be changed again; it may run inside the call.
  // kAgain: not accepted. kInvalid: not within the memory. kPeerLost.
  virtual Code Put(std::uint64_t offset, std::span<const std::byte> from, Completion* done) = 0;
  // Fills `into` from `offset`. `done`: it is filled. Otherwise like Put.
  virtual Code Get(std::uint64_t offset, std::span<std::byte> into, Completion* done) = 0;
  // `done`: every earlier Put is in the peer's memory.
  virtual Code Flush(Completion* done) = 0;
};

class OneSided {
 public:
  virtual ~OneSided() = default;
  // Registers memory, which may take long. kUnsupported: the device cannot reach it.
  virtual Result<std::unique_ptr<Exposed>> Expose(std::span<std::byte> memory) = 0;
  // kInvalid: that is no key of a device like this one. kUnsupported: there is no way to the peer.
  // Not from inside Transport::Progress().
  virtual Result<std::unique_ptr<Remote>> Open(std::span<const std::byte> key) = 0;
};

}  // namespace lamina::transport
