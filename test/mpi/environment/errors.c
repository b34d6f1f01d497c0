/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: a wrong argument gives the right error class through the communicator's error handler, and
 * the program can go on (MPI-5.0, sections 9.3 to 9.5 and 3.2.4).
 */
#include "test/mpi/check.h"

static int calls = 0, last_code = 0;
static MPI_Comm last_comm = MPI_COMM_NULL;
static void Handler(MPI_Comm* comm, int* code, ...) {
  ++calls;
  last_code = *code;
  last_comm = *comm;
}

int main(int argc, char** argv) {
  MPI_Errhandler mine, got;
  MPI_Comm twin;
  MPI_Datatype type;
  MPI_Info info;
  int value = 0, size, error_class, error_code, length;
  char text[MPI_MAX_ERROR_STRING];

  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
  EXPECT(got == MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);

  EXPECT(ClassOf(MPI_Send(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD)) == MPI_ERR_RANK);
  EXPECT(ClassOf(MPI_Send(&value, 1, MPI_INT, 0, -5, MPI_COMM_WORLD)) == MPI_ERR_TAG);
  EXPECT(ClassOf(MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
  EXPECT(ClassOf(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD)) == MPI_ERR_TYPE);
  EXPECT(ClassOf(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Recv(&value, 1, MPI_INT, -7, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) ==
         MPI_ERR_RANK);
  EXPECT(ClassOf(MPI_Bcast(&value, 1, MPI_INT, size, MPI_COMM_WORLD)) == MPI_ERR_ROOT);
  EXPECT(ClassOf(MPI_Comm_rank(MPI_COMM_NULL, &value)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Group_size(MPI_GROUP_NULL, &value)) == MPI_ERR_GROUP);
  EXPECT(ClassOf(MPI_Type_size(MPI_DATATYPE_NULL, &value)) == MPI_ERR_TYPE);
  type = MPI_INT;
  EXPECT(ClassOf(MPI_Type_free(&type)) == MPI_ERR_TYPE);
  MPI_Info_create(&info);
  EXPECT(ClassOf(MPI_Info_delete(info, "nothing")) == MPI_ERR_INFO_NOKEY);
  MPI_Info_free(&info);
  EXPECT(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD) == MPI_SUCCESS);

  /* A handler of the application sees communicator and code. */
  MPI_Comm_create_errhandler(Handler, &mine);
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  MPI_Comm_set_errhandler(twin, mine);
  MPI_Errhandler_free(&mine);
  EXPECT(mine == MPI_ERRHANDLER_NULL);
  MPI_Send(&value, 1, MPI_INT, size, 0, twin);
  EXPECT(calls == 1 && last_comm == twin && ClassOf(last_code) == MPI_ERR_RANK);
  MPI_Comm_call_errhandler(twin, MPI_ERR_OTHER);
  EXPECT(calls == 2 && last_code == MPI_ERR_OTHER);
  MPI_Comm_free(&twin);

  /* Errors have texts, and applications have classes of their own. */
  MPI_Error_string(MPI_SUCCESS, text, &length);
  EXPECT(length > 0 && (int)strlen(text) == length);
  MPI_Add_error_class(&error_class);
  EXPECT(error_class > MPI_ERR_LASTCODE);
  MPI_Add_error_code(error_class, &error_code);
  MPI_Add_error_string(error_code, "too hot");
  EXPECT(ClassOf(error_code) == error_class);
  MPI_Error_string(error_code, text, &length);
  EXPECT(strcmp(text, "too hot") == 0 && length == 7);
  return Passed();
}
