// SPDX-License-Identifier: BSD-3-Clause
// Messages of any length that belong to one agreement, and telling something along a tree.
//
// Within a communicator the tag keeps agreements apart. Where there is none, core::everybody
// carries the messages, the tag is made from a text, and the whole text travels along, so that two
// texts with the same tag are not mistaken for one another.
//
// Threads: the caller holds the library lock at MPI_THREAD_MULTIPLE.
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
  // In `context`, a plane of `comm`.
  Channel(core::Comm* comm, ContextId context, int tag)
      : comm_(comm), context_(context), tag_(tag) {}
  // In core::everybody; ranks are PeerIds.
  explicit Channel(std::string key);

  // Blocking. Return an MPI error class.
  int Send(Rank to, std::span<const std::byte> bytes) const;
  int Receive(Rank from, std::vector<std::byte>* bytes) const;
  // Both at once.
  int Swap(Rank with, std::span<const std::byte> mine, std::vector<std::byte>* theirs) const;

 private:
  std::vector<std::byte> Sealed(std::span<const std::byte> bytes) const;

  core::Comm* const comm_;
  const ContextId context_;
  const int tag_;
  const std::string key_;  // empty: messages are not sealed
};

// `members` processes numbered from 0 and how the channel calls them; this one is `self`.
struct Circle {
  int members;
  int self;
  std::function<Rank(int)> rank_of;
};
// All members of an intracommunicator, and of a group as ranks of everybody or of a communicator.
Circle Everyone(const core::Comm& comm);
Circle MembersOf(const core::Group& group);
Circle MembersOf(const core::Group& group, const core::Comm& parent);

// Gives everybody the bytes of `root`, along a binomial tree. Cost: ceil(log2 P) messages in a row.
int Spread(const Channel& channel, const Circle& circle, int root, std::vector<std::byte>* bytes);

// A context that no member uses; the first member makes it.
int AgreeContext(const Channel& channel, const Circle& circle, ContextId* context);

// A text that is about `group` and nothing else with the same `tag`, for Channel.
std::string KeyOf(std::string_view tag, const core::Group& group);

}  // namespace lamina::agreement
