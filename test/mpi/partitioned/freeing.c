/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   freeing a partitioned request is local: MPI_Request_free returns though the peer takes
 *         nothing in, and what comes later is not disturbed (MPI-5.0, sections 2.4.2 and 4.2).
 * Method: the receiver sits outside MPI, at a named pipe that is opened only when the sender has
 *         freed a transfer whose way was blocked by a thousand messages; then these are received.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/mpi/check.h"

enum { kMessages = 1000 };

static void Transfer(int rank, MPI_Request* request, int* data) {
  if (rank == 0)
    MPI_Psend_init(data, 2, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_INFO_NULL, request);
  else
    MPI_Precv_init(data, 2, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL, request);
}

int main(int argc, char** argv) {
  static int values[kMessages];
  MPI_Request requests[kMessages], partitioned;
  int rank, data[2] = {0, 0};
  char path[4096];
  const char* folder = getenv("TEST_TMPDIR");
  snprintf(path, sizeof path, "%s/freed", folder != NULL ? folder : "/tmp");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    unlink(path);
    EXPECT(mkfifo(path, 0600) == 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    for (int i = 0; i < kMessages; ++i) {
      values[i] = i;
      MPI_Isend(&values[i], 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &requests[i]);
    }
    Transfer(rank, &partitioned, data);
    MPI_Request_free(&partitioned);
    EXPECT(partitioned == MPI_REQUEST_NULL);
    close(open(path, O_WRONLY));
    MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE);
    unlink(path);
  } else if (rank == 1) {
    close(open(path, O_RDONLY));
    for (int i = 0; i < kMessages; ++i) {
      MPI_Recv(&values[0], 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT(values[0] == i);
    }
    Transfer(rank, &partitioned, data);
    MPI_Request_free(&partitioned);
  }
  /* The pair that was freed had matched, so the next one matches the next one. */
  if (rank < 2) {
    Transfer(rank, &partitioned, data);
    MPI_Start(&partitioned);
    if (rank == 0) {
      data[0] = 5;
      data[1] = 6;
      MPI_Pready_range(0, 1, partitioned);
    }
    MPI_Wait(&partitioned, MPI_STATUS_IGNORE);
    EXPECT(data[0] == 5 && data[1] == 6);
    MPI_Request_free(&partitioned);
  }
  return Passed();
}
