// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/hierarchy.h"

#include <algorithm>
#include <utility>

namespace lamina::collective {

Partition Partition::Blocks(Rank ranks, Rank each) {
  Partition blocks;
  blocks.ranks_ = ranks;
  blocks.each_ = each;
  blocks.groups_ = (ranks + each - 1) / each;
  blocks.largest_ = std::min(ranks, each);
  return blocks;
}

const Partition::Run& Partition::RunOf(Rank rank) const {
  const auto behind = std::upper_bound(runs_.begin(), runs_.end(), rank,
                                       [](Rank r, const Run& run) { return r < run.first; });
  return *(behind - 1);
}

Rank Partition::RunEnd(const Run& run) const {
  const Run& same = RunOf(run.first);
  return &same + 1 == runs_.data() + runs_.size() ? ranks_ : (&same + 1)->first;
}

Rank Partition::GroupOf(Rank rank) const { return each_ > 0 ? rank / each_ : RunOf(rank).group; }

Rank Partition::IndexOf(Rank rank) const {
  if (each_ > 0) return rank % each_;
  const Run& run = RunOf(rank);
  return run.index + rank - run.first;
}

Rank Partition::SizeOf(Rank group) const {
  if (each_ > 0) return std::min(each_, ranks_ - group * each_);
  const auto at = static_cast<std::size_t>(group);
  const Run& last = in_order() ? runs_[at] : members_[group_begins_[at + 1] - 1];
  return last.index + RunEnd(last) - last.first;
}

Rank Partition::Member(Rank group, Rank index) const {
  if (each_ > 0) return group * each_ + index;
  const auto at = static_cast<std::size_t>(group);
  if (in_order()) return runs_[at].first + index;
  const auto behind = std::upper_bound(members_.begin() + group_begins_[at],
                                       members_.begin() + group_begins_[at + 1], index,
                                       [](Rank i, const Run& run) { return i < run.index; });
  const Run& run = *(behind - 1);
  return run.first + index - run.index;
}

void PartitionBuilder::Add(std::uint64_t group_name) {
  const Rank rank = ranks_++;
  if (!runs_.empty() && group_name == last_name_) {
    ++sizes_[static_cast<std::size_t>(runs_.back().group)];
    return;
  }
  last_name_ = group_name;
  const auto [number, is_new] = numbers_.try_emplace(group_name, static_cast<Rank>(sizes_.size()));
  if (is_new) sizes_.push_back(0);
  const Rank group = number->second;
  runs_.push_back({rank, group, sizes_[static_cast<std::size_t>(group)]++});
}

Partition PartitionBuilder::Finish() {
  Partition made;
  made.ranks_ = ranks_;
  made.groups_ = static_cast<Rank>(sizes_.size());
  made.largest_ = sizes_.empty() ? 0 : *std::max_element(sizes_.begin(), sizes_.end());
  const bool in_order = runs_.size() == sizes_.size();
  const Rank each = sizes_.empty() ? 0 : sizes_.front();
  if (in_order && each > 0 && sizes_.back() <= each &&
      std::all_of(sizes_.begin(), sizes_.end() - 1, [&](Rank size) { return size == each; })) {
    made.each_ = each;
    return made;
  }
  made.runs_ = std::move(runs_);
  if (in_order) return made;
  made.members_ = made.runs_;
  std::stable_sort(made.members_.begin(), made.members_.end(),
                   [](const auto& a, const auto& b) { return a.group < b.group; });
  for (std::uint32_t i = 0; i < made.members_.size(); ++i)
    if (made.members_[i].index == 0) made.group_begins_.push_back(i);
  made.group_begins_.push_back(static_cast<std::uint32_t>(made.members_.size()));
  return made;
}

void Hierarchy::Add(const char* name, Partition groups, const LinkModel& link) {
  if (groups.groups() < 2 || groups.largest() < 2) return;
  if (!levels.empty() && levels.back().groups.groups() == groups.groups()) return;
  levels.push_back({name, std::move(groups), link});
}

}  // namespace lamina::collective
