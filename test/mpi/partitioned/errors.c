/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   what is wrong with a partitioned call is told by its error class and changes nothing:
 *         arguments of initialisation, partitions out of range or marked twice, requests that are
 *         inactive or of another kind (MPI-5.0, chapter 4).
 * Method: MPI_ERRORS_RETURN; every mistake once; then the transfer is carried out.
 */
#include "test/mpi/check.h"

static int rank;
static int out[4] = {1, 2, 3, 4}, in[4];

static void Initialisation(void) {
  MPI_Request request;
  MPI_Comm comm = MPI_COMM_WORLD;
#define SEND(buffer, partitions, count, type, peer, tag, communicator)                            \
  ClassOf(MPI_Psend_init(buffer, partitions, count, type, peer, tag, communicator, MPI_INFO_NULL, \
                         &request))
#define RECEIVE(buffer, partitions, count, type, peer, tag, communicator)            \
  ClassOf(MPI_Precv_init_c(buffer, partitions, count, type, peer, tag, communicator, \
                           MPI_INFO_NULL, &request))
  EXPECT(SEND(out, -1, 1, MPI_INT, rank, 0, comm) == MPI_ERR_ARG);
  EXPECT(SEND(out, 1, -1, MPI_INT, rank, 0, comm) == MPI_ERR_COUNT);
  EXPECT(SEND(out, 1, 1, MPI_DATATYPE_NULL, rank, 0, comm) == MPI_ERR_TYPE);
  EXPECT(SEND(out, 1, 1, MPI_INT, 1000, 0, comm) == MPI_ERR_RANK);
  EXPECT(SEND(out, 1, 1, MPI_INT, rank, -1, comm) == MPI_ERR_TAG);
  EXPECT(SEND(out, 1, 1, MPI_INT, rank, 0, MPI_COMM_NULL) == MPI_ERR_COMM);
  EXPECT(RECEIVE(in, -1, 1, MPI_INT, rank, 0, comm) == MPI_ERR_ARG);
  EXPECT(RECEIVE(in, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm) == MPI_ERR_RANK);
  EXPECT(RECEIVE(in, 1, 1, MPI_INT, rank, MPI_ANY_TAG, comm) == MPI_ERR_TAG);
  EXPECT(RECEIVE(in, 1, -1, MPI_INT, rank, 0, comm) == MPI_ERR_COUNT);
  EXPECT(ClassOf(MPI_Psend_init_c(out, -4, 1, MPI_INT, rank, 0, comm, MPI_INFO_NULL, &request)) ==
         MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Precv_init(in, 1, 1, MPI_INT, 1000, 0, comm, MPI_INFO_NULL, &request)) ==
         MPI_ERR_RANK);
}

static void Marking(void) {
  MPI_Request send, receive, plain;
  int flag = 0, list[2] = {1, 9}, twice[2] = {3, 3};
  MPI_Psend_init_c(out, 4, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
  MPI_Precv_init_c(in, 4, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
  MPI_Recv_init(&flag, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &plain);

  EXPECT(ClassOf(MPI_Pready(0, send)) == MPI_ERR_REQUEST); /* not started */
  EXPECT(ClassOf(MPI_Pready_range(0, 1, send)) == MPI_ERR_REQUEST);
  EXPECT(ClassOf(MPI_Pready_list(1, list, send)) == MPI_ERR_REQUEST);
  EXPECT(ClassOf(MPI_Pready(0, MPI_REQUEST_NULL)) == MPI_ERR_REQUEST);
  EXPECT(ClassOf(MPI_Pready(0, plain)) == MPI_ERR_REQUEST);
  EXPECT(ClassOf(MPI_Parrived(plain, 0, &flag)) == MPI_ERR_REQUEST);
  EXPECT(ClassOf(MPI_Parrived(send, 0, &flag)) == MPI_ERR_REQUEST);

  MPI_Start(&send);
  MPI_Start(&receive);
  EXPECT(ClassOf(MPI_Start(&send)) == MPI_ERR_REQUEST);
  EXPECT(ClassOf(MPI_Pready(0, receive)) == MPI_ERR_REQUEST);
  EXPECT(ClassOf(MPI_Pready(4, send)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Pready(-1, send)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Pready_range(2, 4, send)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Pready_range(2, 1, send)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Pready_range(0, 0x7fffffff, send)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Pready_list(2, list, send)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Pready_list(-1, list, send)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Parrived(receive, 4, &flag)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Parrived(receive, -1, &flag)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Parrived(receive, 0, NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Cancel(&send)) == MPI_ERR_REQUEST);
  EXPECT(ClassOf(MPI_Request_free(&receive)) == MPI_ERR_REQUEST && receive != MPI_REQUEST_NULL);

  /* No call above has marked anything. */
  EXPECT(MPI_Pready(1, send) == MPI_SUCCESS);
  EXPECT(ClassOf(MPI_Pready(1, send)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Pready_range(0, 2, send)) == MPI_ERR_ARG);
  MPI_Test(&send, &flag, MPI_STATUS_IGNORE);
  EXPECT(!flag);
  EXPECT(MPI_Pready(0, send) == MPI_SUCCESS && MPI_Pready(2, send) == MPI_SUCCESS);
  EXPECT(ClassOf(MPI_Pready_list(2, twice, send)) == MPI_ERR_ARG); /* marked once all the same */
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  for (int i = 0; i < 4; ++i) EXPECT(in[i] == i + 1);
  EXPECT(ClassOf(MPI_Pready(0, send)) == MPI_ERR_REQUEST); /* inactive again */
  MPI_Request_free(&send);
  MPI_Request_free(&receive);
  MPI_Request_free(&plain);
}

static void MoreThanExpected(void) {
  MPI_Request send, receive;
  MPI_Psend_init(out, 2, 2, MPI_INT, rank, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
  MPI_Precv_init(in, 3, 1, MPI_INT, rank, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
  MPI_Start(&send);
  MPI_Start(&receive);
  MPI_Pready_range(0, 1, send);
  in[3] = -1;
  EXPECT(ClassOf(MPI_Wait(&receive, MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE);
  EXPECT(in[3] == -1);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  MPI_Request_free(&send);
  MPI_Request_free(&receive);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  Initialisation();
  Marking();
  MoreThanExpected();
  return Passed();
}
