/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a partition leaves when it is ready and can be read before the rest is: MPI_Parrived says
 *         so, of partitions of the receiver's own size (MPI-5.0, section 4.2.2). A null or inactive
 *         request counts as arrived.
 * Method: the sender marks one partition, and marks the next only when the receiver has told that
 *         it has read the data of the first: without progress of single partitions nobody gets on.
 */
#include <stdlib.h>

#include "test/mpi/check.h"

static void OneByOne(int rank, int send_partitions, int receive_partitions, int elements) {
  int* data = calloc((size_t)elements, sizeof *data);
  const int step = elements / send_partitions, part = elements / receive_partitions;
  MPI_Request request;
  int flag = 0;
  if (rank == 0) {
    MPI_Psend_init(data, send_partitions, step, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &request);
    for (int round = 0; round < 3; ++round) {
      MPI_Start(&request);
      for (int p = 0; p < send_partitions; ++p) {
        int readable = -1;
        for (int i = 0; i < step; ++i) data[p * step + i] = round + p * step + i;
        MPI_Pready(p, request);
        MPI_Recv(&readable, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT(readable == (p + 1) * step / part);
      }
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  } else if (rank == 1) {
    MPI_Precv_init(data, receive_partitions, part, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &request);
    MPI_Parrived(request, 0, &flag); /* inactive */
    EXPECT(flag);
    for (int round = 0; round < 3; ++round) {
      MPI_Start(&request);
      int readable = 0;
      for (int p = 0; p < send_partitions; ++p) {
        /* The transfer is complete with the partition that was marked last. */
        for (; readable < (p + 1) * step / part; ++readable) {
          flag = 0;
          while (!flag) MPI_Parrived(request, readable, &flag);
          for (int i = 0; i < part; ++i)
            if (data[readable * part + i] != round + readable * part + i) {
              EXPECT(data[readable * part + i] == round + readable * part + i);
              break;
            }
        }
        if (readable < receive_partitions) {
          MPI_Parrived(request, readable, &flag);
          EXPECT(!flag);
          MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
          EXPECT(!flag);
        }
        MPI_Send(&readable, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
      }
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Parrived(request, receive_partitions - 1, &flag);
      EXPECT(flag);
    }
  }
  if (rank < 2) MPI_Request_free(&request);
  free(data);
}

int main(int argc, char** argv) {
  int rank, flag = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Parrived(MPI_REQUEST_NULL, 0, &flag);
  EXPECT(flag);
  OneByOne(rank, 4, 4, 64);
  OneByOne(rank, 8, 2, 64);
  OneByOne(rank, 2, 8, 64);
  OneByOne(rank, 3, 4, 96);
  OneByOne(rank, 4, 4, 400000); /* beyond what goes at once */
  return Passed();
}
