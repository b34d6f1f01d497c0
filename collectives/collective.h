// SPDX-License-Identifier: BSD-3-Clause
// A collective operation as data.
//
// An algorithm is a value: a name, fits, cost and plan. A plan is a pure function of (call, shape)
// that gives a schedule: what this rank sends, receives, copies and reduces, in which order. One
// executor (exec/) runs all schedules, blocking or not, so no algorithm is written twice. Every
// plan is checked without a network for all sizes, roots and odd counts (conformance/).
//
// Threads:    everything here is a value or a pure function, but for meetings (call/meeting.h).
// Allocation: a plan fills a schedule; a schedule that is filled again reuses its memory.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "collectives/hierarchy.h"
#include "runtime/base/ids.h"
#include "runtime/base/param.h"
#include "runtime/component/component.h"

namespace lamina::collective {

enum class Operation : std::uint8_t {
  kBarrier,
  kBcast,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kAllgather,
  kAllgatherv,
  kAlltoall,
  kAlltoallv,
  kAlltoallw,
  kNeighborAllgather,
  kNeighborAllgatherv,
  kNeighborAlltoall,
  kNeighborAlltoallv,
  kNeighborAlltoallw,
  kReduce,
  kAllreduce,
  kReduceScatter,
  kReduceScatterBlock,
  kScan,
  kExscan,
};
inline constexpr std::size_t kOperations = 22;
// Lower case, as in parameters: "barrier", "reduce_scatter_block".
const char* Name(Operation operation);

// A set of operations.
class OperationSet {
 public:
  constexpr OperationSet() = default;
  constexpr OperationSet(std::initializer_list<Operation> operations) {
    for (const Operation operation : operations) Add(operation);
  }
  constexpr void Add(Operation operation) { bits_ |= BitOf(operation); }
  constexpr bool Has(Operation operation) const { return (bits_ & BitOf(operation)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }

 private:
  static constexpr std::uint32_t BitOf(Operation operation) {
    return std::uint32_t{1} << static_cast<std::uint32_t>(operation);
  }
  std::uint32_t bits_ = 0;
  static_assert(kOperations <= 32);
};

// Does the operation combine data?
constexpr bool Reduces(Operation operation) { return operation >= Operation::kReduce; }
// Does it take place between neighbours of a topology?
constexpr bool Neighbourly(Operation operation) {
  return operation >= Operation::kNeighborAllgather && operation <= Operation::kNeighborAlltoallw;
}
// Has each block a datatype of its own?
constexpr bool Typed(Operation operation) {
  return operation == Operation::kAlltoallw || operation == Operation::kNeighborAlltoallw;
}
// Do all ranks know how many bytes a call moves?
constexpr bool Sized(Operation operation) {
  return operation != Operation::kBarrier && operation != Operation::kGatherv &&
         operation != Operation::kScatterv && operation != Operation::kAlltoallv &&
         operation != Operation::kAlltoallw && !Neighbourly(operation);
}
// Is one rank the root?
constexpr bool Rooted(Operation operation) {
  return operation == Operation::kReduce ||
         (operation >= Operation::kBcast && operation <= Operation::kScatterv);
}

// The three places where data can be. A position in the input or output counts *elements* of that
// buffer's datatype, so a plan knows no datatypes. A position in scratch counts elements of the
// output's datatype, or in gather(v) of the input's. Where data is reduced, scratch is laid out
// like the datatype; elsewhere it holds the packed data of each element.
//
//   operation            input                       output
//   barrier              -                           -
//   bcast                -                           the buffer, on every rank, as bytes
//   gather(v)            own block                   at the root: all blocks
//   scatter(v)           at the root: all blocks     own block
//   allgather(v)         own block                   all blocks
//   alltoall(v,w)        one block per destination   one block per source
//   reduce               own vector                  at the root: the result
//   allreduce, scans     own vector                  the result
//   reduce_scatter(..)   own vector of all blocks    own block of the result
//   neighbor_allgather   own block                   one block per source
//   neighbor_alltoall    one block per destination   one block per source
//
// On an intercommunicator the blocks are those of the other group, and the result is the reduction
// of the other group's vectors; reduce_scatter cuts it by the counts of the own group.
//
// In place: reductions find the input where the output is (same positions); gather(v), allgather(v)
// and alltoall(v,w) find their own block(s) in the output and must not read the input; scatter(v)
// at the root must not write the output.
enum class Where : std::uint8_t { kInput, kOutput, kScratch };

struct Slice {
  Where where = Where::kInput;
  std::int64_t first = 0;  // counted in elements; in the w-forms, in bytes
  std::int64_t count = 0;  // elements
  Rank type_of = -1;       // w-forms: the block whose datatype this slice has
};
inline Slice Input(std::int64_t first, std::int64_t count) {
  return {Where::kInput, first, count, -1};
}
inline Slice Output(std::int64_t first, std::int64_t count) {
  return {Where::kOutput, first, count, -1};
}
inline Slice Scratch(std::int64_t first, std::int64_t count) {
  return {Where::kScratch, first, count, -1};
}

enum class Verb : std::uint8_t {
  kSend,     // `from` to `peer`
  kReceive,  // `to` from `peer`
  kCopy,     // `from` to `to`; the layouts may differ (send type to receive type)
  kReduce,   // to[i] = from[i] op to[i]: `from` stands left of `to` in rank order
  // These two take place at the board that the ranks of a node share (Call::board). All of these
  // ranks take the same such steps in the same order. Slices are equally long on all of them, and
  // may be empty: then the step only waits.
  kTell,  // copies `to` of `peer` to `to` of the others
  kFold,  // folds `from` of all ranks in rank order into `to` of `peer`, which may be its `from`
};
constexpr bool AtBoard(Verb verb) { return verb >= Verb::kTell; }

struct Step {
  Verb verb;
  Rank peer;  // kCopy and kReduce have none
  Slice from;
  Slice to;
};

// Rounds of steps. The sends and receives of one round are independent of each other and are all
// started before any is waited for; when all have ended, the round's copies and reductions run in
// the order given; then the next round begins. So a step may not send what the same round receives,
// but may overwrite what it has sent. Messages from one rank to another match in the order of their
// steps.
//
// Receives may be posted some rounds early, so that a message that has come in the meantime finds
// its place. They are still waited for in their own round. From the round on in which a receive may
// be posted, nothing else touches what it writes.
//
// Rounds may be dealt out to several strands, which run side by side, so that one strand goes on
// while another waits. No strand may touch what another writes. Messages match within their strand,
// so all ranks have the same number of strands, of which some may be empty.
struct Schedule {
  std::vector<Step> steps;
  std::vector<std::uint32_t> round_ends;   // index behind the last step of each round
  std::vector<std::uint32_t> strand_ends;  // index behind the last round; empty if one strand
  std::int64_t scratch_elements = 0;
  std::uint32_t receives_ahead = 0;  // by how many rounds a receive may be posted early

  void Send(Rank peer, const Slice& from) { steps.push_back({Verb::kSend, peer, from, {}}); }
  void Receive(Rank peer, const Slice& to) { steps.push_back({Verb::kReceive, peer, {}, to}); }
  void Copy(const Slice& from, const Slice& to) { steps.push_back({Verb::kCopy, -1, from, to}); }
  void Reduce(const Slice& from, const Slice& to) {
    steps.push_back({Verb::kReduce, -1, from, to});
  }
  void Tell(Rank teller, const Slice& data) { steps.push_back({Verb::kTell, teller, {}, data}); }
  void Fold(Rank folder, const Slice& from, const Slice& to) {
    steps.push_back({Verb::kFold, folder, from, to});
  }
  // Closes the round. An empty round leaves no trace.
  void EndRound() {
    const auto end = static_cast<std::uint32_t>(steps.size());
    if (end != (round_ends.empty() ? 0u : round_ends.back())) round_ends.push_back(end);
  }
  // The index of the first step of a round.
  std::uint32_t RoundBegin(std::size_t round) const {
    return round == 0 ? 0 : round_ends[round - 1];
  }
  void EndStrand() { strand_ends.push_back(static_cast<std::uint32_t>(round_ends.size())); }
  void Clear() {
    steps.clear();
    round_ends.clear();
    strand_ends.clear();
    scratch_elements = 0;
    receives_ahead = 0;
  }
};

// What was called, reduced to what a plan may depend on. Counts are 0 where there are no bytes, and
// an operation without any bytes is not planned at all, barrier excepted.
struct Call {
  // These are the same on all ranks, and fits and cost may look at no others.
  Operation operation{};
  bool commutative = true;    // says whether the reduction operation is
  bool all_in_place = false;  // set only where all ranks must say so alike, so never with a root
  // The ranks of each node have a board to meet at: the groups of the hierarchy's first level are
  // those of the nodes, and the call is blocking.
  bool board = false;
  // The buffer of this bcast is not bytes but elements that ranks may count in different sizes.
  // Only the whole means the same to all ranks, so it must not be cut.
  bool uncut = false;
  // On an intercommunicator each rank sees another root: the root sees itself, the other group sees
  // the root as a peer, and the rest of the root's group sees kNobody, because the call does
  // nothing there.
  Rank root = 0;
  // The bytes of the buffer (bcast), of the vector (reductions; in reduce_scatter_block of one
  // block), of one block (gather, scatter, allgather, alltoall), or of all blocks (allgatherv,
  // reduce_scatter). 0 if not all ranks know them (Sized).
  std::int64_t bytes = 0;

  // The rest is what this rank alone says.
  bool in_place = false;
  std::int64_t input_count = 0;   // elements, of one block if there are several
  std::int64_t output_count = 0;  // the same; equal to input_count in reductions of whole vectors
  // The v-forms have an entry for each rank, or for each neighbour. Displacements count elements,
  // or bytes in the w-forms.
  std::span<const std::int64_t> input_counts{};
  std::span<const std::int64_t> input_displacements{};
  std::span<const std::int64_t> output_counts{};
  std::span<const std::int64_t> output_displacements{};
};

inline constexpr Rank kNobody = -1;

// Where the call takes place, seen from one rank. fits and cost look at `ranks`, `nodes` and
// `hierarchy` alone, which are the same on all ranks.
struct Shape {
  Rank ranks = 1;  // the size of this rank's group
  Rank rank = 0;
  // On an intercommunicator, the ranks of the other group. Steps name them as peers `ranks` and up.
  Rank remote_ranks = 0;
  // In neighbourhood collectives, the ranks that blocks come from and go to. kNobody stands beyond
  // an edge.
  std::span<const Rank> sources = {};
  std::span<const Rank> destinations = {};
  // On a grid, what goes to destination k arrives as coming from source k ^ 1. That matters where
  // both are the same rank.
  bool grid = false;
  // How many nodes the ranks are on; 0: unknown, as between groups.
  Rank nodes = 0;
  // How they lie there; null if that is unknown or if there is only one level. Outlives the shape.
  const Hierarchy* hierarchy = nullptr;

  bool inter() const { return remote_ranks > 0; }
};

// One function of an algorithm. It is a plain one, or one that is first given the object it belongs
// to, which algorithms made at run time need. It owns nothing; the object outlives it.
template <class Signature>
class Function;
template <class Result, class... Arguments>
class Function<Result(Arguments...)> {
 public:
  using Plain = Result (*)(Arguments...);
  using OfObject = Result (*)(const void* object, Arguments...);

  // This is implicit because plain functions are the rule.
  template <std::convertible_to<Plain> Callable>
  constexpr Function(Callable plain) : plain_(plain) {}  // NOLINT(google-explicit-constructor)
  constexpr Function(OfObject function, const void* object) : of_(function), object_(object) {}

  Result operator()(Arguments... arguments) const {
    return of_ != nullptr ? of_(object_, arguments...) : plain_(arguments...);
  }

 private:
  Plain plain_ = nullptr;
  OfObject of_ = nullptr;
  const void* object_ = nullptr;
};

struct Algorithm {
  const char* name;  // unique within its operation
  Operation operation;
  // True if it can do this call. At least one algorithm of each operation fits every call.
  Function<bool(const Call& call, const Shape& shape)> fits;
  // Predicts the time until the last rank is done. `link` is the one between the outermost groups
  // of `shape.hierarchy`, the longest way a message can go; the levels have the others.
  Function<double(const Call& call, const Shape& shape, const LinkModel& link)> cost_us;
  // Fills `schedule`, which is empty. The call fits; `shape.ranks` is at least 2, except between
  // groups and neighbours.
  Function<void(const Call& call, const Shape& shape, Schedule* schedule)> plan;
  bool inter = false;  // it is for intercommunicators, and only for them
  // Its plans use a board.
  bool meets = false;
};
// This is the `fits` of those that can do every call.
inline bool AlwaysFits(const Call&, const Shape&) { return true; }

class Meeting;  // call/meeting.h: carries out blocking calls of one communicator without messages
struct Place;   // likewise: a communicator, and what its meeting is asked for

// Convenes meetings on communicators.
class Convener {
 public:
  virtual ~Convener() = default;

  // What its meetings can do, whatever the communicator is.
  struct Offer {
    // The operations for which collective.<operation>.algorithm may name the component.
    OperationSet named;
    // The operations whose blocking calls it carries out where all ranks are on one node.
    OperationSet calls;
    // Across nodes it carries out the steps kTell and kFold of plans.
    bool steps = false;
    // Headings of lamina info over the operations that `calls` and `steps` concern.
    const char* calls_heading = "";
    const char* steps_heading = "";
  };
  virtual Offer offer() const = 0;

  // Looks at a communicator, without communication. All of its ranks ask alike and must be answered
  // alike. Null: this communicator has no meeting.
  virtual std::unique_ptr<Meeting> Convene(const Place& place) const = 0;
};

// A collective component offers algorithms for any subset of the operations, meetings, or both.
//
// Ownership: the algorithms and the convener live as long as the component.
class Collective {
 public:
  virtual ~Collective() = default;
  virtual std::span<const Algorithm* const> Algorithms() const = 0;
  // Null: it offers no meetings.
  virtual const Convener* convener() const { return nullptr; }
};

struct Context {
  const param::Settings* settings;
};

using Component = component::Component<Collective, Context>;
using Registry = component::Registry<Collective, Context>;

}  // namespace lamina::collective
