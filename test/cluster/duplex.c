/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   long messages go both ways at once: two ranks that send each other as much need no longer
 *         than one that sends.
 * Method: over a slow link, a row of messages one way, then as many exchanges, whichever half is
 *         posted first. Where each way waited for the other it would be twice as long.
 */
#include <stdlib.h>

#include "test/mpi/check.h"

enum { kBytes = 1 << 20, kMessages = 8 };

static int rank;
static unsigned char *out, *in;

static void OneWay(void) {
  if (rank == 0) MPI_Send(out, kBytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(in, kBytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void Exchange(void) {
  MPI_Request requests[2];
  MPI_Irecv(in, kBytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, kBytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void SendReceive(void) {
  MPI_Sendrecv(out, kBytes, MPI_BYTE, 1 - rank, 0, in, kBytes, MPI_BYTE, 1 - rank, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Returns the seconds until the last rank is done. */
static double Time(void (*step)(void)) {
  double took;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < kMessages; ++i) step();
  took = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return took;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  out = calloc(1, kBytes);
  in = calloc(1, kBytes);
  Exchange(); /* the first call connects */
  const double one_way = Time(OneWay), exchange = Time(Exchange), send_receive = Time(SendReceive);
  if (rank == 0)
    printf("%.0f ms one way, %.0f and %.0f both ways\n", one_way * 1e3, exchange * 1e3,
           send_receive * 1e3);
  EXPECT(exchange < 1.5 * one_way);
  EXPECT(send_receive < 1.5 * one_way);
  free(in);
  free(out);
  return Passed();
}
