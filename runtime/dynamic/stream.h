// SPDX-License-Identifier: BSD-3-Clause
// A socket between the roots of two groups that do not know each other yet.
//
// The host of the connection sends a greeting, and the guest proves by its answer that it knows the
// secret. Then frames go both ways. README.md has the bytes.
//
// Threads: the caller holds the library lock at MPI_THREAD_MULTIPLE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/descriptor.h"
#include "runtime/base/seal.h"
#include "runtime/base/status.h"
#include "runtime/dynamic/frame.h"

namespace lamina::dynamic {

class Stream {
 public:
  Stream(Descriptor socket, const Key& key, bool is_host)
      : socket_(std::move(socket)), key_(key), is_host_(is_host) {}

  // Sends and receives one frame at once; both ends call it equally often. kPeerLost: the other end
  // has gone. kInvalid: what came was not sealed by somebody who knows the secret.
  Result<std::vector<std::byte>> Swap(std::span<const std::byte> mine, std::uint64_t until_ms);
  // Gives the socket back to a caller who lent it.
  void GiveBack() { static_cast<void>(socket_.Release()); }

 private:
  Descriptor socket_;
  Key key_;
  bool is_host_;
  std::uint64_t frames_ = 0;  // swapped so far
};

// Meets a Lamina process at the other end of the application's own socket. kInvalid: it is no
// stream; kUnsupported: what speaks there is no Lamina, and what it said is still to be read.
Result<Stream> StreamOver(int socket, std::uint64_t until_ms);

}  // namespace lamina::dynamic
