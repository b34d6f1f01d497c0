/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   the names that MPI-3.0 removed still serve old programs and do what their successors do
 *         (MPI-2.2, chapters 4, 6 and 8; MPI-5.0, section 18.2).
 * Method: each once, compared with its successor.
 */
#include "test/mpi/check.h"

static int handled;
static void Handle(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++handled;
}

int main(int argc, char** argv) {
  struct {
    int number;
    double real;
  } pair;
  int lengths[2] = {1, 1}, size = 0;
  MPI_Aint place = 0, same = 0, extent = 0, lower = -1, upper = -1, places[2];
  MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, type;
  MPI_Errhandler handler, got;
  MPI_Init(&argc, &argv);

  MPI_Address(&pair, &place);
  MPI_Get_address(&pair, &same);
  EXPECT(place == same);
  MPI_Address(&pair.number, &places[0]);
  MPI_Address(&pair.real, &places[1]);
  places[1] -= places[0];
  places[0] = 0;
  MPI_Type_struct(2, lengths, places, types, &type);
  MPI_Type_extent(type, &extent);
  EXPECT(extent == sizeof pair);
  MPI_Type_lb(type, &lower);
  MPI_Type_ub(type, &upper);
  EXPECT(lower == 0 && upper == sizeof pair);
  MPI_Type_free(&type);
  MPI_Type_hvector(2, 1, 24, MPI_INT, &type);
  MPI_Type_extent(type, &extent);
  EXPECT(extent == 28);
  MPI_Type_free(&type);
  places[0] = 8;
  places[1] = 0;
  MPI_Type_hindexed(2, lengths, places, MPI_INT, &type);
  MPI_Type_extent(type, &extent);
  EXPECT(extent == 12);
  MPI_Type_free(&type);

  EXPECT(MPI_Errhandler_create(Handle, &handler) == MPI_SUCCESS);
  MPI_Errhandler_set(MPI_COMM_WORLD, handler);
  MPI_Errhandler_get(MPI_COMM_WORLD, &got);
  EXPECT(got == handler);
  EXPECT(ClassOf(MPI_Send(&size, 1, MPI_INT, 0, -5, MPI_COMM_WORLD)) == MPI_ERR_TAG);
  EXPECT(handled == 1);
  MPI_Errhandler_free(&got);
  MPI_Errhandler_free(&handler);
  return Passed();
}
