// SPDX-License-Identifier: BSD-3-Clause
// Bcast in stages: the root sends to the leaders of the outermost groups, each of these to the
// leaders of the groups within, and so on to every rank.
//
// The members of a stage form a star, a binomial tree or a chain, and the trees of all stages make
// one tree of all ranks. Long data go down this tree in segments. In every round a rank receives
// one segment from above and passes the one before on, to other nodes first. So all links of the
// tree are busy at once, and a short segment is still in the cache when it is passed on.
//
// If the ranks of a node have a board, their leader tells them each segment there. Then segments
// are so short that they leave without asking the receiver. Receives are posted a few rounds early,
// so that such a segment finds its place. And every few segments a leader answers the rank it hears
// from, which waits for that before it sends many more, so that nobody is overrun.
//
// Shape:  output n bytes on every rank, cut into s segments.
// Cost:   (d - 1 + s) rounds, d the depth of the tree; a round takes as long as a rank in all
//         stages needs for its children. (P - 1) s messages and (P - 1) n bytes; with boards on N
//         nodes (N - 1) s messages, half as many answers, and (N - 1) n bytes. (G - 1) n bytes
//         cross between the G outermost groups.
// Source: Kielmann, Hofman, Bal, Plaat, Bhoedjang, PPoPP 1999, 131-140 (MagPIe); Träff, Ripke,
//         Parallel Process. Lett. 18 (2008) 139-153 (pipelined trees).
#include <algorithm>

#include "collectives/hierarchical/hierarchical.h"
#include "collectives/hierarchical/inner.h"
#include "collectives/hierarchical/segments.h"
#include "collectives/hierarchical/stages.h"
#include "collectives/pieces/cost.h"
#include "collectives/pieces/tree.h"

namespace lamina::collective::hierarchical {
namespace {

// How the members of a stage hang together.
enum class Form { kStar, kBinomial, kChain };
constexpr Form kForms[] = {Form::kStar, Form::kBinomial, Form::kChain};

struct Branching {
  Rank children;  // of the member with most children
  Rank depth;
};

Branching Of(Form form, Rank ranks) {
  switch (form) {
    case Form::kStar:
      return {ranks - 1, 1};
    case Form::kBinomial:
      return {CeilLog2(ranks), CeilLog2(ranks)};
    default:
      return {1, ranks - 1};
  }
}

// Predicts the time of a stage of this form for one segment. A rank that gets its turn finds all
// segments that have come in the meantime, so only the first one waits for turns.
StageTime TimeOf(Form form, const Span& span, std::int64_t bytes) {
  if (span.ranks < 2) return Whole(0);
  const Branching branching = Of(form, span.ranks);
  const double one = static_cast<double>(bytes);
  const double round_us = Burst(span.link, branching.children, branching.children * one);
  // A binomial tree is as deep below the root's first child as that child has siblings, so its last
  // rank hears after as many messages as the tree has levels.
  const double first_us =
      form == Form::kStar ? round_us : Move(span.link, branching.depth, branching.depth * one);
  return {first_us + Turns(span.link, branching.depth), round_us};
}

// Finds the form in which `segments` segments pass the stage soonest.
Form FormFor(const Span& span, std::int64_t bytes, std::int64_t segments) {
  Form best = Form::kStar;
  double best_us = 0;
  for (const Form form : kForms) {
    const StageTime time = TimeOf(form, span, bytes);
    const double us = time.all_us + static_cast<double>(segments - 1) * time.busy_us;
    if (form != Form::kStar && us >= best_us) continue;
    best = form;
    best_us = us;
  }
  return best;
}

std::vector<Form> FormsFor(const std::vector<Span>& spans, std::int64_t all, std::int64_t bytes) {
  std::vector<Form> forms;
  for (const Span& span : spans) forms.push_back(FormFor(span, bytes, (all + bytes - 1) / bytes));
  return forms;
}

Cut CutOf(const Call& call, const std::vector<Span>& spans) {
  const auto stages = [&](std::int64_t bytes) {
    const std::vector<Form> forms = FormsFor(spans, call.bytes, bytes);
    // In every round a leader works for all stages it is in, one after the other.
    StageTime all = Whole(0);
    for (std::size_t i = 0; i < spans.size(); ++i)
      all = all + (call.board && i == 0 ? BoardTime(Inner(call, Operation::kBcast, bytes), spans[i])
                                        : TimeOf(forms[i], spans[i], bytes));
    // The ranks that a leader stands for take the segment before in the meantime, so where they
    // share CPUs each round costs a turn of all of them.
    LinkModel crowded = spans.back().link;
    crowded.crowd = spans.front().link.crowd;
    all.busy_us += Turns(crowded, 1);
    return std::vector<StageTime>{all};
  };
  // At boards a segment leaves at once, where a rendezvous would take three messages.
  const std::int64_t bytes_max = call.board ? spans.back().link.eager_bytes : kBcastBytesMax;
  return CutFor(call.bytes, {kBcastSegmentsMax, bytes_max}, stages);
}

double CostUs(const Call& call, const Shape& shape, const LinkModel&) {
  return CutOf(call, Spans(shape)).cost_us;
}

// This rank's place in the tree of all ranks.
struct Place {
  Rank parent = kNobody;
  std::vector<Rank> children;  // outermost stage first, then the largest subtree first
};

// Adds this rank's parent and children in one stage to `place`.
void Join(const Stage& stage, Form form, Place* place) {
  const Rank size = stage.size();
  const Rank position = PositionOf(stage.own, stage.leader, size);
  const auto rank_at = [&](Rank at) {
    return stage.members[static_cast<std::size_t>(RankAt(at, stage.leader, size))].rank;
  };
  if (form == Form::kBinomial) {
    if (position > 0) place->parent = rank_at(Parent(position));
    for (Rank bit = ChildBits(position, size) / 2; bit > 0; bit /= 2)
      if (position + bit < size) place->children.push_back(rank_at(position + bit));
    return;
  }
  const bool star = form == Form::kStar;
  if (position > 0) place->parent = rank_at(star ? 0 : position - 1);
  const Rank last = star ? (position == 0 ? size - 1 : 0) : std::min(position + 1, size - 1);
  for (Rank at = position + 1; at <= last; ++at) place->children.push_back(rank_at(at));
}

// Adds the answers of `round` among so many `segments`. By then this rank has received all segments
// before that round.
void Answer(const Place& place, std::size_t round, std::size_t segments, Schedule* schedule) {
  if (round == 0 || round % kSegmentsPerAnswer != 0) return;
  const Slice nothing = Output(0, 0);
  if (place.parent != kNobody && round + kSegmentsPerAnswer < segments)
    schedule->Send(place.parent, nothing);
  if (round >= 2 * kSegmentsPerAnswer && round < segments)
    for (const Rank child : place.children) schedule->Receive(child, nothing);
}

void Plan(const Call& call, const Shape& shape, Schedule* schedule) {
  const std::vector<Span> spans = Spans(shape);
  const std::int64_t segments = CutOf(call, spans).segments;
  const std::vector<Form> forms =
      FormsFor(spans, call.bytes, (call.bytes + segments - 1) / segments);
  const std::vector<Stage> stages = Climb(shape, call.root);
  Place place;
  const std::size_t last = call.board ? 1 : 0;  // no messages go within a node with a board
  for (std::size_t i = stages.size(); i > last; --i) Join(stages[i - 1], forms[i - 1], &place);

  const Blocks blocks(call.output_count, segments);
  std::vector<Slice> parts;
  for (std::int64_t index = 0; index < segments; ++index)
    if (const std::int64_t count = blocks.Count(index, index + 1); count > 0)
      parts.push_back(Output(blocks.Begin(index), count));
  if (call.board && parts.size() > 1) schedule->receives_ahead = 2 * kSegmentsPerAnswer - 1;
  // In each round the rank receives one segment and passes the one before on.
  const Stage& node = stages.front();
  for (std::size_t round = 0; round <= parts.size(); ++round) {
    if (place.parent != kNobody && round < parts.size())
      schedule->Receive(place.parent, parts[round]);
    if (call.board) Answer(place, round, parts.size(), schedule);
    if (round > 0) {
      for (const Rank child : place.children) schedule->Send(child, parts[round - 1]);
      if (call.board && !node.alone())
        schedule->Tell(node.members[static_cast<std::size_t>(node.leader)].rank, parts[round - 1]);
    }
    schedule->EndRound();
  }
}

}  // namespace

constinit const Algorithm kBcast =
    UsingBoards({"hierarchical", Operation::kBcast, FitsLevels, CostUs, Plan});

}  // namespace lamina::collective::hierarchical
