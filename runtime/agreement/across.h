// SPDX-License-Identifier: BSD-3-Clause
// Two groups agree here: their leaders swap what they have, then each tells its own group.
//
// Threads: The caller holds the library lock at MPI_THREAD_MULTIPLE.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "runtime/agreement/channel.h"
#include "runtime/base/ids.h"
#include "runtime/core/comm.h"

namespace lamina::agreement {

// A bridge is the way from this group to the other.
struct Bridge {
  Channel inside;  // of this group
  Members members;
  int leader;  // in `members`
  // This matters at the leader only: the channel in which the other leader is `remote_leader`.
  std::optional<Channel> across;
  Rank remote_leader = MPI_PROC_NULL;
};
// Makes a bridge between the groups of an intercommunicator.
Bridge BridgeOf(core::Comm* inter);

struct Agreed {
  ContextId context{};        // one for both groups
  ContextId local_context{};  // one for this group alone
  bool is_first = false;      // of two groups that nothing else puts in order
  std::vector<std::byte> theirs;
};

// Agrees with the other group. `mine` matters at the leader only, and `theirs` becomes what the
// other leader had. Returns an MPI error class, the same in all of the group.
int AgreeAcross(const Bridge& bridge, std::span<const std::byte> mine, Agreed* agreed);

// These turn values of a plain type into bytes and back.
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
