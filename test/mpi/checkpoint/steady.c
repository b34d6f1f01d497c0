// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a program that is saved while it runs goes on as if nothing had happened.
// Method: ranks communicate in one way, checked in every turn, until somebody makes a file; whoever
//         runs this saves the job meanwhile.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kLong = 300000, kFew = 20, kThreads = 4 };

static int rank, ranks;
static const char* stop_file;

static void Check(int holds, const char* what) {
  if (holds) return;
  printf("rank %d: wrong: %s\n", rank, what);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 9);
}

// The test waits for this line.
static void Begun(void) {
  if (rank == 0) printf("begun\n"), fflush(stdout);
}

static int IsOver(void) { return access(stop_file, F_OK) == 0; }

// Spends no time in the library.
static void ComputeUntilOver(void) {
  while (!IsOver()) continue;
}

static void Ring(MPI_Comm comm, int turn, int ints, int* out, int* in) {
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  for (int i = 0; i < ints; i += 97) out[i] = turn + rank + i;
  MPI_Sendrecv(out, ints, MPI_INT, next, 1, in, ints, MPI_INT, previous, 1, comm,
               MPI_STATUS_IGNORE);
  for (int i = 0; i < ints; i += 97) Check(in[i] == turn + previous + i, "ring");
}

static void AnySource(int turn) {
  int received = 0, values[kFew];
  MPI_Request sends[kFew];
  for (int i = 0; i < kFew; ++i) {
    values[i] = turn + i;
    if (i % 2 == 0)
      MPI_Issend(&values[i], 1, MPI_INT, (rank + i) % ranks, 2, MPI_COMM_WORLD, &sends[i]);
    else
      MPI_Isend(&values[i], 1, MPI_INT, (rank + i) % ranks, 2, MPI_COMM_WORLD, &sends[i]);
  }
  for (int i = 0; i < kFew; ++i) {
    MPI_Status status;
    MPI_Message message;
    int value = 0;
    MPI_Mprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
    Check(value >= turn && value < turn + kFew, "any source");
    received += value - turn;
  }
  MPI_Waitall(kFew, sends, MPI_STATUSES_IGNORE);
  int sum = 0;
  MPI_Allreduce(&received, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  Check(sum == ranks * kFew * (kFew - 1) / 2, "any source, sum");
}

static void Collectives(int turn) {
  int* const out = malloc((size_t)ranks * sizeof *out);
  int* const in = malloc((size_t)ranks * sizeof *in);
  for (int i = 0; i < ranks; ++i) out[i] = turn + rank * ranks + i;
  MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) Check(in[i] == turn + i * ranks + rank, "alltoall");
  int root = turn % ranks, value = rank == root ? turn : -1;
  MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
  Check(value == turn, "bcast");
  MPI_Request request;
  int sum = 0;
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  Check(sum == ranks * (ranks - 1) / 2, "iallreduce");
  MPI_Barrier(MPI_COMM_WORLD);
  free(out);
  free(in);
}

static int AgreeThatOver(void) {
  int over = rank == 0 ? IsOver() : 0;
  MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return over;
}

static void Traffic(void) {
  static int out[kLong], in[kLong];
  for (int turn = 0; !AgreeThatOver(); ++turn) {
    Ring(MPI_COMM_WORLD, turn, 1, out, in);
    Ring(MPI_COMM_WORLD, turn, kLong, out, in);
    AnySource(turn);
    Collectives(turn);
  }
}

// Says after every turn what has come of it: rank 0 by standard output, the last rank by standard
// error, whose lines it leaves open for a while. It ends after so many turns, or when it is over.
static void Course(int turns) {
  static int out[kLong], in[kLong];
  double value = 1, sum = 0;
  for (int turn = 0; turns > 0 ? turn < turns : !AgreeThatOver(); ++turn) {
    if (rank == ranks - 1) fprintf(stderr, "turn %d", turn), fflush(stderr);
    Ring(MPI_COMM_WORLD, turn, kLong, out, in);
    AnySource(turn);
    Collectives(turn);
    const double own = value / (rank + 3) + turn * 1e-3;
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    value = sum / ranks;
    if (rank == 0) printf("turn %d value %a\n", turn, value), fflush(stdout);
    if (rank == ranks - 1) fprintf(stderr, " done\n");
  }
}

// Rank 0 computes all the time, and the others wait for it in one call.
static void Blocked(const char* call) {
  int value = 42;
  MPI_Request request;
  if (rank == 0) {
    ComputeUntilOver();
    for (int to = 1; to < ranks; ++to)
      if (strcmp(call, "barrier") != 0) MPI_Send(&value, 1, MPI_INT, to, 3, MPI_COMM_WORLD);
  } else if (strcmp(call, "recv") == 0) {
    value = 0;
    MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(call, "wait") == 0) {
    value = 0;
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (strcmp(call, "test") == 0) {
    value = 0;
    MPI_Irecv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request);
    for (int done = 0; !done;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  } else if (strcmp(call, "probe") == 0) {
    value = 0;
    MPI_Probe(0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  Check(value == 42, call);
}

// Messages that nobody has received yet, short, synchronous and long, when the job is saved.
static void Unreceived(void) {
  static int out[kLong], in[kLong];
  MPI_Request requests[2];
  int value = rank + 5, got = 0;
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  for (int i = 0; i < kLong; ++i) out[i] = rank + i;
  MPI_Send(&value, 1, MPI_INT, next, 4, MPI_COMM_WORLD);
  MPI_Issend(&value, 1, MPI_INT, next, 5, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, kLong, MPI_INT, next, 6, MPI_COMM_WORLD, &requests[1]);
  MPI_Barrier(MPI_COMM_WORLD);
  ComputeUntilOver();
  MPI_Recv(in, kLong, MPI_INT, previous, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < kLong; ++i) Check(in[i] == previous + i, "long");
  MPI_Recv(&got, 1, MPI_INT, previous, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  Check(got == previous + 5, "synchronous");
  MPI_Recv(&got, 1, MPI_INT, previous, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  Check(got == previous + 5, "short");
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void SlowSum(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  ComputeUntilOver();
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

static void Reduction(void) {
  MPI_Op op;
  int sum = 0;
  MPI_Op_create(SlowSum, 1, &op);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
  Check(sum == ranks * (ranks - 1) / 2, "reduction");
  MPI_Op_free(&op);
}

static void Window(void) {
  int* memory;
  MPI_Win window;
  MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Barrier(MPI_COMM_WORLD);
  Begun();
  ComputeUntilOver();
  MPI_Win_free(&window);
}

static MPI_Comm comms[kThreads];

static void* OneThread(void* argument) {
  const int number = (int)(size_t)argument;
  int* const out = malloc(1000 * sizeof *out);
  int* const in = malloc(1000 * sizeof *in);
  for (int turn = 0, over = 0; !over; ++turn) {
    Ring(comms[number], turn, number == 0 ? 1 : 1000, out, in);
    over = rank == 0 ? IsOver() : 0;
    MPI_Bcast(&over, 1, MPI_INT, 0, comms[number]);
  }
  free(out);
  free(in);
  return NULL;
}

static void Threads(void) {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, OneThread, (void*)(size_t)i);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_free(&comms[i]);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* const way = argv[1];
  stop_file = argv[2];
  if (strcmp(way, "late") == 0) ComputeUntilOver();
  int provided;
  const int threads = strcmp(way, "threads") == 0;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (strcmp(way, "window") != 0) Begun();
  if (strcmp(way, "traffic") == 0)
    Traffic();
  else if (strcmp(way, "course") == 0)
    Course(argc > 3 ? atoi(argv[3]) : 0);
  else if (strcmp(way, "unreceived") == 0)
    Unreceived();
  else if (strcmp(way, "reduction") == 0)
    Reduction();
  else if (strcmp(way, "window") == 0)
    Window();
  else if (threads)
    Threads();
  else if (strcmp(way, "finalized") != 0 && strcmp(way, "late") != 0)
    Blocked(way);
  MPI_Finalize();
  if (strcmp(way, "finalized") == 0) ComputeUntilOver();
  if (rank == 0) printf("done\n");
  return 0;
}
