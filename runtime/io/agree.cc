// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/io/agree.h"

#include <climits>
#include <cstdio>
#include <cstring>
#include <string>

#include "collectives/exec/exec.h"
#include "runtime/core/process.h"
#include "runtime/datatype/op.h"

namespace lamina::io {
namespace {

// Ranks without a failure have a word above that of every rank with one.
constexpr std::int64_t kNone = INT64_MAX;

Failure Meet(const collective::Invocation& invocation) {
  const int error = collective::Run(invocation);
  if (error == MPI_SUCCESS) return {};
  return Fail(error, "the ranks of the file could not agree");
}

Failure Combine(core::Comm* comm, collective::Operation operation, MPI_Op op, std::int64_t mine,
                std::int64_t* result) {
  collective::Invocation call;
  call.operation = operation;
  call.comm = comm;
  call.input = &mine;
  call.output = result;
  call.input_count = call.output_count = 1;
  call.input_type = call.output_type = datatype::FindDatatype(MPI_INT64_T);
  call.op = datatype::FindOp(op);
  return Meet(call);
}

// Gives everybody the bytes of `root`.
Failure Tell(core::Comm* comm, Rank root, std::span<std::byte> bytes) {
  collective::Invocation call;
  call.operation = collective::Operation::kBcast;
  call.comm = comm;
  call.root = root;
  call.output = bytes.data();
  call.output_count = static_cast<std::int64_t>(bytes.size());
  call.output_type = datatype::FindDatatype(MPI_BYTE);
  return Meet(call);
}

collective::Invocation GatherCall(core::Comm* comm, std::span<const std::byte> mine,
                                  std::span<std::byte> all) {
  collective::Invocation call;
  call.operation = collective::Operation::kAllgather;
  call.comm = comm;
  call.input = mine.data();
  call.output = all.data();
  call.input_count = call.output_count = static_cast<std::int64_t>(mine.size());
  call.input_type = call.output_type = datatype::FindDatatype(MPI_BYTE);
  return call;
}

}  // namespace

Verdict VerdictOf(const core::Comm& comm, const Failure& failure) {
  Verdict verdict;
  verdict.word = kNone;
  if (failure.ok()) return verdict;
  verdict.word = (static_cast<std::int64_t>(comm.rank) << 32) | failure.error_class;
  snprintf(verdict.text, sizeof verdict.text, "rank %d on %s: %s", comm.rank,
           core::process->identity.node.c_str(), failure.text.c_str());
  return verdict;
}

Failure ResultOf(const Verdict& verdict) {
  if (verdict.word == kNone) return {};
  return {static_cast<int>(verdict.word & INT_MAX), verdict.text};
}

Failure LostRank(int error) { return Fail(error, "a rank of the file is gone"); }

Failure Agree(core::Comm* comm, Failure mine) {
  if (comm->size == 1) return mine;
  Verdict verdict = VerdictOf(*comm, mine);
  const std::int64_t word = verdict.word;
  if (Failure failure =
          Combine(comm, collective::Operation::kAllreduce, MPI_MIN, word, &verdict.word);
      !failure.ok())
    return failure;
  if (verdict.word == kNone) return {};
  const auto rank = static_cast<Rank>(verdict.word >> 32);
  if (Failure failure = Tell(comm, rank, std::as_writable_bytes(std::span(verdict.text)));
      !failure.ok())
    return failure;
  return ResultOf(verdict);
}

Failure Share(core::Comm* comm, std::span<std::byte> bytes) {
  return comm->size == 1 ? Failure{} : Tell(comm, 0, bytes);
}

Failure AskAll(core::Comm* comm, bool mine, bool* any) {
  *any = mine;
  if (comm->size == 1) return {};
  std::int64_t most = 0;
  Failure failure = Combine(comm, collective::Operation::kAllreduce, MPI_MAX, mine ? 1 : 0, &most);
  *any = most != 0;
  return failure;
}

Failure SameAsFirst(core::Comm* comm, const char* what, std::int64_t mine) {
  std::int64_t theirs = mine;
  if (Failure failure = Share(comm, std::as_writable_bytes(std::span(&theirs, 1))); !failure.ok())
    return failure;
  if (theirs == mine) return {};
  return Fail(MPI_ERR_NOT_SAME, "%s is %lld, and %lld on rank 0", what,
              static_cast<long long>(mine), static_cast<long long>(theirs));
}

Failure Gather(core::Comm* comm, std::span<const std::byte> mine, std::span<std::byte> all) {
  return Meet(GatherCall(comm, mine, all));
}

Failure StartGather(core::Comm* comm, std::span<const std::byte> mine, std::span<std::byte> all,
                    core::Request** request) {
  const int error = collective::Start(GatherCall(comm, mine, all), request);
  return error == MPI_SUCCESS ? Failure{} : LostRank(error);
}

Failure AddUp(core::Comm* comm, std::int64_t mine, std::int64_t* below, std::int64_t* all) {
  *below = 0;
  *all = mine;
  if (comm->size == 1) return {};
  std::int64_t sum = 0;
  if (Failure failure = Combine(comm, collective::Operation::kScan, MPI_SUM, mine, &sum);
      !failure.ok())
    return failure;
  *below = sum - mine;
  *all = sum;
  return Tell(comm, comm->size - 1, std::as_writable_bytes(std::span(all, 1)));
}

}  // namespace lamina::io
