// SPDX-License-Identifier: BSD-3-Clause
// How the members of a communicator get the context of a new one.
//
// Rank 0 of the parent makes a number that nobody else can make, and tells the others along a
// binomial tree. Agreeing on the maximum of everybody's next free number would be wrong: threads of
// one process that make communicators at the same time (MPI-5.0, section 11.6) could get the same
// number twice.
//
// A process that has met other jobs makes random numbers instead, with the highest bit set, which
// no number made by counting has. Even among ten thousand communicators two are alike only with
// improbable luck.
//
// Cost: ceil(log2 P) messages in a row.
#include <sys/random.h>

#include "runtime/base/check.h"
#include "runtime/p2p/engine.h"
#include "runtime/p2p/p2p.h"

namespace lamina::p2p {
namespace {

// A context consists of a peer, a count and, in the lowest bits, a plane (core::Comm). Counts start
// above the contexts of world, self and everybody.
constexpr int kCountShift = 2;
constexpr int kCountBits = 30;
constexpr int kPeerShift = kCountShift + kCountBits;
constexpr int kPeerBits = 23;
constexpr int kContextBits = 56;
constexpr std::uint32_t kFirstCount = 3;
constexpr int kTag = 0x7ffffff0;  // above the tags of collectives

}  // namespace

ContextId Contexts::Next() {
  if (spans_jobs_) {
    std::uint64_t word = 0;
    CHECK(getrandom(&word, sizeof word, 0) == sizeof word);
    constexpr std::uint64_t kSpanning = std::uint64_t{1} << (kContextBits - 1);
    return ContextId{kSpanning | (word & (kSpanning - 1) & ~(kPlanes - 1))};
  }
  const std::uint64_t count = kFirstCount + made_++;
  CHECK(count < (std::uint64_t{1} << kCountBits) && Index(self_) < (1u << kPeerBits));
  return ContextId{(static_cast<std::uint64_t>(Index(self_)) << kPeerShift) |
                   (count << kCountShift)};
}

ContextId NewContext() { return TheEngine().contexts().Next(); }

// No context is 0: whoever does not hear tells it to those who wait below it.
int AgreeContext(Comm* comm, ContextId* context) {
  std::uint64_t word = 0;
  if (comm->rank == 0) word = Index(NewContext());
  const Buffer data{&word, 1, datatype::FindDatatype(MPI_UINT64_T)};
  int mask = 1;
  while (mask < comm->size && (comm->rank & mask) == 0) mask <<= 1;
  int error = MPI_SUCCESS;
  if (comm->rank != 0) {
    error = Receive({comm, comm->CollectiveContext(), comm->rank - mask, kTag}, data,
                    MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) word = 0;
    if (error == MPI_SUCCESS && word == 0) error = MPI_ERR_PROC_ABORTED;
  }
  for (mask >>= 1; mask > 0; mask >>= 1) {
    if (comm->rank + mask >= comm->size) continue;
    const int sent = Send({comm, comm->CollectiveContext(), comm->rank + mask, kTag}, data,
                          Request::Mode::kStandard);
    if (error == MPI_SUCCESS) error = sent;
  }
  if (error == MPI_SUCCESS) *context = ContextId{word};
  return error;
}

}  // namespace lamina::p2p
