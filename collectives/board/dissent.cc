// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/board/dissent.h"

#include <mpi.h>

#include "runtime/base/text.h"

namespace lamina::collective::board {
namespace {

// "bcast of 64 bytes from rank 3"
std::string CallInWords(Terms terms) {
  const Operation operation = OperationOf(terms);
  std::string text = Name(operation);
  if (operation != Operation::kBarrier)
    text += Format(" of %lld bytes", static_cast<long long>(LengthOf(terms)));
  const bool spreads = operation == Operation::kBcast || operation == Operation::kScatter;
  if (spreads || operation == Operation::kGather || operation == Operation::kReduce)
    text += Format(" %s rank %d", spreads ? "from" : "to", RootOf(terms));
  return text;
}

std::string MemberInWords(const Members& members, Rank member, Terms terms) {
  return Format("rank %d is in %s", members.RankOf(member), CallInWords(terms).c_str());
}

int ErrorClassOf(const Contradiction& found) {
  if (OperationOf(found.terms) != OperationOf(found.others)) return MPI_ERR_OTHER;
  return RootOf(found.terms) != RootOf(found.others) ? MPI_ERR_ROOT : MPI_ERR_TRUNCATE;
}

}  // namespace

Failure FailureOf(const Contradiction* contradiction, const Members& members) {
  if (contradiction == nullptr) return {MPI_ERR_PROC_ABORTED, "", true};
  const Contradiction& found = *contradiction;
  return {ErrorClassOf(found),
          "the ranks do not make the same calls on this communicator: " +
              MemberInWords(members, found.rank, found.terms) + ", " +
              MemberInWords(members, found.other, found.others),
          found.rank == members.own()};
}

}  // namespace lamina::collective::board
