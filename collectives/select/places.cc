// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/select/places.h"

#include "collectives/call/route.h"
#include "runtime/base/place.h"
#include "runtime/core/request.h"
#include "runtime/p2p/p2p.h"

namespace lamina::collective {

int TellPlaces(core::Comm* comm, std::vector<std::uint64_t>* places) {
  const Route route = Route::Next(comm);
  places->assign(static_cast<std::size_t>(comm->size), 0);
  std::uint64_t own = PlaceNumber();
  const auto bytes = [](std::uint64_t* first, std::size_t count) {
    return datatype::Buffer{first, static_cast<std::int64_t>(count * sizeof *first),
                            datatype::FindDatatype(MPI_BYTE)};
  };
  const datatype::Buffer all = bytes(places->data(), places->size());
  int first_error = MPI_SUCCESS;
  // After an error the other messages are sent and received all the same, so that nobody waits. No
  // place is 0: whoever hears that it is at 0 knows that rank 0 has not heard of all.
  const auto note = [&first_error](int error) {
    if (first_error == MPI_SUCCESS) first_error = error;
  };
  constexpr auto kStandard = core::Request::Mode::kStandard;
  if (comm->rank != 0) {
    note(p2p::Send(route.To(0), bytes(&own, 1), kStandard));
    note(p2p::Receive(route.To(0), all, MPI_STATUS_IGNORE));
    if ((*places)[static_cast<std::size_t>(comm->rank)] == 0) note(MPI_ERR_PROC_ABORTED);
    return first_error;
  }
  (*places)[0] = own;
  for (Rank rank = 1; rank < comm->size; ++rank)
    note(p2p::Receive(route.To(rank), bytes(&(*places)[static_cast<std::size_t>(rank)], 1),
                      MPI_STATUS_IGNORE));
  if (first_error != MPI_SUCCESS) places->assign(places->size(), 0);
  for (Rank rank = 1; rank < comm->size; ++rank) note(p2p::Send(route.To(rank), all, kStandard));
  return first_error;
}

}  // namespace lamina::collective
