// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/board/node_collectives.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collectives/board/board.h"
#include "collectives/board/engine_patience.h"
#include "collectives/board/memory.h"
#include "collectives/board/operations.h"
#include "collectives/board/params.h"
#include "collectives/board/participant.h"
#include "collectives/board/terms.h"
#include "collectives/board/trial.h"
#include "collectives/call/route.h"
#include "runtime/base/log.h"
#include "runtime/base/text.h"
#include "runtime/base/version.h"
#include "runtime/core/process.h"
#include "runtime/memory/streaming.h"
#include "runtime/p2p/engine.h"

namespace lamina::collective::board {
namespace {

using datatype::FindDatatype;

// How the data of a call may go: through the board, written with ordinary stores, or past the
// caches what leaves it, or also what enters it; straight between the buffers; by messages.
enum class Way : std::uint8_t { kBoard, kStreamedOutput, kStreamed, kDirect, kMessages };

struct Ways {
  std::array<Way, Trial::kWaysMax> all{Way::kBoard};
  std::size_t count = 1;

  void Add(Way way) { all[count++] = way; }
};

const char* Name(Way way) {
  switch (way) {
    case Way::kBoard:
      return "the board";
    case Way::kStreamedOutput:
      return "the board with the output past the caches";
    case Way::kStreamed:
      return "the board past the caches";
    case Way::kDirect:
      return "the buffers themselves";
    case Way::kMessages:
      break;
  }
  return "messages";
}

// What goes past the caches is dear to whoever looks at it next. And with a CPU for each, one
// member reads in a row of calls while another writes, which a try does not show and ordinary
// stores gain more by: 64 KiB reduced to a neighbour 9.2 us and past the caches 10.4 when tried,
// then 6.1 and 8.8. (1 MiB to a processor that shares no cache, when tried: 160 and 94.)
std::int64_t Weigh(Way way, bool crowded, std::int64_t ns) {
  if (way != Way::kStreamed && way != Way::kStreamedOutput) return ns;
  return crowded || way == Way::kStreamedOutput ? ns * 9 / 8 : ns * 5 / 4;
}

constexpr memory::Stores StoresOf(bool streams) {
  return streams ? memory::Stores::kStreaming : memory::Stores::kOrdinary;
}

// Read and written by all members together: as much as a third-level cache holds. sysconf(), asked
// for that, said 384 MiB where it is 32.
constexpr std::int64_t kBeyondCachesBytesMin = 32 << 20;

// Any try may be disturbed, and the first ones find the slots as another way left them: each has
// its turn, and some are tried once more.
constexpr std::uint32_t kTriesInVain = 5;
static_assert(kTriesInVain >= kSlots);
// A long call goes around all slots by itself, and is seldom disturbed for most of its time.
constexpr std::uint32_t kTriesInVainOfLong = 2;
constexpr std::uint32_t kCallsBeforeOfLong = 1;

// For people: what each way was found to weigh.
std::string Weights(const Ways& ways, const Trial& trial) {
  std::string text;
  for (std::size_t i = 0; i < ways.count; ++i)
    text += std::string(i == 0 ? " " : ", ") + Name(ways.all[i]) + " " +
            std::to_string(trial.ns(i)) + " ns";
  return text;
}

// Calls that take about as long.
struct Kind {
  Operation operation;
  int magnitude;     // bits of the number of bytes
  std::size_t ways;  // that there are

  bool operator==(const Kind&) const = default;
};

// With a CPU for each, members look at every other's post.
constexpr Rank kFaceToFaceRanksMax = 16;

// Every member is a process of this node; then all members see it so.
bool OnOneNode(const core::Comm& comm) {
  const std::vector<std::uint32_t>& local = core::process->identity.local_peers;
  return std::all_of(comm.peers, comm.peers + comm.size, [&](PeerId peer) {
    return std::binary_search(local.begin(), local.end(), Index(peer));
  });
}

// Data bytes, as every member counts them: of the vector, or of one block.
std::int64_t BytesOf(const Invocation& it) {
  switch (it.operation) {
    case Operation::kBarrier:
      return 0;
    case Operation::kReduce:
      return it.input_count * it.output_type->size;
    case Operation::kGather:
      return it.comm->rank == it.root ? it.output_count * it.output_type->size
                                      : it.input_count * it.input_type->size;
    case Operation::kScatter:
      return it.comm->rank == it.root ? it.input_count * it.input_type->size
                                      : it.output_count * it.output_type->size;
    default:
      return it.output_count * it.output_type->size;
  }
}

// For people: "bcast of 64 bytes from rank 3".
std::string Described(Terms terms) {
  const Operation operation = OperationOf(terms);
  std::string text = Name(operation);
  if (operation != Operation::kBarrier)
    text += Format(" of %lld bytes", static_cast<long long>(LengthOf(terms)));
  const bool spreads = operation == Operation::kBcast || operation == Operation::kScatter;
  if (spreads || operation == Operation::kGather || operation == Operation::kReduce)
    text += Format(" %s rank %d", spreads ? "from" : "to", RootOf(terms));
  return text;
}

int MagnitudeOf(std::int64_t bytes) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes)));
}

// What hangs on a communicator: the board of its members on this node, opened when it is first
// worth it. All members are on this node, and calls are carried out there; or they are on several,
// each of which has a board, and plans have steps there.
class Circle final : public Beside {
 public:
  Circle(core::Comm* comm, Table* table, ByMessages by_messages)
      : comm_(*comm),
        params_(table->library.shared_params()),
        by_messages_(by_messages),
        patience_(*comm, members_) {
    if (comm->is_inter() || comm->size < 2) return;
    across_ = !OnOneNode(*comm);
    const Partition* nodes = across_ ? table->Nodes() : nullptr;
    if (across_ && nodes == nullptr) return;
    List(across_ ? *nodes : Partition::Blocks(comm->size, comm->size));
    for (std::uint32_t i = 0; i < collective::kOperations; ++i) {
      const auto operation = static_cast<Operation>(i);
      const Library& library = table->library;
      if (!(across_ ? library.MayUseBoards(operation) : library.MayShare(operation))) continue;
      operations |= Bit(operation);
      if (library.forced(operation) == Forced::kShared) always_ |= Bit(operation);
    }
  }

  int Run(const Invocation& it) {
    const std::int64_t bytes = BytesOf(it);
    if (!Possible(it, bytes)) return by_messages_(it);
    if (!opened_) {
      if (MayWait(it.operation, bytes) && calls_++ < params_.calls_before) return by_messages_(it);
      if (const int error = Open(); error != MPI_SUCCESS) return error;
      if (!opened_) return by_messages_(it);
    }
    if (self_ != nullptr) {
      if (board_->broken()) [[unlikely]]
        return WhyNotDone();
      self_->set_terms(TermsOf(it.operation, it.root, bytes));
    }
    if (across_) return RunAcross(it);
    if (!MayMeet(it.operation)) return by_messages_(it);
    // No list of ways for a short call: written as words and read as a vector, it would wait until
    // the stores of the call before, some of which miss the cache, are done.
    if (static_cast<std::uint64_t>(bytes) < params_.trial_bytes_min) return Go(it, Way::kBoard);
    const Ways ways = WaysOf(it, bytes);
    Way way = ways.all[0];
    if (ways.count > 1) {
      Trial& trial = TrialOf(it.operation, bytes, ways.count);
      if (trial.trying()) return Try(it, ways, trial);
      way = ways.all[trial.way()];
      trial.Count();
    }
    return Go(it, way);
  }

  int Meet(const Step& step, const Buffer& from, const Buffer& to, const datatype::Op* op) {
    const auto found = std::lower_bound(members_.begin(), members_.end(), step.peer);
    const auto peer = static_cast<Rank>(found - members_.begin());
    static std::byte unused;
    static const Buffer nothing{&unused, 0, FindDatatype(MPI_BYTE)};
    if (step.verb == Verb::kTell) return Said(Bcast(*self_, peer, to.count > 0 ? to : nothing));
    const Buffer& own = from.count > 0 ? from : nothing;
    return Said(collective::board::Reduce(
        *self_, peer, {own.address, peer == own_ ? to.address : nullptr, own.count, own.type, op}));
  }

 private:
  int Said(bool done) { return done ? MPI_SUCCESS : WhyNotDone(); }
  [[gnu::cold]] int WhyNotDone() {
    const Contradiction* const contradiction = board_->contradiction();
    if (contradiction == nullptr) return MPI_ERR_PROC_ABORTED;
    const Contradiction& found = *contradiction;
    const auto in_words = [&](Rank member, Terms terms) {
      return Format("rank %d is in %s", members_[static_cast<std::size_t>(member)],
                    Described(terms).c_str());
    };
    Failure& failure = comm_.collectives->failure;
    failure.is_news = found.rank == own_;
    failure.text = "the ranks do not make the same calls on this communicator: " +
                   in_words(found.rank, found.terms) + ", " + in_words(found.other, found.others);
    if (OperationOf(found.terms) != OperationOf(found.others)) return MPI_ERR_OTHER;
    return RootOf(found.terms) != RootOf(found.others) ? MPI_ERR_ROOT : MPI_ERR_TRUNCATE;
  }

  void List(const Partition& nodes) {
    const Rank node = nodes.GroupOf(comm_.rank);
    own_ = nodes.IndexOf(comm_.rank);
    largest_ = nodes.largest();
    for (Rank index = 0; index < nodes.SizeOf(node); ++index)
      members_.push_back(nodes.Member(node, index));
  }
  Rank size() const { return static_cast<Rank>(members_.size()); }

  int RunAcross(const Invocation& it) {
    Invocation with_board = it;
    with_board.board = true;
    return by_messages_(with_board);
  }

  std::uint64_t SlotBytes() const { return params_.area_bytes / kSlots; }

  bool Always(Operation operation) const { return (always_ & Bit(operation)) != 0; }

  // The answers are the same on all members.
  bool Possible(const Invocation& it, std::int64_t bytes) const {
    const std::int64_t ranks = largest_;
    if (bytes == 0 && it.operation != Operation::kBarrier) return false;  // nothing to do
    if (Reduces(it.operation) && !Fits(*it.output_type, largest_, SlotBytes())) return false;
    return ranks * ranks <= static_cast<std::int64_t>(SlotBytes());
  }
  // Not worth a board yet? A long call pays for one by itself.
  bool MayWait(Operation operation, std::int64_t bytes) const {
    return !Always(operation) && !Reduces(operation) && !IsLong(operation, bytes);
  }
  bool IsLong(Operation operation, std::int64_t bytes) const {
    // Written to the board in one call, of an alltoall at least.
    const std::int64_t written = operation == Operation::kBcast ? bytes : bytes * comm_.size;
    return static_cast<std::uint64_t>(written) >= 2 * params_.area_bytes;
  }
  bool IsBeyondCaches(Operation operation, std::int64_t bytes) const {
    const std::int64_t output = bytes * comm_.size * comm_.size;
    if (operation == Operation::kAllgather) return output >= kBeyondCachesBytesMin;
    return operation == Operation::kAlltoall && 2 * output >= kBeyondCachesBytesMin;
  }
  bool MayMeet(Operation operation) const {
    return Always(operation) || self_->crowded() || comm_.size <= kFaceToFaceRanksMax;
  }
  // The board, and what may be faster: the same on all members. Past the caches is the last to be
  // tried, because it leaves to memory what the others look for in the caches.
  Ways WaysOf(const Invocation& it, std::int64_t bytes) const {
    Ways ways;
    if (MayGoDirect(it)) ways.Add(Way::kDirect);
    if (MayGoByMessages(it)) ways.Add(Way::kMessages);
    if (memory::kCanStream && IsBeyondCaches(it.operation, bytes)) {
      // An alltoall reads as much: ordinary stores, 1 MiB among 8 and among 16, 5.9 and 36 ms, past
      // the caches 4.9 and 29.
      if (it.operation == Operation::kAlltoall)
        ways.all[0] = Way::kStreamedOutput;
      else
        ways.Add(Way::kStreamedOutput);
    }
    if (memory::kCanStream) ways.Add(Way::kStreamed);
    return ways;
  }
  // Where ranks share CPUs, the board needs the fewest turns; but an alltoall among many goes there
  // in small pieces.
  bool MayGoDirect(const Invocation& it) const {
    if (!reaches_ || (self_->crowded() && it.operation != Operation::kAlltoall)) return false;
    switch (it.operation) {
      case Operation::kGather:
      case Operation::kScatter:
        return false;
      case Operation::kReduce:
      case Operation::kAllreduce:
        return FitsDirect(*it.output_type);
      case Operation::kAlltoall:
        return !it.in_place;
      default:
        return true;
    }
  }
  bool MayGoByMessages(const Invocation& it) const {
    const bool of_one = it.operation == Operation::kGather || it.operation == Operation::kScatter;
    return of_one && !self_->crowded() && !Always(it.operation);
  }

  // Inlined: a call less to come back by for whoever has been away for another rank's turn.
  [[gnu::always_inline]] int Go(const Invocation& it, Way way) {
    if (way == Way::kMessages) return by_messages_(it);
    Outcome outcome = Outcome::kElsewhere;
    if (way == Way::kDirect) {
      outcome = PerformDirect(it);
      if (self_->denied()) reaches_ = false;
    }
    const bool streams = way == Way::kStreamed;
    const bool streams_output =
        way == Way::kStreamedOutput || (streams && IsBeyondCaches(it.operation, BytesOf(it)));
    self_->set_stores(StoresOf(streams), StoresOf(streams_output));
    if (outcome == Outcome::kElsewhere) outcome = Perform(it) ? Outcome::kDone : Outcome::kDied;
    return Said(outcome == Outcome::kDone);
  }

  // Members meet before and after. Whoever was the first to begin knows how long it took, which is
  // not the same member each time where they share CPUs.
  [[gnu::noinline]] int Try(const Invocation& it, const Ways& ways, Trial& trial) {
    using Clock = std::chrono::steady_clock;
    if (!Barrier(*self_)) return WhyNotDone();
    const Way way = ways.all[trial.way()];
    const Clock::time_point begin = Clock::now();
    const int error = Go(it, way);
    if (!Barrier(*self_)) return WhyNotDone();
    const std::int64_t mine = std::chrono::nanoseconds(Clock::now() - begin).count();
    std::int64_t longest = 0;
    const Reduction max{&mine, &longest, 1, FindDatatype(MPI_INT64_T), datatype::FindOp(MPI_MAX)};
    if (!Allreduce(*self_, max)) return WhyNotDone();
    trial.Took(Weigh(way, self_->crowded(), longest));
    if (!trial.trying() && comm_.rank == 0)
      Log(lamina::Level::kDebug, "board", "%s of %lld bytes, %d ranks, by %s; weighed:%s",
          Name(it.operation), static_cast<long long>(BytesOf(it)), comm_.size,
          Name(ways.all[trial.way()]), Weights(ways, trial).c_str());
    return error;
  }

  Trial& TrialOf(Operation operation, std::int64_t bytes, std::size_t ways) {
    const Kind kind{operation, MagnitudeOf(bytes), ways};
    for (auto& [known, trial] : trials_)
      if (known == kind) return trial;
    return trials_.emplace_back(kind, Trial(ways, PaceOf(operation, bytes))).second;
  }
  Trial::Pace PaceOf(Operation operation, std::int64_t bytes) const {
    const std::uint32_t before = params_.trial_before_calls, calls = params_.trial_calls;
    if (IsLong(operation, bytes))
      return {std::min(before, kCallsBeforeOfLong), kTriesInVainOfLong, calls};
    return {before, kTriesInVain, calls};
  }

  // All members come here in the same call. MPI_SUCCESS also where there is no board.
  int Open() {
    Invitation invitation;
    std::unique_ptr<Board> board;
    if (own_ == 0 && size() > 1) {
      Result<std::unique_ptr<Board>> made = Board::Create(size(), params_.area_bytes);
      board = Keep(std::move(made));
      if (board != nullptr) invitation = board->invitation();
      invitation.crowded = p2p::TheEngine().policy().spin_polls == 0;
    }
    if (const int error = Tell(&invitation); error != MPI_SUCCESS) return error;
    if (own_ != 0 && invitation.token != 0) board = Keep(Board::Open(invitation));
    if (board != nullptr) {
      token_ = invitation.token;
      board->member(own_).pid.store(getpid());
      board->member(own_).probe.store(AddressOf(&token_));
    }
    int all = board != nullptr || size() == 1;
    if (const int error = Agree(&all); error != MPI_SUCCESS) return error;
    if (all == 0) {
      operations = 0;
      return MPI_SUCCESS;
    }
    opened_ = true;
    if (board == nullptr) return MPI_SUCCESS;
    board->CloseInvitation();
    board_ = std::move(board);
    self_ = std::make_unique<Participant>(board_.get(), own_, invitation.crowded != 0, &patience_);
    return across_ ? MPI_SUCCESS : Said(LookAround());
  }

  // Can everybody reach the memory of everybody? Each tries its neighbour.
  bool LookAround() {
    const Rank next = (own_ + 1) % size();
    const Member& neighbour = board_->member(next);
    int mine = params_.single_copy != "never" &&
               CanReach(neighbour.pid.load(), neighbour.probe.load(), board_->invitation().token);
    int all = 0;
    const Reduction both{&mine, &all, 1, FindDatatype(MPI_INT), datatype::FindOp(MPI_MIN)};
    if (!Allreduce(*self_, both)) return false;
    reaches_ = all != 0;
    return true;
  }

  static std::unique_ptr<Board> Keep(Result<std::unique_ptr<Board>> made) {
    if (made.ok()) return *std::move(made);
    Log(lamina::Level::kInfo, "board", "collectives of a communicator go by messages: %s",
        std::string(made.status().message()).c_str());
    return nullptr;
  }

  // The first member's to the others.
  int Tell(Invitation* invitation) {
    const Route route = Route::Next(&comm_);
    const Buffer data{invitation, sizeof *invitation, FindDatatype(MPI_BYTE)};
    if (own_ != 0) return p2p::Receive(route.To(members_.front()), data, MPI_STATUS_IGNORE);
    int first_error = MPI_SUCCESS;
    for (Rank member = 1; member < size(); ++member) {
      const int error = p2p::Send(route.To(members_[static_cast<std::size_t>(member)]), data,
                                  core::Request::Mode::kStandard);
      if (first_error == MPI_SUCCESS) first_error = error;
    }
    return first_error;
  }

  int Agree(int* all) {
    Invocation it;
    it.operation = Operation::kAllreduce;
    it.comm = &comm_;
    it.in_place = true;
    it.output = all;
    it.input_count = it.output_count = 1;
    it.input_type = it.output_type = FindDatatype(MPI_INT);
    it.op = datatype::FindOp(MPI_MIN);
    return by_messages_(it);
  }

  bool Perform(const Invocation& it) {
    Participant& self = *self_;
    const Blocks in = Into(it);
    const Blocks out = OutOf(it);
    switch (it.operation) {
      case Operation::kBarrier:
        return Barrier(self);
      case Operation::kBcast:
        return Bcast(self, it.root, in.first);
      case Operation::kAllgather:
        return Allgather(self, OwnOf(it), in);
      case Operation::kGather:
        return Gather(self, it.root, OwnOf(it), in);
      case Operation::kScatter:
        return Scatter(self, it.root, out, it.in_place ? out.At(comm_.rank) : in.At(0));
      case Operation::kAlltoall:
        return Alltoall(self, it.in_place ? in : out, in);
      case Operation::kReduce:
        return Reduce(self, it.root, ReductionOf(it));
      default:
        return Allreduce(self, ReductionOf(it));
    }
  }

  Outcome PerformDirect(const Invocation& it) {
    switch (it.operation) {
      case Operation::kBcast:
        return BcastDirect(*self_, it.root, Into(it).first);
      case Operation::kAllgather:
        return AllgatherDirect(*self_, OwnOf(it), Into(it));
      case Operation::kAlltoall:
        return AlltoallDirect(*self_, OutOf(it), Into(it));
      case Operation::kReduce:
        return ReduceDirect(*self_, it.root, ReductionOf(it));
      default:
        return ReduceDirect(*self_, -1, ReductionOf(it));
    }
  }

  static Blocks Into(const Invocation& it) {
    return {{it.output, it.output_count, it.output_type}};
  }
  static Blocks OutOf(const Invocation& it) {
    return {{const_cast<void*>(it.input), it.input_count, it.input_type}};
  }
  // What this member contributes.
  Buffer OwnOf(const Invocation& it) const {
    return it.in_place ? Into(it).At(comm_.rank) : OutOf(it).first;
  }
  Reduction ReductionOf(const Invocation& it) const {
    const bool has_result = it.operation == Operation::kAllreduce || comm_.rank == it.root;
    return {it.in_place ? it.output : it.input, has_result ? it.output : nullptr, it.input_count,
            it.output_type, it.op};
  }

  core::Comm& comm_;
  const Params& params_;
  const ByMessages by_messages_;
  bool across_ = false;        // the communicator has members on other nodes
  std::vector<Rank> members_;  // those on this node
  Rank own_ = 0;               // index of this rank among them
  Rank largest_ = 0;           // number of members on any node, at most
  std::uint32_t always_ = 0;   // operations that are forced here, as bits
  std::uint32_t calls_ = 0;
  EnginePatience patience_;
  std::uint64_t token_ = 0;  // what others read of this member's memory, to try
  bool reaches_ = false;     // all members can reach each other's memory
  std::deque<std::pair<Kind, Trial>> trials_;
  bool opened_ = false;                // all that need a board have one
  std::unique_ptr<Board> board_;       // null where no other member is on this node
  std::unique_ptr<Participant> self_;  // likewise
};

class Nothing final : public Collective {
 public:
  std::span<const Algorithm* const> Algorithms() const override { return {}; }
};

component::Offer Query(const Context&) {
  return {1,
          "blocking barrier, bcast, gather, scatter, allgather, alltoall, reduce and allreduce "
          "in memory shared by the ranks of a node, beside the plans of others"};
}

Result<std::unique_ptr<Collective>> Make(const Context&) {
  return std::unique_ptr<Collective>(std::make_unique<Nothing>());
}

std::vector<param::Row> Rows(const param::Settings& settings) {
  return param::Rows<Params>(settings, kFields);
}

}  // namespace

void Consider(Table* table, core::Comm* comm, ByMessages by_messages) {
  table->beside = std::make_unique<Circle>(comm, table, by_messages);
}

int Run(Table& table, const Invocation& invocation) {
  return static_cast<Circle&>(*table.beside).Run(invocation);
}

int Meet(Table& table, const Step& step, const Buffer& from, const Buffer& to,
         const datatype::Op* op) {
  return static_cast<Circle&>(*table.beside).Meet(step, from, to, op);
}

Component Describe() { return {{kName, kVersion, "built in"}, Query, Make, Rows}; }

}  // namespace lamina::collective::board
