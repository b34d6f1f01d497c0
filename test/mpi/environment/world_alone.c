/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   errors of calls without an object go to MPI_COMM_SELF's handler (MPI-5.0, section 9.3),
 * but if the application has set one on MPI_COMM_WORLD alone, as programs before MPI-4.0 did, they
 * go to that. Method: the same mistake with a handler on neither by choice, on the world alone, and
 * on both.
 */
#include "test/mpi/check.h"

static int of_world = 0, of_self = 0;
static void World(MPI_Comm* comm, int* code, ...) {
  of_world += *comm == MPI_COMM_WORLD && ClassOf(*code) == MPI_ERR_TYPE;
}
static void Self(MPI_Comm* comm, int* code, ...) {
  of_self += *comm == MPI_COMM_SELF && ClassOf(*code) == MPI_ERR_TYPE;
}

int main(int argc, char** argv) {
  MPI_Errhandler world, self;
  int bytes;
  MPI_Init(&argc, &argv);
  MPI_Comm_create_errhandler(World, &world);
  MPI_Comm_create_errhandler(Self, &self);

  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  EXPECT(ClassOf(MPI_Type_size(MPI_DATATYPE_NULL, &bytes)) == MPI_ERR_TYPE);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, world);
  MPI_Type_size(MPI_DATATYPE_NULL, &bytes);
  EXPECT(of_world == 1 && of_self == 0);

  MPI_Comm_set_errhandler(MPI_COMM_SELF, self);
  MPI_Type_size(MPI_DATATYPE_NULL, &bytes);
  EXPECT(of_world == 1 && of_self == 1);
  MPI_Errhandler_free(&world);
  MPI_Errhandler_free(&self);
  return Passed();
}
