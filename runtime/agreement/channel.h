// SPDX-License-Identifier: BSD-3-Clause
// A channel carries messages of any length that belong to one agreement, and tells something along
// a tree.
//
// Within a communicator the tag keeps agreements apart. Where there is none, core::everybody
// carries the messages, the tag is made from a text, and the whole text travels along, so that two
// texts with the same tag are not mistaken for one another.
//
// Threads: The caller holds the library lock at MPI_THREAD_MULTIPLE.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/core/comm.h"

namespace lamina::agreement {

class Channel {
 public:
  // Makes a channel in `context`, a plane of `comm`.
  Channel(core::Comm* comm, ContextId context, int tag)
      : comm_(comm), context_(context), tag_(tag) {}
  // Makes a channel in core::everybody, where ranks are PeerIds.
  explicit Channel(std::string key);

  // These block and return an MPI error class.
  int Send(Rank to, std::span<const std::byte> bytes) const;
  int Receive(Rank from, std::vector<std::byte>* bytes) const;
  // Sends and receives at once.
  int Swap(Rank with, std::span<const std::byte> mine, std::vector<std::byte>* theirs) const;

 private:
  std::vector<std::byte> Sealed(std::span<const std::byte> bytes) const;

  core::Comm* const comm_;
  const ContextId context_;
  const int tag_;
  const std::string key_;  // empty: messages are not sealed
};

// These are processes numbered from 0, and how the channel calls them; `self` is this one.
struct Members {
  int count;
  int self;
  std::function<Rank(int)> rank_of;
};
// Return all members of an intracommunicator, or of a group as ranks of everybody or of a
// communicator.
Members Everyone(const core::Comm& comm);
Members MembersOf(const core::Group& group);
Members MembersOf(const core::Group& group, const core::Comm& parent);

// Gives everybody the bytes of `root`, along a binomial tree. If `root` has none, or a member on
// the way is lost, those who do not hear get an error. Cost: ceil(log2 P) messages in a row.
int Spread(const Channel& channel, const Members& members, int root, std::vector<std::byte>* bytes);

// Agrees on a context that no member uses; the first member makes it.
int AgreeContext(const Channel& channel, const Members& members, ContextId* context);

// Returns a text for Channel that is about `group` and nothing else with the same `tag`.
std::string KeyOf(std::string_view tag, const core::Group& group);

}  // namespace lamina::agreement
