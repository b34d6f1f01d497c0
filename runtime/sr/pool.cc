// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/sr/pool.h"

#include <cstdlib>
#include <new>

#include "runtime/base/agent_word.h"
#include "runtime/base/environment.h"

namespace lamina::sr {
namespace {

// So many cells are asked whether they are back when no other is free. More would cost a sender
// that is faster than its receivers more than malloc does.
constexpr std::size_t kAskedAtOnce = 8;
constexpr std::size_t kLine = 64;

}  // namespace

void Pool::Init(MPI_Comm comm, std::size_t usual_bytes, std::size_t bytes) {
  bytes -= bytes % kLine;  // so that the next pool is aligned
  int nodes = 0;
  PMPI_Comm_size(comm, &nodes);
  memory_.assign(static_cast<std::size_t>(nodes), nullptr);
  // Ranks that share memory would have to be brought back on one host.
  if (Environment::OfThisProcess().Get(kAgentVariable)) return;
  if (PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &neighbours_) !=
      MPI_SUCCESS)
    return;
  MPI_Info info = MPI_INFO_NULL;
  PMPI_Info_create(&info);
  PMPI_Info_set(info, "no_locks", "true");
  const int error =
      PMPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, info, neighbours_, &own_, &window_);
  PMPI_Info_free(&info);
  if (error != MPI_SUCCESS) return;
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group near = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &all);
  PMPI_Comm_group(neighbours_, &near);
  int neighbours = 0;
  PMPI_Comm_size(neighbours_, &neighbours);
  for (int neighbour = 0; neighbour < neighbours; ++neighbour) {
    int node = 0;
    MPI_Aint size = 0;
    int unit = 0;
    std::byte* base = nullptr;
    PMPI_Group_translate_ranks(near, 1, &neighbour, all, &node);
    PMPI_Win_shared_query(window_, neighbour, &size, &unit, &base);
    if (size > 0) memory_[static_cast<std::size_t>(node)] = base;
  }
  PMPI_Group_free(&all);
  PMPI_Group_free(&near);
  cell_bytes_ = (sizeof(Head) + usual_bytes + kLine - 1) / kLine * kLine;
  cells_max_ = bytes / cell_bytes_;
  room_ = cell_bytes_ - sizeof(Head);
}

void Pool::Free() {
  if (window_ != MPI_WIN_NULL) PMPI_Win_free(&window_);
  if (neighbours_ != MPI_COMM_NULL) PMPI_Comm_free(&neighbours_);
}

Head* Pool::Allocate(std::size_t bytes) {
  if (bytes <= room_) {
    if (free_.empty()) FindCells();
    if (!free_.empty()) {
      Head* const cell = free_.back();
      free_.pop_back();
      cell->bytes = bytes;
      return cell;
    }
  }
  auto* const head = static_cast<Head*>(
      bytes > SIZE_MAX - sizeof(Head) ? nullptr : std::malloc(sizeof(Head) + bytes));
  if (head == nullptr) return nullptr;
  head->bytes = bytes;
  head->is_cell = false;
  return head;
}

void Pool::Release(Head* head) {
  if (head->is_cell)
    free_.push_back(head);
  else
    std::free(head);
}

// Cells are made one at a time, because memory that nobody touches costs nothing.
void Pool::FindCells() {
  for (std::size_t asked = 0; asked < kAskedAtOnce && asked < cells_; ++asked) {
    Head* const cell = CellAt(next_);
    next_ = next_ + 1 < cells_ ? next_ + 1 : 0;
    if (__atomic_load_n(&cell->returned, __ATOMIC_ACQUIRE) == 0) continue;
    cell->returned = 0;
    free_.push_back(cell);
  }
  if (!free_.empty() || cells_ == cells_max_) return;
  free_.push_back(new (CellAt(cells_)) Head{});
  free_.back()->is_cell = true;
  ++cells_;
}

}  // namespace lamina::sr
