/* SPDX-License-Identifier: BSD-3-Clause */
/* Spends its time in ways that are known beforehand, for profile_test.py and trace_test.py.
 *
 * usage: profiled late|late-receiver|imbalance|ring|collectives|regions|all|many|unexpected|ways
 *        profiled spawn|killed|failed|stuck */
#define _POSIX_C_SOURCE 200809L

#include <lamina/region.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Keeps a processor busy for so long by the clock. */
static void compute(double seconds) {
  const double end = MPI_Wtime() + seconds;
  while (MPI_Wtime() < end) continue;
}

/* Tells `rank` that this one is about to wait for it. */
static void announce(int rank) { MPI_Send(NULL, 0, MPI_CHAR, rank, 1, MPI_COMM_WORLD); }

/* Returns once `rank` is about to wait, and does not wait itself meanwhile. */
static void see(int rank) {
  const struct timespec moment = {0, 1000000};
  int there = 0;
  for (;;) {
    MPI_Iprobe(rank, 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    if (there) break;
    nanosleep(&moment, NULL); /* tidy: sleep: a wait in MPI would be counted */
  }
  MPI_Recv(NULL, 0, MPI_CHAR, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Rank 0 sends 400 ms after rank 1 has come to receive. */
static void send_late(int rank, int size) {
  double word = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && size > 1) {
    see(1);
    compute(0.4);
    MPI_Send(&word, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  } else if (rank == 1) {
    announce(0);
    MPI_Recv(&word, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* Rank 1 takes a message of 10 MiB 400 ms after rank 0 has come to send it, and answers 200 ms
 * later. */
static void receive_late(int rank) {
  const int bytes = 10 << 20;
  char* many = calloc((size_t)bytes, 1);
  double reply = 0;
  MPI_Request answer = MPI_REQUEST_NULL;
  if (rank == 0) {
    MPI_Irecv(&reply, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &answer);
    announce(1);
    MPI_Send(many, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    MPI_Waitall(1, &answer, MPI_STATUSES_IGNORE);
  } else if (rank == 1) {
    see(0);
    compute(0.4);
    MPI_Recv(many, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    compute(0.2);
    MPI_Send(&reply, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
  }
  free(many);
}

/* Rank 1 computes twice as long as the others, and rank 0 waits for it. */
static void share_badly(int rank, int size) {
  MPI_Barrier(MPI_COMM_WORLD);
  compute(0.3);
  if (rank == 0 && size > 1) announce(1);
  if (rank == 1) {
    see(0);
    compute(0.3);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Each rank sends ten messages of a thousand bytes a step to the next one. */
static void pass_round(int rank, int size) {
  char out[1000] = {0};
  char in[1000];
  for (int i = 0; i < 10; ++i)
    MPI_Sendrecv(out, sizeof out, MPI_CHAR, (rank + 1) % size, 0, in, sizeof in, MPI_CHAR,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Three messages have come to rank 1 before it receives them, and a receive waits meanwhile. */
static void receive_unexpected(int rank) {
  int number = 0;
  MPI_Request receive;
  if (rank == 1) MPI_Irecv(&number, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &receive);
  for (int tag = 1; tag <= 3 && rank == 0; ++tag)
    MPI_Send(&number, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Send(&number, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
  for (int tag = 4; tag >= 1 && rank == 1; --tag)
    MPI_Recv(&number, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0) MPI_Send(&number, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
  if (rank == 1) MPI_Wait(&receive, MPI_STATUS_IGNORE);
}

/* Rank 0 sends a message in each of several ways, and one waits for it in each of several. */
static void send_every_way(int rank) {
  const int bytes = 1 << 20;
  char* many = calloc((size_t)bytes, 1);
  MPI_Request request;
  if (rank == 0) {
    MPI_Send(many, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    MPI_Ssend(many, 8, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
    MPI_Send(many, bytes, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
    MPI_Isend(many, bytes, MPI_CHAR, 1, 4, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send(many, 8, MPI_CHAR, 1, 5, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Message message;
    for (int tag = 1; tag <= 3; ++tag)
      MPI_Recv(many, bytes, MPI_CHAR, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Mprobe(0, 4, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(many, bytes, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    MPI_Irecv(many, 8, MPI_CHAR, 0, 5, MPI_COMM_WORLD, &request);
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
  }
  free(many);
}

/* A region within another one, which holds the only barrier that counts. */
static void name_regions(int rank) {
  lamina_region_begin("<outer>");
  compute(0.1);
  lamina_region_begin("inner");
  if (rank == 0) announce(1);
  if (rank == 1) {
    see(0);
    compute(0.2);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  lamina_region_begin("inner");
  lamina_region_end("inner");
  lamina_region_end("never begun");
  MPI_Pcontrol(0);
  MPI_Barrier(MPI_COMM_WORLD);
  compute(0.2);
  MPI_Pcontrol(1);
  lamina_region_end("<outer>");
  lamina_region_begin("not ended");
}

static void call_collectives(int rank, int size) {
  double in[16] = {0};
  double out[16];
  double* many = calloc(2 * (size_t)size, sizeof *many);
  MPI_Bcast(in, 16, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Allreduce(in, out, 16, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Alltoall(many, 1, MPI_DOUBLE, many + size, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  /* Rank 1 begins 300 ms later than rank 0 waits. */
  MPI_Comm named;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &named);
  MPI_Comm_set_name(named, "a <name>");
  if (rank == 1) {
    see(0);
    compute(0.3);
  }
  MPI_Iallreduce(in, out, 16, MPI_DOUBLE, MPI_SUM, named, &request);
  if (rank == 0) announce(1);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&named);
  free(many);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(what, "late") == 0) send_late(rank, size);
  if (strcmp(what, "all") == 0) {
    send_late(rank, size);
    share_badly(rank, size);
    pass_round(rank, size);
  }
  if (strcmp(what, "late-receiver") == 0) receive_late(rank);
  if (strcmp(what, "imbalance") == 0) share_badly(rank, size);
  if (strcmp(what, "spawn") == 0) {
    char* words[] = {"nothing", NULL};
    MPI_Comm spawned;
    MPI_Comm_spawn(argv[0], words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &spawned,
                   MPI_ERRCODES_IGNORE);
  }
  if (strcmp(what, "ring") == 0) pass_round(rank, size);
  if (strcmp(what, "collectives") == 0) call_collectives(rank, size);
  if (strcmp(what, "regions") == 0) name_regions(rank);
  if (strcmp(what, "ways") == 0) send_every_way(rank);
  if (strcmp(what, "unexpected") == 0) receive_unexpected(rank);
  if (strcmp(what, "many") == 0)
    for (int i = 0; i < 10000000; ++i) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(what, "killed") == 0 && rank == 1) raise(SIGKILL);
  if (strcmp(what, "failed") == 0 && rank == 1) exit(3);
  if (strcmp(what, "failed") == 0 || strcmp(what, "killed") == 0 || strcmp(what, "stuck") == 0)
    MPI_Recv(&rank, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
