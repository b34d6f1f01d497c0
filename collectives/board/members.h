// SPDX-License-Identifier: BSD-3-Clause
// The ranks of a communicator that are on this node: the members of a board.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "collectives/hierarchy.h"

namespace lamina::collective::board {

class Members {
 public:
  // `nodes`: the ranks of the communicator by node, of which `rank` is one.
  Members(const Partition& nodes, Rank rank)
      : own_(nodes.IndexOf(rank)), largest_(nodes.largest()), across_(nodes.groups() > 1) {
    const Rank node = nodes.GroupOf(rank);
    for (Rank index = 0; index < nodes.SizeOf(node); ++index)
      ranks_.push_back(nodes.Member(node, index));
  }

  Rank size() const { return static_cast<Rank>(ranks_.size()); }
  Rank own() const { return own_; }          // this process among the members
  Rank largest() const { return largest_; }  // the number of members on the fullest node
  bool across() const { return across_; }    // there are ranks on other nodes
  // The rank in the communicator of a member, and the member of a rank that is one.
  Rank RankOf(Rank member) const { return ranks_[static_cast<std::size_t>(member)]; }
  std::span<const Rank> ranks() const { return ranks_; }
  Rank MemberOf(Rank rank) const {
    return static_cast<Rank>(std::lower_bound(ranks_.begin(), ranks_.end(), rank) - ranks_.begin());
  }

 private:
  Rank own_;
  Rank largest_;
  bool across_;
  std::vector<Rank> ranks_;  // ascending
};

}  // namespace lamina::collective::board
