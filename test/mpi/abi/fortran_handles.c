/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   every kind of handle goes to Fortran and back unchanged, statuses in all three forms keep
 *         their fields, and what was never given out comes back as no object (MPI-5.0, sections
 *         19.3.4 and 19.3.5).
 * Method: predefined, null and made handles; a status of a real message.
 */
#include "test/mpi/check.h"

#define SAME(Kind, handle) EXPECT(MPI_##Kind##_f2c(MPI_##Kind##_c2f(handle)) == (handle))

static void CopyNothing(void* in, void* out, int* count, MPI_Datatype* type) {
  (void)in, (void)out, (void)count, (void)type;
}

static void Handles(void) {
  MPI_Comm comm;
  MPI_Group group;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Info info;
  MPI_Errhandler handler;
  MPI_Request request;
  MPI_Message message;
  int value = 0, in = 0, flag = 0;

  SAME(Comm, MPI_COMM_WORLD);
  SAME(Comm, MPI_COMM_SELF);
  SAME(Comm, MPI_COMM_NULL);
  SAME(Group, MPI_GROUP_NULL);
  SAME(Group, MPI_GROUP_EMPTY);
  SAME(Type, MPI_INT);
  SAME(Type, MPI_DATATYPE_NULL);
  SAME(Op, MPI_SUM);
  SAME(Op, MPI_OP_NULL);
  SAME(Info, MPI_INFO_NULL);
  SAME(Info, MPI_INFO_ENV);
  SAME(Errhandler, MPI_ERRORS_RETURN);
  SAME(Request, MPI_REQUEST_NULL);
  SAME(Message, MPI_MESSAGE_NULL);
  SAME(Message, MPI_MESSAGE_NO_PROC);
  SAME(File, MPI_FILE_NULL);
  SAME(Win, MPI_WIN_NULL);
  SAME(Session, MPI_SESSION_NULL);

  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  SAME(Comm, comm);
  EXPECT(MPI_Comm_c2f(comm) == MPI_Comm_c2f(comm));
  EXPECT(MPI_Comm_c2f(comm) != MPI_Comm_c2f(MPI_COMM_WORLD));
  MPI_Comm_group(comm, &group);
  SAME(Group, group);
  MPI_Type_contiguous(3, MPI_INT, &type);
  SAME(Type, type);
  MPI_Op_create(CopyNothing, 1, &op);
  SAME(Op, op);
  MPI_Info_create(&info);
  SAME(Info, info);
  MPI_Comm_get_errhandler(comm, &handler);
  SAME(Errhandler, handler);
  MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
  SAME(Request, request);
  MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Send(&value, 1, MPI_INT, 0, 2, MPI_COMM_SELF);
  while (!flag) MPI_Improbe(0, 2, MPI_COMM_SELF, &flag, &message, MPI_STATUS_IGNORE);
  SAME(Message, message);
  MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  MPI_Errhandler_free(&handler);
  MPI_Info_free(&info);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
}

static int Count(const MPI_Status* status) {
  int count = -1;
  MPI_Get_count(status, MPI_INT, &count);
  return count;
}

static void Statuses(void) {
  const int values[3] = {1, 2, 3};
  int in[5];
  MPI_Status status, back;
  MPI_Request request;
  memset(&back, 0, sizeof back);
  MPI_Irecv(in, 5, MPI_INT, 0, 7, MPI_COMM_SELF, &request);
  MPI_Send(values, 3, MPI_INT, 0, 7, MPI_COMM_SELF);
  MPI_Wait(&request, &status);
  status.MPI_ERROR = MPI_ERR_PENDING;
  MPI_Fint fortran[MPI_F_STATUS_SIZE];
  EXPECT(MPI_Status_c2f(&status, fortran) == MPI_SUCCESS);
  EXPECT(fortran[MPI_F_SOURCE] == 0 && fortran[MPI_F_TAG] == 7);
  EXPECT(fortran[MPI_F_ERROR] == MPI_ERR_PENDING);
  EXPECT(MPI_Status_f2c(fortran, &back) == MPI_SUCCESS);
  EXPECT(back.MPI_SOURCE == 0 && back.MPI_TAG == 7 && back.MPI_ERROR == MPI_ERR_PENDING);
  EXPECT(Count(&back) == 3);

  MPI_F08_status f08;
  memset(&back, 0, sizeof back);
  EXPECT(MPI_Status_c2f08(&status, &f08) == MPI_SUCCESS);
  EXPECT(f08.MPI_SOURCE == 0 && f08.MPI_TAG == 7);
  EXPECT(MPI_Status_f082c(&f08, &back) == MPI_SUCCESS);
  EXPECT(back.MPI_TAG == 7 && Count(&back) == 3);
  memset(fortran, 0, sizeof fortran);
  memset(&f08, 0, sizeof f08);
  EXPECT(MPI_Status_c2f08(&status, &f08) == MPI_SUCCESS);
  EXPECT(MPI_Status_f082f(&f08, fortran) == MPI_SUCCESS && fortran[MPI_F_TAG] == 7);
  EXPECT(MPI_Status_f2f08(fortran, &f08) == MPI_SUCCESS && f08.MPI_TAG == 7);
}

int main(int argc, char** argv) {
  int size = 0;
  MPI_Init(&argc, &argv);
  Handles();
  Statuses();
  /* A number that was never given out is no communicator, and the library notices that. */
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  EXPECT(ClassOf(MPI_Comm_size(MPI_Comm_f2c(1 << 20), &size)) == MPI_ERR_COMM);
  return Passed();
}
