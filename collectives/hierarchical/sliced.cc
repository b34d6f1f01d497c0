// SPDX-License-Identifier: BSD-3-Clause
// Allreduce of slices: the ranks of a group divide the vector among them, each folds its slice of
// all their vectors, the ranks with the same slice in other groups do an allreduce of it, and then
// every group allgathers its slices.
//
// No more bytes leave a group than with a leader, but all ranks of the group fold and send, and no
// rank holds another's whole vector. There are as many slices as the smallest group has ranks. If
// there are several levels, their groups must have one size and be ranges of ranks. Long data go in
// segments, so that a segment is still in the cache when it is folded.
//
// Shape:  input and output n elements on every rank; scratch for the inner algorithms of a segment.
// Cost:   s segments; in each, with k ranks in a group, a reduce_scatter of n / s, an allreduce of
//         n / (k s) across and an allgatherv of n / s. As many bytes cross as in an allreduce of n
//         among the groups.
// Source: Thakur, Rabenseifner, Gropp, Int. J. High Perform. Comput. Appl. 19 (2005) 49-66
//         (reduce-scatter and allgather), on the levels of a machine.
#include <algorithm>

#include "collectives/hierarchical/fold.h"
#include "collectives/hierarchical/hierarchical.h"
#include "collectives/hierarchical/segments.h"

namespace lamina::collective::hierarchical {
namespace {

// How many slices an innermost group makes, which is as many as the smallest group has ranks.
Rank SlicesOf(const Partition& groups) {
  Rank smallest = groups.largest();
  for (Rank group = 0; group < groups.groups(); ++group)
    smallest = std::min(smallest, groups.SizeOf(group));
  return smallest;
}

bool Fits(const Call& call, const Shape& shape) {
  if (!Foldable(call, shape)) return false;
  const std::vector<Level>& levels = shape.hierarchy->levels;
  return levels.size() == 1 ||
         (HasRanges(shape) && std::all_of(levels.begin(), levels.end(), [](const Level& level) {
            return SlicesOf(level.groups) == level.groups.largest();
          }));
}

// The link of stage `i`, in which all ranks take part. If they share CPUs, all of them do the work
// of messages and bytes at once, so each of these takes `crowd` times as long.
LinkModel LinkAmongAll(const Hierarchy& hierarchy, std::size_t i) {
  LinkModel link = hierarchy.Link(i);
  link.alpha_us *= link.crowd;
  link.overhead_us *= link.crowd;
  link.beta_us_per_byte *= std::max(link.crowd, link.sharers);
  link.gamma_us_per_byte *= link.crowd;
  link.sharers = 1;
  return link;
}

// Stage 0 has the ranks of an innermost group. Stage i has the ranks with this rank's place in the
// groups of level i - 1 within its group of level i, and the last stage has those of all outermost
// groups.
std::vector<Stage> StagesOf(const Shape& shape, Rank slices, std::int64_t segments) {
  const std::vector<Level>& levels = shape.hierarchy->levels;
  std::vector<Stage> stages;
  const auto add = [&](Rank members, const auto& rank_of) {
    Stage stage;
    if (segments == 1) {
      stage.link = LinkAmongAll(*shape.hierarchy, stages.size());
    } else {
      stage.link = shape.hierarchy->Link(stages.size());
      stage.link.sharers = 1;
      stage.link.crowd = 1;  // a rank that gets its turn finds all segments that have come
    }
    for (Rank member = 0; member < members; ++member) {
      const Rank rank = rank_of(member);
      if (rank == shape.rank) stage.own = member;
      stage.members.push_back({rank, rank, 1});
    }
    stages.push_back(std::move(stage));
  };
  const Partition& innermost = levels.front().groups;
  const Rank group = innermost.GroupOf(shape.rank);
  add(innermost.SizeOf(group), [&](Rank member) { return innermost.Member(group, member); });
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const Partition& groups = levels[i].groups;
    const Rank place = groups.IndexOf(shape.rank);
    if (place >= slices && i == 0) break;  // this rank has no slice to fold
    const Rank side_by_side =
        i + 1 < levels.size() ? levels[i + 1].groups.largest() / groups.largest() : groups.groups();
    const Rank first = groups.GroupOf(shape.rank) / side_by_side * side_by_side;
    add(side_by_side, [&](Rank member) { return groups.Member(first + member, place); });
  }
  return stages;
}

std::int64_t SegmentsOf(const Call& call, Rank slices) {
  const std::int64_t bytes = std::min(kSlicedBytesMax, slices * kSliceBytesMax);
  return (call.bytes + bytes - 1) / bytes;
}

double CostUs(const Call& call, const Shape& shape, const LinkModel&) {
  const std::vector<Level>& levels = shape.hierarchy->levels;
  const std::vector<Span> spans = Spans(shape);
  const Rank slices = SlicesOf(levels.front().groups);
  const std::int64_t segments = SegmentsOf(call, slices);
  std::int64_t slice = std::max<std::int64_t>(1, call.bytes / segments);
  StageTime one = Whole(0);
  const auto add = [&](Operation operation, std::size_t i) {
    one = one + CheapestTime(Inner(call, operation, slice), spans[i].ranks,
                             LinkAmongAll(*shape.hierarchy, i));
  };
  for (std::size_t i = 0; i < levels.size(); ++i) {
    add(Operation::kReduceScatter, i);
    add(Operation::kAllgatherv, i);
    slice = std::max<std::int64_t>(1, slice / (i == 0 ? slices : spans[i].ranks));
  }
  add(Operation::kAllreduce, levels.size());
  return one.all_us + static_cast<double>(segments - 1) * one.busy_us;
}

// The slices of one stage.
struct Shares {
  Shares(const Slice& range, const Stage& stage, Rank slices) {
    const Blocks blocks(range.count, slices);
    for (Rank member = 0; member < stage.size(); ++member) {
      counts.push_back(member < slices ? blocks.Count(member, member + 1) : 0);
      displacements.push_back(blocks.Begin(std::min(member, slices)));
    }
    own = range;
    own.first += displacements[static_cast<std::size_t>(stage.own)];
    own.count = counts[static_cast<std::size_t>(stage.own)];
  }
  std::vector<std::int64_t> counts, displacements;
  Slice own;
};

class Segment {
 public:
  // `slices` is the number of slices that an innermost group makes.
  Segment(const Call& call, std::size_t levels, const std::vector<Stage>& stages, Rank slices,
          Schedule* schedule)
      : call_(call), levels_(levels), stages_(stages), slices_(slices), schedule_(schedule) {}

  // Reduces `value` into `home` in stage `i` and those behind it; both have the same count.
  void Plan(const Slice& value, const Slice& home, std::size_t i) const {
    if (home.count == 0) return;
    if (i == levels_) return Across(home, i);
    const Stage& stage = stages_[i];
    const Shares shares(home, stage, i == 0 ? slices_ : stage.size());
    Call inner = InnerCall(Operation::kReduceScatter, home.count, shares.own.count);
    inner.output_counts = shares.counts;
    inner.in_place = value.where == home.where;
    Append(inner, stage, {value, shares.own}, schedule_);
    if (stage.alone() && !inner.in_place) schedule_->Copy(value, home);
    schedule_->EndRound();
    Plan(shares.own, shares.own, i + 1);
    inner = InnerCall(Operation::kAllgatherv, shares.own.count, home.count);
    inner.bytes = BytesOf(home.count);
    inner.in_place = inner.all_in_place = true;
    inner.output_counts = shares.counts;
    inner.output_displacements = shares.displacements;
    Append(inner, stage, {shares.own, home}, schedule_);
  }

 private:
  void Across(const Slice& home, std::size_t i) const {
    Call inner = InnerCall(Operation::kAllreduce, home.count, home.count);
    inner.in_place = inner.all_in_place = true;
    Append(inner, stages_[i], {home, home}, schedule_);
  }
  std::int64_t BytesOf(std::int64_t count) const { return call_.bytes / call_.input_count * count; }
  Call InnerCall(Operation operation, std::int64_t input_count, std::int64_t output_count) const {
    Call inner = Inner(call_, operation, BytesOf(input_count));
    inner.input_count = input_count;
    inner.output_count = output_count;
    return inner;
  }

  const Call& call_;
  const std::size_t levels_;
  const std::vector<Stage>& stages_;
  const Rank slices_;
  Schedule* const schedule_;
};

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const Rank slices = SlicesOf(shape.hierarchy->levels.front().groups);
  const std::int64_t segments = SegmentsOf(call, slices);
  const std::vector<Stage> stages = StagesOf(shape, slices, segments);
  const Segment segment(call, shape.hierarchy->levels.size(), stages, slices, schedule);
  const Blocks blocks(call.input_count, segments);
  for (std::int64_t i = 0; i < segments; ++i) {
    const Slice home = Output(blocks.Begin(i), blocks.Count(i, i + 1));
    segment.Plan(call.in_place ? home : Input(home.first, home.count), home, 0);
  }
}

}  // namespace

constinit const Algorithm kAllreduceSliced{"sliced", Operation::kAllreduce, Fits, CostUs, Plan};

}  // namespace lamina::collective::hierarchical
