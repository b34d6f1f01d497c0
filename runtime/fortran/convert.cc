// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/fortran/convert.h"

#include <cstring>

MPI_Fint mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_buffer_automatic_;
MPI_Fint mpi_fortran_unweighted_, mpi_fortran_weights_empty_;
MPI_Fint mpi_fortran_errcodes_ignore_;
MPI_Fint mpi_fortran_status_ignore_[MPI_F_STATUS_SIZE];
MPI_Fint mpi_fortran_statuses_ignore_[MPI_F_STATUS_SIZE];
MPI_F08_status mpi_f08_status_ignore_, mpi_f08_statuses_ignore_;
char mpi_fortran_argv_null_, mpi_fortran_argvs_null_;

namespace lamina::fortran {

namespace {

struct Neighbours {
  long long in, out;
};

Neighbours Of(MPI_Comm comm) {
  int size = 0;
  int inter = 0;
  int topology = MPI_UNDEFINED;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS) return {0, 0};
  if (inter == 0) PMPI_Topo_test(comm, &topology);
  if (topology == MPI_CART) {
    PMPI_Cartdim_get(comm, &size);
    return {2 * size, 2 * size};
  }
  if (topology == MPI_GRAPH) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Graph_neighbors_count(comm, rank, &size);
    return {size, size};
  }
  if (topology == MPI_DIST_GRAPH) {
    int in = 0;
    int out = 0;
    int weighted = 0;
    PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    return {in, out};
  }
  return {0, 0};
}

std::size_t LengthWithoutBlanks(const char* characters, std::size_t length) {
  while (length > 0 && characters[length - 1] == ' ') --length;
  return length;
}

}  // namespace

long long Processes(MPI_Comm comm) {
  int size = 0;
  int inter = 0;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS) return 0;
  if (inter != 0)
    PMPI_Comm_remote_size(comm, &size);
  else
    PMPI_Comm_size(comm, &size);
  return size;
}

long long Destinations(MPI_Comm comm) { return Of(comm).out; }
long long Sources(MPI_Comm comm) { return Of(comm).in; }

Text::Text(const char* characters, std::size_t length)
    : text_(characters, LengthWithoutBlanks(characters, length)) {}

Text& Text::TrimFront() {
  text_.erase(0, std::min(text_.find_first_not_of(' '), text_.size()));
  return *this;
}

void Room::Store(char* characters, std::size_t length) const {
  const std::size_t written = std::min(std::strlen(text_.c_str()), length);
  std::memcpy(characters, text_.data(), written);
  std::memset(characters + written, ' ', length - written);
}

Texts::Texts(const char* characters, std::size_t length, long long count, std::size_t stride) {
  const bool to_the_end = count >= 0;
  for (long long i = 0; !to_the_end || i < count; ++i, characters += stride) {
    const std::size_t used = LengthWithoutBlanks(characters, length);
    if (!to_the_end && used == 0) break;
    texts_.emplace_back(characters, used);
  }
  for (std::string& text : texts_) pointers_.push_back(text.data());
  pointers_.push_back(nullptr);
}

TextTable::TextTable(const char* characters, std::size_t length, int count) {
  rows_.reserve(static_cast<std::size_t>(std::max(count, 0)));
  for (int i = 0; i < count; ++i) {
    const char* first = characters + static_cast<std::size_t>(i) * length;
    rows_.emplace_back(first, length, -1, length * static_cast<std::size_t>(count));
    pointers_.push_back(rows_.back().data());
  }
  pointers_.push_back(nullptr);
}

bool AtRoot(MPI_Comm comm, int root) {
  int rank = -1;
  PMPI_Comm_rank(comm, &rank);
  return rank == root;
}

}  // namespace lamina::fortran
