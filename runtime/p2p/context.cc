// SPDX-License-Identifier: BSD-3-Clause
// Contexts for new communicators.
//
// Rank 0 of the parent makes a number that nobody else can make, its own peer number and a count,
// and tells the others along a binomial tree. So threads of one process that make communicators at
// the same time (MPI-5.0, section 11.6) cannot agree on the same number twice, which a maximum over
// everybody's next free number allows.
//
// Cost: ceil(log2 P) messages of 8 bytes in a row.
#include "runtime/base/check.h"
#include "runtime/p2p/engine.h"
#include "runtime/p2p/p2p.h"

namespace lamina::p2p {
namespace {

// word: peer (24 bits) | count (30 bits) | plane (2 bits). Planes: core::Comm. Peer 0 starts above
// world, self and everybody.
constexpr int kCountShift = 2;
constexpr int kPeerShift = 32;
constexpr std::uint32_t kFirstCount = 3;
constexpr int kTag = 0x7ffffff0;  // above those of collectives

}  // namespace

ContextId Contexts::Next() {
  const std::uint64_t count = kFirstCount + made_++;
  CHECK(count < (std::uint64_t{1} << 30) && Index(self_) < (1u << 24));
  return ContextId{(static_cast<std::uint64_t>(Index(self_)) << kPeerShift) |
                   (count << kCountShift)};
}

ContextId NewContext() { return TheEngine().contexts().Next(); }

int AgreeContext(Comm* comm, ContextId* context) {
  std::uint64_t word = 0;
  if (comm->rank == 0) word = Index(NewContext());
  const Buffer data{&word, 1, datatype::FindDatatype(MPI_UINT64_T)};
  int mask = 1;
  while (mask < comm->size && (comm->rank & mask) == 0) mask <<= 1;
  if (comm->rank != 0) {
    const int error = Receive({comm, comm->CollectiveContext(), comm->rank - mask, kTag}, data,
                              MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) return error;
  }
  for (mask >>= 1; mask > 0; mask >>= 1) {
    if (comm->rank + mask >= comm->size) continue;
    const int error = Send({comm, comm->CollectiveContext(), comm->rank + mask, kTag}, data,
                           Request::Mode::kStandard);
    if (error != MPI_SUCCESS) return error;
  }
  *context = ContextId{word};
  return MPI_SUCCESS;
}

}  // namespace lamina::p2p
