// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/board/node_collectives.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collectives/board/dissent.h"
#include "collectives/board/engine_waiter.h"
#include "collectives/board/members.h"
#include "collectives/board/opening.h"
#include "collectives/board/params.h"
#include "collectives/board/perform.h"
#include "collectives/board/ways.h"
#include "collectives/call/meeting.h"
#include "runtime/base/log.h"
#include "runtime/base/version.h"
#include "runtime/core/process.h"
#include "runtime/p2p/p2p.h"

namespace lamina::collective::board {
namespace {

using datatype::FindDatatype;

// The meeting of one communicator. Its members are all ranks, or those on this node: then calls are
// plans, and only steps come here.
class NodeMeeting final : public Meeting {
 public:
  NodeMeeting(const Place& place, const Params& params, Sharing sharing, NodeMemory* node_memory)
      : comm_(*place.comm),
        params_(params),
        sharing_(sharing),
        node_memory_(node_memory),
        operations_(place.operations),
        named_(place.named),
        failure_(*place.failure),
        by_messages_(place.by_messages),
        members_(place.nodes, place.comm->rank),
        waiter_(comm_, members_),
        trials_(params, place.comm->size) {}

  Served Run(const Invocation& it) override {
    if (!operations_.Has(it.operation) || !HasForm(it)) return Served::kByMessages;
    const std::int64_t bytes = BytesOf(it);
    if (!IsPossible(it, bytes)) return Served::kByMessages;
    if (!is_open_) [[unlikely]]
      if (const Served served = OpenFor(it.operation, bytes); served != Served::kDone)
        return served;
    if (seat_.board != nullptr) {
      if (seat_.board->broken()) [[unlikely]]
        return Fail();
      seat_.participant->set_terms(TermsOf(it.operation, it.root, bytes));
    }
    if (members_.across()) return Served::kBySteps;
    if (!MayMeet(it.operation)) return Served::kByMessages;
    if (static_cast<std::uint64_t>(bytes) < params_.trial_bytes_min)
      return DoneIf(Perform(*seat_.participant, it));
    return RunLong(it, bytes);
  }

  int Step(const collective::Step& step, const Buffer& from, const Buffer& to,
           const datatype::Op* op) override {
    static std::byte unused;
    static const Buffer kNothing{&unused, 0, FindDatatype(MPI_BYTE)};
    Participant& self = *seat_.participant;
    const Rank peer = members_.MemberOf(step.peer);
    const Buffer& input = from.count > 0 ? from : kNothing;
    const bool done = step.verb == Verb::kTell
                          ? Bcast(self, peer, to.count > 0 ? to : kNothing)
                          : Reduce(self, peer,
                                   {input.address, peer == members_.own() ? to.address : nullptr,
                                    input.count, input.type, op});
    return DoneIf(done) == Served::kDone ? MPI_SUCCESS : failure_.error_class;
  }

 private:
  Served DoneIf(bool done) { return done ? Served::kDone : Fail(); }
  // The board is broken.
  [[gnu::cold]] Served Fail() { return Fail(FailureOf(seat_.board->contradiction(), members_)); }
  Served Fail(Failure failure) {
    failure_ = std::move(failure);
    return Served::kFailed;
  }

  // Can such calls be carried out at a board at all? The answer is the same on all ranks.
  bool IsPossible(const Invocation& it, std::int64_t bytes) const {
    const std::uint64_t slot_bytes = params_.area_bytes / kSlots;
    const std::int64_t ranks = members_.largest();
    if (bytes == 0 && it.operation != Operation::kBarrier) return false;  // nothing to do
    if (Reduces(it.operation) && !Fits(*it.output_type, members_.largest(), slot_bytes))
      return false;
    return ranks * ranks <= static_cast<std::int64_t>(slot_bytes);
  }

  // Opens the board if this call is worth it. kDone: it is open. After an error this rank does not
  // know which way the others take, so it takes part in nothing here any more.
  Served OpenFor(Operation operation, std::int64_t bytes) {
    if (opening_error_ != MPI_SUCCESS) return Fail({opening_error_, "", true});
    const bool pays_at_once = named_.Has(operation) || Reduces(operation) ||
                              IsLong(operation, bytes, comm_.size, params_.area_bytes);
    if (!pays_at_once && calls_++ < params_.calls_before) return Served::kByMessages;
    Opening opening = OpenBoards(&comm_, members_, params_, sharing_, node_memory_, &waiter_);
    opening_error_ = opening.error_class;
    if (opening.opened == Opened::kFailed) return Fail({opening_error_, "", true});
    if (opening.opened == Opened::kNo) {
      operations_ = {};
      return Served::kByMessages;
    }
    is_open_ = true;
    seat_ = std::move(opening.seat);
    return DoneIf(members_.across() || TryReach(seat_, params_, &reaches_));
  }

  bool MayMeet(Operation operation) const {
    return comm_.size <= kFaceToFaceRanksMax || seat_.participant->shares_cpus() ||
           named_.Has(operation);
  }

  // A call that is long enough for the choice of a way to matter.
  Served RunLong(const Invocation& it, std::int64_t bytes) {
    const Candidates candidates =
        CandidatesFor({.operation = it.operation,
                       .sharing = seat_.participant->sharing(),
                       .in_place = it.in_place,
                       .named = named_.Has(it.operation),
                       .reaches = reaches_,
                       .element_fits = !Reduces(it.operation) || FitsDirect(*it.output_type)});
    if (candidates.count == 1) return RunBy(candidates.ways[0], it);
    Trial& trial = trials_.Of(it.operation, bytes, candidates.count);
    if (trial.trying()) return Try(it, bytes, candidates, &trial);
    const Way way = candidates.ways[trial.way()];
    trial.Count();
    return RunBy(way, it);
  }

  Served RunBy(Way way, const Invocation& it) {
    if (way == Way::kMessages) return Served::kByMessages;
    Participant& self = *seat_.participant;
    if (way == Way::kDirect) {
      const Outcome outcome = PerformDirect(self, it);
      if (self.denied()) reaches_ = false;
      if (outcome != Outcome::kElsewhere) return DoneIf(outcome == Outcome::kDone);
    }
    return DoneIf(Perform(self, it));
  }

  // Times a call between two meetings. What counts is the longest time of all members: the member
  // that began first knows it, and where ranks share CPUs that is another one each time.
  Served Try(const Invocation& it, std::int64_t bytes, const Candidates& candidates, Trial* trial) {
    using Clock = std::chrono::steady_clock;
    Participant& self = *seat_.participant;
    const Way way = candidates.ways[trial->way()];
    if (!Barrier(self)) return Fail();
    const Clock::time_point begin = Clock::now();
    const Served served = way == Way::kMessages ? RunByMessages(it) : RunBy(way, it);
    if (!Barrier(self)) return Fail();
    const std::int64_t own = std::chrono::nanoseconds(Clock::now() - begin).count();
    std::int64_t longest = 0;
    const Reduction max{&own, &longest, 1, FindDatatype(MPI_INT64_T), datatype::FindOp(MPI_MAX)};
    if (!Allreduce(self, max)) return Fail();
    trial->Took(longest);
    if (!trial->trying() && comm_.rank == 0)
      Log(lamina::Level::kDebug, "board", "%s of %lld bytes, %d ranks, by %s; weighed: %s",
          Name(it.operation), static_cast<long long>(bytes), comm_.size,
          Name(candidates.ways[trial->way()]), Weights(candidates, *trial).c_str());
    return served;
  }

  Served RunByMessages(const Invocation& it) {
    const int error_class = by_messages_(it);
    return error_class == MPI_SUCCESS ? Served::kDone : Fail({error_class, "", true});
  }

  core::Comm& comm_;
  const Params& params_;
  const Sharing sharing_;
  NodeMemory* const node_memory_;  // null: none that all members have
  OperationSet operations_;
  const OperationSet named_;
  Failure& failure_;
  int (*const by_messages_)(const Invocation&);
  const Members members_;
  EngineWaiter waiter_;
  std::uint32_t calls_ = 0;  // that went by messages so far
  bool is_open_ = false;
  int opening_error_ = MPI_SUCCESS;
  Seat seat_;
  bool reaches_ = false;  // all members can reach each other's memory
  Trials trials_;
};

class NodeCollectives final : public Collective, public Convener {
 public:
  explicit NodeCollectives(Params params) : params_(std::move(params)) {}

  std::span<const Algorithm* const> Algorithms() const override { return {}; }
  const Convener* convener() const override { return this; }

  Offer offer() const override {
    const bool is_on = params_.enable != "never";
    return {kOperations, is_on ? kOperations : OperationSet{}, is_on,
            "Blocking calls of these go through shared memory where it is faster "
            "(collective.board.*)",
            "Blocking calls of these, as predicted here, have the ranks of each node meet in "
            "shared memory (collective.board.*)"};
  }
  std::unique_ptr<Meeting> Convene(const Place& place) const override {
    // A launcher gives a job its own memory, and knows only of its own ranks whether they share
    // CPUs.
    if (place.spans_jobs)
      return std::make_unique<NodeMeeting>(place, params_, Sharing::kShared, nullptr);
    return std::make_unique<NodeMeeting>(place, params_, p2p::Policy().sharing,
                                         core::process->node_memory.get());
  }

 private:
  const Params params_;
};

component::Offer Query(const Context&) {
  return {1,
          "blocking barrier, bcast, gather, scatter, allgather(v), alltoall, reduce and allreduce "
          "in memory shared by the ranks of a node, beside the plans of others"};
}

Result<std::unique_ptr<Collective>> Make(const Context& context) {
  Params params;
  if (Status status = param::Load(*context.settings, kFields, &params); !status.ok()) return status;
  return std::unique_ptr<Collective>(std::make_unique<NodeCollectives>(std::move(params)));
}

Status Check(const param::Settings& settings) {
  Params params;
  return param::Load(settings, kFields, &params);
}

std::vector<param::Row> Rows(const param::Settings& settings) {
  return param::Rows<Params>(settings, kFields);
}

}  // namespace

Component Describe() { return {{"board", kVersion, "built in"}, Query, Make, Rows, Check}; }

}  // namespace lamina::collective::board
