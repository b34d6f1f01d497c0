// SPDX-License-Identifier: BSD-3-Clause
// Goal:   whatever function of MPI the ranks are in when the job is saved, they go on with the
// right answer. Method: for each function, the ranks use it again and again, in one pattern, and
// check what it gives, until a file of
//         that name appears in a folder; rank 0 says which function comes now.
//
// usage: matrix FOLDER PATTERN        ring, pairwise, all, or asleep: as ring, but half of the
// ranks are late
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kInts = 3000, kReady = 1, kData = 2, kRanksMax = 64, kLateNs = 2000000 };

static int rank, ranks, turn;
static const char *folder, *pattern;
static int out[kInts], in[kInts];

static void Check(int holds, const char* what) {
  if (holds) return;
  printf("rank %d: wrong: %s in turn %d\n", rank, what, turn);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 9);
}

static void Fill(int to) {
  for (int i = 0; i < kInts; ++i) out[i] = turn + rank * 7 + to * 3 + i;
}

static void CheckFrom(int from, const char* what) {
  for (int i = 0; i < kInts; ++i) Check(in[i] == turn + from * 7 + rank * 3 + i, what);
}

// Sends to one rank by one function, and receives from another.
static void Exchange(const char* function, int to, int from) {
  const MPI_Comm world = MPI_COMM_WORLD;
  MPI_Request receive = MPI_REQUEST_NULL, send = MPI_REQUEST_NULL;
  const int is_ready_mode = strcmp(function, "rsend") == 0 || strcmp(function, "irsend") == 0;
  Fill(to);
  memset(in, 0, sizeof in);
  if (strcmp(function, "sendrecv") == 0) {
    MPI_Sendrecv(out, kInts, MPI_INT, to, kData, in, kInts, MPI_INT, from, kData, world,
                 MPI_STATUS_IGNORE);
    return CheckFrom(from, function);
  }
  if (strcmp(function, "recv") == 0) {
    MPI_Isend(out, kInts, MPI_INT, to, kData, world, &send);
    MPI_Recv(in, kInts, MPI_INT, from, kData, world, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    return CheckFrom(from, function);
  }
  MPI_Irecv(in, kInts, MPI_INT, from, kData, world, &receive);
  if (is_ready_mode) {
    MPI_Sendrecv(NULL, 0, MPI_INT, from, kReady, NULL, 0, MPI_INT, to, kReady, world,
                 MPI_STATUS_IGNORE);
  }
  if (strcmp(function, "ssend") == 0)
    MPI_Ssend(out, kInts, MPI_INT, to, kData, world);
  else if (strcmp(function, "rsend") == 0)
    MPI_Rsend(out, kInts, MPI_INT, to, kData, world);
  else if (strcmp(function, "issend") == 0)
    MPI_Issend(out, kInts, MPI_INT, to, kData, world, &send);
  else if (strcmp(function, "irsend") == 0)
    MPI_Irsend(out, kInts, MPI_INT, to, kData, world, &send);
  else if (strcmp(function, "isend") == 0 || strcmp(function, "wait") == 0)
    MPI_Isend(out, kInts, MPI_INT, to, kData, world, &send);
  else
    MPI_Send(out, kInts, MPI_INT, to, kData, world);
  if (strcmp(function, "irecv") == 0)
    for (int done = 0; !done;) MPI_Test(&receive, &done, MPI_STATUS_IGNORE);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  CheckFrom(from, function);
}

static void ExchangeByPattern(const char* function) {
  if (strcmp(pattern, "pairwise") == 0) {
    const int other = (rank ^ 1) < ranks ? rank ^ 1 : rank;
    return Exchange(function, other, other);
  }
  const int last = strcmp(pattern, "all") == 0 ? ranks : 2;
  for (int step = 1; step < last; ++step)
    Exchange(function, (rank + step) % ranks, (rank + ranks - step % ranks) % ranks);
}

static void Collective(const char* function) {
  const MPI_Comm world = MPI_COMM_WORLD;
  const int root = turn % ranks;
  int all[kRanksMax] = {0}, own[kRanksMax], value = turn + rank, got = -1;
  int counts[kRanksMax], places[kRanksMax], many[kRanksMax * kRanksMax], filled = 0;
  for (int i = 0; i < ranks; ++i) {
    own[i] = turn + rank * 100 + i;
    counts[i] = i + 1;
    places[i] = filled;
    filled += counts[i];
  }
  if (strcmp(function, "barrier") == 0) {
    MPI_Barrier(world);
  } else if (strcmp(function, "alltoall") == 0) {
    MPI_Alltoall(own, 1, MPI_INT, all, 1, MPI_INT, world);
    for (int i = 0; i < ranks; ++i) Check(all[i] == turn + i * 100 + rank, function);
  } else if (strcmp(function, "bcast") == 0) {
    value = rank == root ? turn : -1;
    MPI_Bcast(&value, 1, MPI_INT, root, world);
    Check(value == turn, function);
  } else if (strcmp(function, "gather") == 0) {
    MPI_Gather(&value, 1, MPI_INT, all, 1, MPI_INT, root, world);
    for (int i = 0; i < ranks && rank == root; ++i) Check(all[i] == turn + i, function);
  } else if (strcmp(function, "gatherv") == 0) {
    for (int i = 0; i <= rank; ++i) own[i] = turn + rank * 100 + i;
    MPI_Gatherv(own, rank + 1, MPI_INT, many, counts, places, MPI_INT, root, world);
    for (int from = 0; from < ranks && rank == root; ++from)
      for (int i = 0; i <= from; ++i)
        Check(many[places[from] + i] == turn + from * 100 + i, function);
  } else if (strcmp(function, "scatter") == 0) {
    MPI_Scatter(own, 1, MPI_INT, &got, 1, MPI_INT, root, world);
    Check(got == turn + root * 100 + rank, function);
  } else {
    MPI_Reduce(&value, &got, 1, MPI_INT, MPI_SUM, root, world);
    Check(rank != root || got == ranks * turn + ranks * (ranks - 1) / 2, function);
  }
}

static int IsOver(const char* function) {
  char path[4096];
  int over = 0;
  snprintf(path, sizeof path, "%s/%s", folder, function);
  if (rank == 0) over = access(path, F_OK) == 0;
  MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return over;
}

int main(int argc, char** argv) {
  static const char* const exchanges[] = {"irecv", "irsend", "isend",    "issend", "recv",
                                          "rsend", "send",   "sendrecv", "ssend",  "wait"};
  static const char* const collectives[] = {"alltoall", "barrier", "bcast", "gather",
                                            "gatherv",  "scatter", "reduce"};
  if (argc < 3) return 2;
  folder = argv[1];
  pattern = argv[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int is_late = strcmp(pattern, "asleep") == 0 && rank % 2 == 0;
  const struct timespec late = {0, kLateNs};
  for (int number = 0; number < 17; ++number) {
    const char* const function = number < 10 ? exchanges[number] : collectives[number - 10];
    if (rank == 0) printf("%s\n", function), fflush(stdout);
    do {
      ++turn;
      if (is_late) nanosleep(&late, NULL);  // tidy: sleep: half of the ranks are late
      if (number < 10)
        ExchangeByPattern(function);
      else
        Collective(function);
    } while (!IsOver(function));
  }
  MPI_Finalize();
  if (rank == 0) printf("done\n");
  return 0;
}
