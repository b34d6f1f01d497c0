// SPDX-License-Identifier: BSD-3-Clause
// Two groups agree: their leaders swap what they have, then each tells its own group.
//
// Threads: the caller holds the library lock at MPI_THREAD_MULTIPLE.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "runtime/agreement/channel.h"
#include "runtime/base/ids.h"
#include "runtime/core/comm.h"

namespace lamina::agreement {

// The way from this group to the other.
struct Bridge {
  Channel inside;  // of this group
  Circle circle;   // its members
  int leader;      // in `circle`
  // Significant at the leader: the channel in which the other leader is `remote_leader`.
  std::optional<Channel> across;
  Rank remote_leader = MPI_PROC_NULL;
};
// Between the groups of an intercommunicator.
Bridge BridgeOf(core::Comm* inter);

struct Agreed {
  ContextId context{};        // one for both groups
  ContextId local_context{};  // one for this group alone
  bool is_first = false;      // of two groups that nothing else puts in order
  std::vector<std::byte> theirs;
};

// `mine` is significant at the leader, and `theirs` what the other leader had. Returns an MPI error
// class, the same in all of the group.
int AgreeAcross(const Bridge& bridge, std::span<const std::byte> mine, Agreed* agreed);

// Values of a plain type as bytes and back.
template <class T>
std::span<const std::byte> AsBytes(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}
template <class T>
std::vector<T> FromBytes(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::copy_n(bytes.begin(), values.size() * sizeof(T),
              std::as_writable_bytes(std::span(values)).begin());
  return values;
}

}  // namespace lamina::agreement
