/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: with MPI_ERRORS_RETURN, MPI_Error_string names the call, the argument and its value; and
 * mistakes are found that others let pass.
 * (Ours alone: the standard leaves the text and most checks open.)
 */
#include "test/mpi/check.h"

int main(int argc, char** argv) {
  char text[MPI_MAX_ERROR_STRING];
  int value = 0, length, rank;
  int ranks[2] = {0, 0}, pair[2] = {0, 0};
  MPI_Request request;
  MPI_Datatype type;
  MPI_Group world, made;

  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Error_string(MPI_Send(&value, 1, MPI_INT, 0, -5, MPI_COMM_WORLD), text, &length);
  EXPECT(strstr(text, "MPI_ERR_TAG") && strstr(text, "MPI_Send") && strstr(text, "-5"));

  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Ibcast(pair, rank == 0 ? 2 : 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
  MPI_Error_string(MPI_Wait(&request, MPI_STATUS_IGNORE), text, &length);
  EXPECT(rank == 0 || (strstr(text, "MPI_Wait") && strstr(text, "of the ranks do not agree")));

  EXPECT(ClassOf(MPI_Comm_remote_size(MPI_COMM_WORLD, &value)) == MPI_ERR_COMM);
  MPI_Type_contiguous(2, MPI_INT, &type);
  EXPECT(ClassOf(MPI_Send(&value, 0, type, 0, 0, MPI_COMM_WORLD)) ==
         MPI_ERR_TYPE); /* not committed */
  MPI_Type_free(&type);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  EXPECT(ClassOf(MPI_Group_incl(world, 2, ranks, &made)) == MPI_ERR_RANK); /* twice the same */
  MPI_Group_free(&world);
  EXPECT(ClassOf(MPI_Comm_size((MPI_Comm)MPI_INT, &value)) ==
         MPI_ERR_COMM); /* another kind of handle */
  return Passed();
}
