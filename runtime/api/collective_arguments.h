// SPDX-License-Identifier: BSD-3-Clause
// This checks the arguments of a collective call and turns them into objects one after the other.
// The first wrong one is raised, naming itself and its value, and ends the checking.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "collectives/call/invocation.h"
#include "runtime/api/arguments.h"
#include "runtime/core/request.h"

namespace lamina::api {

class CollectiveArguments {
 public:
  CollectiveArguments(const Entry& entry, collective::Operation operation, MPI_Comm comm);
  CollectiveArguments(const CollectiveArguments&) = delete;
  CollectiveArguments& operator=(const CollectiveArguments&) = delete;

  void Root(int root);
  // This is the buffer that bcast sends at the root and receives elsewhere.
  void Buffer(void* buffer, MPI_Count count, MPI_Datatype datatype);
  // These are for operations that move data. "Send" and "receive" are the names of the arguments; a
  // side that is not significant on this rank is not looked at.
  void Send(const void* buffer, MPI_Count count, MPI_Datatype datatype);
  void Receive(void* buffer, MPI_Count count, MPI_Datatype datatype);
  // This is for reductions of `count` elements, or of `count` for each rank in
  // reduce_scatter_block.
  void Reduction(const void* send, void* receive, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op);
  // Carry the call out, blocking, non-blocking or persistent, or return the error that was raised.
  int Run();
  // The same, and what it returns is no error of the communicator.
  int RunUnraised();
  int Start(MPI_Request* request);
  int Init(MPI_Info info, MPI_Request* request);

 protected:
  // Returns how many blocks this side has: one per rank, per rank of the other group, or per
  // neighbour.
  std::size_t BlockCount(Side side) const;
  bool AtRoot() const { return it_.comm->rank == it_.root; }
  // True if this side means anything on this rank.
  bool Significant(Side side) const;
  // True if this side is to be looked at: significant here and not MPI_IN_PLACE.
  bool Looks(Side side, const void* buffer);
  // Returns how many bytes the program gives to the call or gets from it.
  std::uint64_t BytesOf(Side side) const;
  [[gnu::cold]] void NoteBytes() const;
  // Carries the call out and tells the profile of it.
  template <class Carry>
  [[gnu::noinline]] int RunCounted(const Carry& carry) const;
  int Make(int (*make)(const collective::Invocation&, core::Request**), MPI_Request* request);
  template <class T>
  bool Missing(const T* values, std::size_t size, const char* what) {
    if (values != nullptr || size == 0) return false;
    Fail(MPI_ERR_ARG, what, "is a null pointer");
    return true;
  }
  void ReductionBuffers(const void* send, void* receive, bool empty);
  void FindOperation(MPI_Op op, MPI_Datatype datatype);
  const datatype::Datatype* FindType(MPI_Datatype datatype, const char* argument);
  void CheckCount(MPI_Count count, const char* argument);
  void CheckCounts(std::span<const std::int64_t> counts, const char* argument);
  void CheckBuffer(const void* buffer, const datatype::Datatype* type, bool empty,
                   const char* argument);
  bool IsEmpty(Side side, const void* buffer, MPI_Count count) const;
  void CheckApart();
  void CheckOwnBlock();
  [[gnu::cold]] void Fail(int error_class, const char* argument, const char* what);

  const Entry& entry_;
  int error_ = MPI_SUCCESS;
  collective::Invocation it_;
};

// This is an array of counts or displacements in the width that collectives/ uses: the user's own
// where it has that width already, else a copy. The copy allocates only if there are many ranks.
class Widened {
 public:
  std::span<const std::int64_t> From(const std::int64_t* values, std::size_t size) {
    return {values, size};
  }
  std::span<const std::int64_t> From(const int* values, std::size_t size);

 private:
  std::array<std::int64_t, 64> few_;
  std::vector<std::int64_t> many_;
};

// These are the operations whose blocks are given by arrays: counts and displacements, and a
// datatype for all or, in the w-forms, an array of datatypes.
class BlockArguments : public CollectiveArguments {
 public:
  using CollectiveArguments::CollectiveArguments;

  template <class Count, class Displacement, class Types>
  void SendBlocks(const void* buffer, const Count* counts, const Displacement* displacements,
                  Types types) {
    if (!Looks(Side::kSend, buffer)) return;
    const std::size_t size = BlockCount(Side::kSend);
    if (Missing(counts, size, "sendcounts") ||
        Missing(displacements, size, "displacements of sendbuf"))
      return;
    Take(Side::kSend, buffer, send_counts_.From(counts, size),
         send_displacements_.From(displacements, size), types);
  }
  template <class Count, class Displacement, class Types>
  void ReceiveBlocks(void* buffer, const Count* counts, const Displacement* displacements,
                     Types types) {
    if (!Looks(Side::kReceive, buffer)) return;
    const std::size_t size = BlockCount(Side::kReceive);
    if (Missing(counts, size, "recvcounts") ||
        Missing(displacements, size, "displacements of recvbuf"))
      return;
    Take(Side::kReceive, buffer, receive_counts_.From(counts, size),
         receive_displacements_.From(displacements, size), types);
  }
  // This is for reduce_scatter: a block of the result for each rank of the own group.
  template <class Count>
  void ScatteredReduction(const void* send, void* receive, const Count* counts,
                          MPI_Datatype datatype, MPI_Op op) {
    if (error_ != MPI_SUCCESS) return;
    const std::size_t size = static_cast<std::size_t>(it_.comm->size);
    if (Missing(counts, size, "recvcounts")) return;
    Scattered(send, receive, receive_counts_.From(counts, size), datatype, op);
  }

 private:
  void Take(Side side, const void* buffer, std::span<const std::int64_t> counts,
            std::span<const std::int64_t> displacements, MPI_Datatype datatype);
  void Take(Side side, const void* buffer, std::span<const std::int64_t> counts,
            std::span<const std::int64_t> displacements, const MPI_Datatype* datatypes);
  template <class TypeOf>
  void CheckBlocks(Side side, const void* buffer, std::span<const std::int64_t> counts,
                   std::span<const std::int64_t> displacements, TypeOf type_of);
  void Keep(Side side, const void* buffer, std::span<const std::int64_t> counts,
            std::span<const std::int64_t> displacements);
  void Scattered(const void* send, void* receive, std::span<const std::int64_t> counts,
                 MPI_Datatype datatype, MPI_Op op);

  Widened send_counts_, send_displacements_, receive_counts_, receive_displacements_;
  std::vector<const datatype::Datatype*> send_types_, receive_types_;
};

}  // namespace lamina::api
