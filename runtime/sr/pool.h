// SPDX-License-Identifier: BSD-3-Clause
// Memory of messages. A message of the usual size lies in a cell of memory that the other processes
// of this node map, so they copy it out of there themselves; any other lies in memory of malloc.
//
// Threads: one at a time. A cell's `returned` alone belongs to its receiver while it is lent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

namespace lamina::sr {

// What travels instead of a message's bytes.
struct Reference {
  std::uint64_t bytes;
  std::int64_t offset;   // of the Head in its sender's pool; -1: the bytes are sent, too
  std::uint64_t serial;  // their tag then
};

// What lies in front of the memory that the caller gets.
struct alignas(std::max_align_t) Head {
  std::size_t bytes;
  bool is_cell;
  std::uint32_t returned;  // by atomic accesses: the receiver needs it no more
  Reference reference;     // which is sent from here, if any is
};
inline Head* HeadOf(void* buffer) { return static_cast<Head*>(buffer) - 1; }

class Pool {
 public:
  // Collective over `comm`, whose errors it returns to nobody: there is no cell then.
  // `usual_bytes`: what a cell has room for; `bytes`: of all cells.
  void Init(MPI_Comm comm, std::size_t usual_bytes, std::size_t bytes);
  void Free();

  // Returns null if there is no memory.
  Head* Allocate(std::size_t bytes);
  void Release(Head* head);
  // True if this process can reach the cells of `node`, and `node` its.
  bool Maps(int node) const { return memory_[static_cast<std::size_t>(node)] != nullptr; }
  // Both are for lending a cell of this process, which comes back when its receiver has returned
  // it.
  std::int64_t OffsetOf(const Head* cell) const {
    return reinterpret_cast<const std::byte*>(cell) - own_;
  }
  Head* CellOf(int node, std::int64_t offset) const {
    return reinterpret_cast<Head*>(memory_[static_cast<std::size_t>(node)] + offset);
  }

 private:
  void FindCells();
  Head* CellAt(std::size_t number) const {
    return reinterpret_cast<Head*>(own_ + number * cell_bytes_);
  }

  MPI_Comm neighbours_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<std::byte*> memory_;  // of each node, null if it is elsewhere
  std::byte* own_ = nullptr;
  std::vector<Head*> free_;
  std::size_t cells_ = 0;  // that there are by now
  std::size_t cells_max_ = 0;
  std::size_t cell_bytes_ = 0;
  std::size_t room_ = 0;  // in a cell
  std::size_t next_ = 0;  // cell to ask whether it is back
};

}  // namespace lamina::sr
