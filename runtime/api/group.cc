// SPDX-License-Identifier: BSD-3-Clause
// These are groups (MPI-5.0, section 7.3).
#include "runtime/core/group.h"

#include <algorithm>
#include <utility>

#include "runtime/api/arguments.h"

using lamina::Call;
using lamina::PeerId;
using lamina::Rank;
using lamina::api::Entry;
using lamina::core::FindGroup;
using lamina::core::Group;

namespace {

// Returns the handle of a new group, which is MPI_GROUP_EMPTY if it has no members. It belongs to
// the session of the (first) group it was made from.
MPI_Group Give(std::vector<PeerId> peers, const Group* from) {
  if (peers.empty()) return MPI_GROUP_EMPTY;
  return lamina::core::HandleOf(
      lamina::core::MakeGroup(std::move(peers), lamina::core::process->self, from->session));
}

// This knows where the members of a group stand, for set operations in O(n log n).
class Ranks {
 public:
  explicit Ranks(const Group& group) {
    sorted_.reserve(group.peers.size());
    for (Rank rank = 0; rank < group.size(); ++rank) sorted_.emplace_back(group.peers[rank], rank);
    std::sort(sorted_.begin(), sorted_.end());
  }
  // Returns MPI_UNDEFINED if `peer` is no member.
  Rank Of(PeerId peer) const {
    const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair(peer, Rank{0}));
    return found != sorted_.end() && found->first == peer ? found->second : MPI_UNDEFINED;
  }
  bool Has(PeerId peer) const { return Of(peer) != MPI_UNDEFINED; }

 private:
  std::vector<std::pair<PeerId, Rank>> sorted_;
};

// Marks `rank` as chosen. Returns false if it is out of range or chosen already.
bool Choose(std::vector<bool>* chosen, std::int64_t rank) {
  if (rank < 0 || rank >= static_cast<std::int64_t>(chosen->size()) || (*chosen)[rank])
    return false;
  (*chosen)[rank] = true;
  return true;
}

// Lists the ranks of (first, last, stride) triplets in order; an error names the triplet.
int Expand(const Entry& entry, const Group& group, int n, int (*ranges)[3],
           std::vector<Rank>* ranks) {
  REQUIRE(n >= 0, nullptr, MPI_ERR_ARG, "n is %d, must not be negative", n);
  REQUIRE(n == 0 || ranges != nullptr, nullptr, MPI_ERR_ARG, "ranges is a null pointer");
  std::vector<bool> chosen(group.peers.size());
  for (int i = 0; i < n; ++i) {
    const auto [first, last, stride] = std::tuple(ranges[i][0], ranges[i][1], ranges[i][2]);
    REQUIRE(stride != 0, nullptr, MPI_ERR_ARG, "ranges[%d] has stride 0", i);
    REQUIRE(stride > 0 ? first <= last : first >= last, nullptr, MPI_ERR_ARG,
            "ranges[%d] never reaches %d from %d with stride %d", i, last, first, stride);
    for (std::int64_t rank = first; stride > 0 ? rank <= last : rank >= last; rank += stride) {
      REQUIRE(Choose(&chosen, rank), nullptr, MPI_ERR_RANK,
              "ranges[%d] names rank %lld, which is outside 0..%d or named twice", i,
              static_cast<long long>(rank), group.size() - 1);
      ranks->push_back(static_cast<Rank>(rank));
    }
  }
  return MPI_SUCCESS;
}

// Lists the ranks of a list; an error names the one that is wrong.
int Expand(const Entry& entry, const Group& group, int n, const int* list,
           std::vector<Rank>* ranks) {
  REQUIRE(n >= 0 && n <= group.size(), nullptr, MPI_ERR_ARG, "n is %d, must be 0..%d", n,
          group.size());
  REQUIRE(n == 0 || list != nullptr, nullptr, MPI_ERR_ARG, "ranks is a null pointer");
  std::vector<bool> chosen(group.peers.size());
  for (int i = 0; i < n; ++i)
    REQUIRE(Choose(&chosen, list[i]), nullptr, MPI_ERR_RANK,
            "ranks[%d] is %d, which is outside 0..%d or named twice", i, list[i], group.size() - 1);
  ranks->assign(list, list + n);
  return MPI_SUCCESS;
}

std::vector<PeerId> Only(const Group& group, const std::vector<Rank>& ranks) {
  std::vector<PeerId> peers;
  peers.reserve(ranks.size());
  for (Rank rank : ranks) peers.push_back(group.peers[rank]);
  return peers;
}

std::vector<PeerId> Without(const Group& group, const std::vector<Rank>& ranks) {
  std::vector<bool> dropped(group.peers.size());
  for (Rank rank : ranks) dropped[rank] = true;
  std::vector<PeerId> peers;
  for (Rank rank = 0; rank < group.size(); ++rank)
    if (!dropped[rank]) peers.push_back(group.peers[rank]);
  return peers;
}

// Makes the group that `pick` makes of the ranks named by a list or by ranges.
template <class Pick, class List>
int Select(Call call, MPI_Group group, int n, List list, MPI_Group* newgroup, Pick pick) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  const Group* found = FindGroup(group);
  if (found == nullptr) return BadGroup(entry, group);
  REQUIRE_POINTER(nullptr, newgroup);
  std::vector<Rank> ranks;
  if (const int error = Expand(entry, *found, n, list, &ranks); error != MPI_SUCCESS) return error;
  *newgroup = Give(pick(*found, ranks), found);
  return MPI_SUCCESS;
}

// Returns those of `from` that are members of `other`, or those that are not.
std::vector<PeerId> Members(const Group& from, const Group& other, bool of_other) {
  const Ranks present(other);
  std::vector<PeerId> peers;
  for (PeerId peer : from.peers)
    if (present.Has(peer) == of_other) peers.push_back(peer);
  return peers;
}

// Makes the group that `combine` makes of two.
template <class Combine>
int Join(Call call, MPI_Group group1, MPI_Group group2, MPI_Group* newgroup, Combine combine) {
  Entry entry(call);
  REQUIRE_INITIALIZED(entry);
  const Group* one = FindGroup(group1);
  if (one == nullptr) return BadGroup(entry, group1);
  const Group* two = FindGroup(group2);
  if (two == nullptr) return BadGroup(entry, group2);
  REQUIRE_POINTER(nullptr, newgroup);
  *newgroup = Give(combine(*one, *two), one);
  return MPI_SUCCESS;
}

}  // namespace

int PMPI_Group_size(MPI_Group group, int* size) {
  Entry entry(Call::MPI_Group_size);
  REQUIRE_INITIALIZED(entry);
  const Group* found = FindGroup(group);
  if (found == nullptr) return BadGroup(entry, group);
  REQUIRE_POINTER(nullptr, size);
  *size = found->size();
  return MPI_SUCCESS;
}
PROFILED(MPI_Group_size);

int PMPI_Group_rank(MPI_Group group, int* rank) {
  Entry entry(Call::MPI_Group_rank);
  REQUIRE_INITIALIZED(entry);
  const Group* found = FindGroup(group);
  if (found == nullptr) return BadGroup(entry, group);
  REQUIRE_POINTER(nullptr, rank);
  *rank = found->self;
  return MPI_SUCCESS;
}
PROFILED(MPI_Group_rank);

int PMPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2,
                               int ranks2[]) {
  Entry entry(Call::MPI_Group_translate_ranks);
  REQUIRE_INITIALIZED(entry);
  const Group* from = FindGroup(group1);
  if (from == nullptr) return BadGroup(entry, group1);
  const Group* to = FindGroup(group2);
  if (to == nullptr) return BadGroup(entry, group2);
  REQUIRE(n >= 0, nullptr, MPI_ERR_ARG, "n is %d, must not be negative", n);
  REQUIRE(n == 0 || ranks1 != nullptr, nullptr, MPI_ERR_ARG, "ranks1 is a null pointer");
  REQUIRE(n == 0 || ranks2 != nullptr, nullptr, MPI_ERR_ARG, "ranks2 is a null pointer");
  const Ranks index(*to);
  for (int i = 0; i < n; ++i) {
    const int rank = ranks1[i];
    REQUIRE(rank == MPI_PROC_NULL || (rank >= 0 && rank < from->size()), nullptr, MPI_ERR_RANK,
            "ranks1[%d] is %d, must be 0..%d or MPI_PROC_NULL", i, rank, from->size() - 1);
    ranks2[i] = rank == MPI_PROC_NULL ? MPI_PROC_NULL : index.Of(from->peers[rank]);
  }
  return MPI_SUCCESS;
}
PROFILED(MPI_Group_translate_ranks);

int PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int* result) {
  Entry entry(Call::MPI_Group_compare);
  REQUIRE_INITIALIZED(entry);
  const Group* one = FindGroup(group1);
  if (one == nullptr) return BadGroup(entry, group1);
  const Group* two = FindGroup(group2);
  if (two == nullptr) return BadGroup(entry, group2);
  REQUIRE_POINTER(nullptr, result);
  if (one->peers == two->peers) {
    *result = MPI_IDENT;
    return MPI_SUCCESS;
  }
  std::vector<PeerId> first = one->peers;
  std::vector<PeerId> second = two->peers;
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  *result = first == second ? MPI_SIMILAR : MPI_UNEQUAL;
  return MPI_SUCCESS;
}
PROFILED(MPI_Group_compare);

int PMPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  return Join(Call::MPI_Group_union, group1, group2, newgroup,
              [](const Group& one, const Group& two) {
                std::vector<PeerId> peers = one.peers;
                const std::vector<PeerId> added = Members(two, one, false);
                peers.insert(peers.end(), added.begin(), added.end());
                return peers;
              });
}
PROFILED(MPI_Group_union);

int PMPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  return Join(Call::MPI_Group_intersection, group1, group2, newgroup,
              [](const Group& one, const Group& two) { return Members(one, two, true); });
}
PROFILED(MPI_Group_intersection);

int PMPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  return Join(Call::MPI_Group_difference, group1, group2, newgroup,
              [](const Group& one, const Group& two) { return Members(one, two, false); });
}
PROFILED(MPI_Group_difference);

int PMPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
  return Select(Call::MPI_Group_incl, group, n, ranks, newgroup, Only);
}
PROFILED(MPI_Group_incl);

int PMPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
  return Select(Call::MPI_Group_excl, group, n, ranks, newgroup, Without);
}
PROFILED(MPI_Group_excl);

int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
  return Select(Call::MPI_Group_range_incl, group, n, ranges, newgroup, Only);
}
PROFILED(MPI_Group_range_incl);

int PMPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
  return Select(Call::MPI_Group_range_excl, group, n, ranges, newgroup, Without);
}
PROFILED(MPI_Group_range_excl);

int PMPI_Group_free(MPI_Group* group) {
  Entry entry(Call::MPI_Group_free);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, group);
  Group* found = FindGroup(*group);
  if (found == nullptr) return BadGroup(entry, *group);
  Release(found);
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}
PROFILED(MPI_Group_free);
