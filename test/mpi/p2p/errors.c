/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   bad arguments and a message that is too long give their error class and lose nothing else
 *         (MPI-5.0, sections 3.2 and 9.3).
 * Method: MPI_ERRORS_RETURN; every bad argument once; a truncated receive between two good ones.
 */
#include "test/mpi/check.h"

int main(int argc, char** argv) {
  int rank, ranks, value = 1, two[2] = {0, 0};
  MPI_Request request;
  MPI_Status status;
  MPI_Datatype uncommitted;
  MPI_Comm freed;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);

  EXPECT(ClassOf(MPI_Send(&value, 1, MPI_INT, ranks, 0, MPI_COMM_WORLD)) == MPI_ERR_RANK);
  EXPECT(ClassOf(MPI_Send(&value, 1, MPI_INT, -7, 0, MPI_COMM_WORLD)) == MPI_ERR_RANK);
  EXPECT(ClassOf(MPI_Send(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD)) == MPI_ERR_RANK);
  EXPECT(ClassOf(MPI_Send(&value, 1, MPI_INT, 0, -5, MPI_COMM_WORLD)) == MPI_ERR_TAG);
  EXPECT(ClassOf(MPI_Send(&value, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD)) == MPI_ERR_TAG);
  EXPECT(ClassOf(MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
  EXPECT(ClassOf(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD)) == MPI_ERR_TYPE);
  EXPECT(ClassOf(MPI_Send(NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD)) == MPI_ERR_BUFFER);
  EXPECT(ClassOf(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Recv(&value, 1, MPI_INT, ranks, 0, MPI_COMM_WORLD, &status)) == MPI_ERR_RANK);
  EXPECT(ClassOf(MPI_Irecv(&value, 1, MPI_INT, 0, -5, MPI_COMM_WORLD, &request)) == MPI_ERR_TAG);
  MPI_Type_contiguous(2, MPI_INT, &uncommitted);
  EXPECT(ClassOf(MPI_Send(two, 1, uncommitted, 0, 0, MPI_COMM_WORLD)) == MPI_ERR_TYPE);
  MPI_Type_free(&uncommitted);
  MPI_Comm_dup(MPI_COMM_WORLD, &freed);
  MPI_Comm copy = freed;
  MPI_Comm_free(&freed);
  EXPECT(freed == MPI_COMM_NULL);
  EXPECT(ClassOf(MPI_Send(&value, 1, MPI_INT, 0, 0, copy)) == MPI_ERR_COMM);
  request = MPI_REQUEST_NULL;
  EXPECT(ClassOf(MPI_Start(&request)) == MPI_ERR_REQUEST);
  EXPECT(ClassOf(MPI_Cancel(&request)) == MPI_ERR_REQUEST);

  for (int bytes = 8; bytes <= 1 << 20; bytes *= 64) { /* eager and rendezvous */
    static char out[1 << 20], in[1 << 20];
    MPI_Request requests[3];
    MPI_Status statuses[3];
    int count = 0;
    out[0] = 'x';
    in[bytes / 2] = '!';
    MPI_Irecv(in, bytes / 2, MPI_BYTE, rank, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(two, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, bytes, MPI_BYTE, rank, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Send(&value, 1, MPI_INT, rank, 2, MPI_COMM_WORLD);
    EXPECT(ClassOf(MPI_Waitall(3, requests, statuses)) == MPI_ERR_IN_STATUS);
    EXPECT(ClassOf(statuses[0].MPI_ERROR) == MPI_ERR_TRUNCATE);
    EXPECT(statuses[1].MPI_ERROR == MPI_SUCCESS && statuses[2].MPI_ERROR == MPI_SUCCESS);
    MPI_Get_count(&statuses[1], MPI_INT, &count);
    EXPECT(count == 1 && two[0] == 1);
    EXPECT(in[0] == 'x' && in[bytes / 2] == '!');
  }

  /* The next messages do not inherit the error. */
  MPI_Irecv(two, 2, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
  EXPECT(MPI_Wait(&request, &status) == MPI_SUCCESS && status.MPI_SOURCE == MPI_PROC_NULL);
  MPI_Isend(two, 2, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
  EXPECT(MPI_Wait(&request, &status) == MPI_SUCCESS);
  MPI_Message message = MPI_MESSAGE_NO_PROC;
  EXPECT(MPI_Imrecv(two, 2, MPI_INT, &message, &request) == MPI_SUCCESS);
  EXPECT(MPI_Wait(&request, &status) == MPI_SUCCESS);
  EXPECT(MPI_Buffer_iflush(&request) == MPI_SUCCESS);
  EXPECT(MPI_Wait(&request, &status) == MPI_SUCCESS);
  return Passed();
}
