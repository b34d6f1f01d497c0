// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/board/opening.h"

#include <unistd.h>

#include <string>
#include <utility>

#include "collectives/board/memory.h"
#include "collectives/board/operations.h"
#include "collectives/call/route.h"
#include "runtime/base/log.h"
#include "runtime/core/request.h"
#include "runtime/p2p/p2p.h"

namespace lamina::collective::board {
namespace {

using datatype::FindDatatype;

// Blocking messages of one value. The first error is remembered; the messages that follow are sent
// and received all the same, so that no rank waits for ever.
class Exchange {
 public:
  explicit Exchange(core::Comm* comm) : route_(Route::Next(comm)) {}
  int error_class() const { return error_class_; }

  template <class Value>
  void Send(Rank rank, const Value& value) {
    const Buffer data{const_cast<Value*>(&value), sizeof value, FindDatatype(MPI_BYTE)};
    Note(p2p::Send(route_.To(rank), data, core::Request::Mode::kStandard));
  }
  template <class Value>
  void Receive(Rank rank, Value* value) {
    const Buffer data{value, sizeof *value, FindDatatype(MPI_BYTE)};
    Note(p2p::Receive(route_.To(rank), data, MPI_STATUS_IGNORE));
  }

 private:
  void Note(int error_class) {
    if (error_class_ == MPI_SUCCESS) error_class_ = error_class;
  }

  const Route route_;
  int error_class_ = MPI_SUCCESS;
};

// The first member's invitation goes to all others.
int Spread(core::Comm* comm, const Members& members, Invitation* invitation) {
  Exchange exchange(comm);
  if (members.own() != 0) exchange.Receive(members.RankOf(0), invitation);
  for (Rank member = 1; members.own() == 0 && member < members.size(); ++member)
    exchange.Send(members.RankOf(member), *invitation);
  return exchange.error_class();
}

// `*all` becomes true on every rank if it was on every rank. The answers go up a binomial tree, in
// which rank r hears of r + 1, r + 2, r + 4, ... and tells the rank that has its lowest bit
// cleared; the result comes down again.
int Agree(core::Comm* comm, bool* all) {
  Exchange exchange(comm);
  const Rank rank = comm->rank;
  const auto is_child = [&](Rank step) { return (rank & step) == 0 && rank + step < comm->size; };
  Rank step = 1;
  for (; step < comm->size && (rank & step) == 0; step *= 2) {
    bool its = false;
    if (is_child(step)) exchange.Receive(rank + step, &its);
    if (is_child(step)) *all = *all && its;
  }
  if (rank != 0) {
    exchange.Send(rank - step, *all);
    exchange.Receive(rank - step, all);
  }
  for (step /= 2; step > 0; step /= 2)
    if (is_child(step)) exchange.Send(rank + step, *all);
  return exchange.error_class();
}

std::unique_ptr<Board> BoardOrReason(Result<std::unique_ptr<Board>> board) {
  if (board.ok()) return *std::move(board);
  Log(lamina::Level::kInfo, "board", "collectives of a communicator go by messages: %s",
      std::string(board.status().message()).c_str());
  return nullptr;
}

}  // namespace

Opening OpenBoards(core::Comm* comm, const Members& members, const Params& params, Sharing sharing,
                   NodeMemory* node, BoardWaiter* waiter) {
  Seat seat;
  Invitation invitation;
  if (members.own() == 0 && members.size() > 1) {
    seat.board = BoardOrReason(Board::Create(members.size(), params.area_bytes, node));
    if (seat.board != nullptr) invitation = seat.board->invitation();
    invitation.sharing = sharing;
  }
  if (const int error = Spread(comm, members, &invitation); error != MPI_SUCCESS)
    return {Opened::kFailed, error, {}};
  if (members.own() != 0 && invitation.token != 0)
    seat.board = BoardOrReason(Board::Open(invitation, node));
  if (seat.board != nullptr) {
    Member& own = seat.board->member(members.own());
    own.pid.store(getpid());
    own.probe.store(AddressOf(&seat.board->invitation().token));
  }
  bool all = seat.board != nullptr || members.size() == 1;
  if (const int error = Agree(comm, &all); error != MPI_SUCCESS)
    return {Opened::kFailed, error, {}};
  if (!all) return {Opened::kNo, MPI_SUCCESS, {}};
  if (seat.board != nullptr) {
    seat.board->CloseInvitation();
    seat.participant =
        std::make_unique<Participant>(seat.board.get(), members.own(), invitation.sharing, waiter);
  }
  return {Opened::kYes, MPI_SUCCESS, std::move(seat)};
}

bool TryReach(const Seat& seat, const Params& params, bool* reach) {
  Participant& self = *seat.participant;
  const Member& neighbour = seat.board->member((self.rank() + 1) % self.ranks());
  const int mine =
      params.single_copy != "never" &&
      CanReach(neighbour.pid.load(), neighbour.probe.load(), seat.board->invitation().token);
  int all = 0;
  const Reduction both{&mine, &all, 1, FindDatatype(MPI_INT), datatype::FindOp(MPI_MIN)};
  if (!Allreduce(self, both)) return false;
  *reach = all != 0;
  return true;
}

}  // namespace lamina::collective::board
