/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a partitioned transfer may have no partitions on either side: it is complete once both
 *         sides have started it, every time (MPI-5.0, section 4.2.1: any number that is not
 * negative). Method: a ring of transfers without partitions, started three times; then one side
 * without partitions meets one whose partitions are empty.
 */
#include "test/mpi/check.h"

static int rank, size, out[2], in[2];

static void Transfer(int send_partitions, int receive_partitions, MPI_Count count, int tag) {
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Psend_init_c(out, send_partitions, count, MPI_INT, (rank + 1) % size, tag, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &requests[0]);
  MPI_Precv_init_c(in, receive_partitions, count, MPI_INT, (rank + size - 1) % size, tag,
                   MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  for (int round = 0; round < 3; ++round) {
    int received = -1;
    EXPECT(MPI_Startall(2, requests) == MPI_SUCCESS);
    for (int i = 0; i < send_partitions; ++i) MPI_Pready(i, requests[0]);
    EXPECT(MPI_Waitall(2, requests, statuses) == MPI_SUCCESS);
    MPI_Get_count(&statuses[1], MPI_INT, &received);
    EXPECT(received == 0);
  }
  EXPECT(MPI_Request_free(&requests[0]) == MPI_SUCCESS);
  EXPECT(MPI_Request_free(&requests[1]) == MPI_SUCCESS);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  Transfer(0, 0, 1, 1);
  Transfer(0, 2, 0, 2);
  Transfer(2, 0, 0, 3);
  return Passed();
}
