// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/board/opening.h"

#include <unistd.h>

#include <algorithm>
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

// `*all` becomes the worst opinion of all ranks, on every rank. The answers go up a binomial tree,
// in which rank r hears of r + 1, r + 2, r + 4, ... and tells the rank that has its lowest bit
// cleared; the result comes down again. A rank that hears nothing says that it has failed.
void Agree(core::Comm* comm, Opening* all) {
  Exchange exchange(comm);
  const auto receive = [&](Rank from) {
    Opened its = Opened::kFailed;
    exchange.Receive(from, &its);
    return exchange.error_class() == MPI_SUCCESS ? its : Opened::kFailed;
  };
  const Rank rank = comm->rank;
  const auto is_child = [&](Rank step) { return (rank & step) == 0 && rank + step < comm->size; };
  Rank step = 1;
  for (; step < comm->size && (rank & step) == 0; step *= 2)
    if (is_child(step)) all->opened = std::max(all->opened, receive(rank + step));
  if (rank != 0) {
    exchange.Send(rank - step, all->opened);
    all->opened = std::max(all->opened, receive(rank - step));
  }
  for (step /= 2; step > 0; step /= 2)
    if (is_child(step)) exchange.Send(rank + step, all->opened);
  if (exchange.error_class() != MPI_SUCCESS) all->opened = Opened::kFailed;
  if (all->error_class == MPI_SUCCESS) all->error_class = exchange.error_class();
  if (all->opened == Opened::kFailed && all->error_class == MPI_SUCCESS)
    all->error_class = MPI_ERR_PROC_ABORTED;  // others know what has failed
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
  Opening opening{Opened::kYes, Spread(comm, members, &invitation), {}};
  const bool invited = opening.error_class == MPI_SUCCESS;
  if (invited && members.own() != 0 && invitation.token != 0)
    seat.board = BoardOrReason(Board::Open(invitation, node));
  if (seat.board != nullptr) {
    Member& own = seat.board->member(members.own());
    own.pid.store(getpid());
    own.probe.store(AddressOf(&seat.board->invitation().token));
  }
  if (seat.board == nullptr && members.size() > 1) opening.opened = Opened::kNo;
  if (!invited) opening.opened = Opened::kFailed;
  Agree(comm, &opening);
  if (opening.opened != Opened::kYes) return opening;
  if (seat.board != nullptr) {
    seat.board->CloseInvitation();
    seat.participant =
        std::make_unique<Participant>(seat.board.get(), members.own(), invitation.sharing, waiter);
  }
  opening.seat = std::move(seat);
  return opening;
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
