/* SPDX-License-Identifier: BSD-3-Clause */
/* Gets stuck in one of the ways in which programs do, for why_test.py. Each rank says "here" before
 * it does.
 *
 * usage: stuck WAY */
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static MPI_Comm world = MPI_COMM_WORLD;

static void compute_for_ever(void) {
  static atomic_uint rounds;
  for (;;) atomic_fetch_add(&rounds, 1);
}

static void receive(int from, int tag, MPI_Comm comm) {
  int word;
  MPI_Recv(&word, 1, MPI_INT, from, tag, comm, MPI_STATUS_IGNORE);
}

static void head_to_head(void) {
  if (rank < 2) receive(1 - rank, 5 + 2 * rank, world);
}

static void wrong_tag(void) {
  int word = 0;
  if (rank == 0) MPI_Send(&word, 1, MPI_INT, 1, 6, world);
  if (rank == 1) receive(0, 5, world);
  MPI_Barrier(world);
}

static void wrong_comm(void) {
  int word = 0;
  MPI_Comm other;
  MPI_Comm_dup(world, &other);
  MPI_Comm_set_name(other, "other");
  if (rank == 0) MPI_Send(&word, 1, MPI_INT, 1, 5, other);
  if (rank == 1) receive(0, 5, world);
  MPI_Barrier(world);
}

static void missing_member(void) {
  int word = rank, sum;
  if (rank == size - 1) compute_for_ever();
  MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, world);
}

static void order(void) {
  MPI_Comm first, second;
  MPI_Comm_dup(world, &first);
  MPI_Comm_dup(world, &second);
  MPI_Comm_set_name(first, "first");
  MPI_Comm_set_name(second, "second");
  MPI_Barrier(rank % 2 == 0 ? first : second);
  MPI_Barrier(rank % 2 == 0 ? second : first);
}

static void send_send(void) {
  enum { kBytes = 4 << 20 };
  char* bytes = calloc(1, kBytes);
  if (rank < 2) {
    MPI_Send(bytes, kBytes, MPI_CHAR, 1 - rank, 0, world);
    MPI_Recv(bytes, kBytes, MPI_CHAR, 1 - rank, 0, world, MPI_STATUS_IGNORE);
  }
  free(bytes);
}

static void probe(void) {
  int word = 0, there = 0;
  MPI_Status status;
  if (rank == 0) MPI_Send(&word, 1, MPI_INT, 1, 8, world);
  if (rank == 1) MPI_Probe(0, 9, world, &status);
  if (rank == 2)
    while (!there) MPI_Iprobe(MPI_ANY_SOURCE, 9, world, &there, &status);
  MPI_Barrier(world);
}

static void ended(void) {
  if (rank == 0) receive(1, 0, world);
}

static void cancelled(void) {
  enum { kBytes = 4 << 20 };
  char* bytes = calloc(1, kBytes);
  MPI_Request request;
  if (rank == 1) {
    /* Rank 0 hears of it when this process does nothing more for others. */
    MPI_Send(bytes, 1, MPI_CHAR, 0, 0, world);
    compute_for_ever();
  }
  if (rank == 0) {
    MPI_Recv(bytes, 1, MPI_CHAR, 1, 0, world, MPI_STATUS_IGNORE);
    MPI_Isend(bytes, kBytes, MPI_CHAR, 1, 3, world, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  free(bytes);
}

static void spin(void) {
  if (rank == 1) compute_for_ever();
  receive(rank == 0 ? 1 : 0, 4, world);
}

static void circle(void) { receive((rank + 1) % size, 0, world); }

static void lock(void) {
  MPI_Win window;
  int* base;
  MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, world, &base, &window);
  if (rank == 1) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
  MPI_Barrier(world);
  if (rank == 1) compute_for_ever();
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
}

/* Nobody goes on: the one that holds the lock waits for one that wants it. */
static void locked(void) {
  MPI_Win window;
  int* base;
  MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, world, &base, &window);
  if (rank == 1) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
  MPI_Barrier(world);
  if (rank == 1) MPI_Recv(NULL, 0, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
}

/* Rank 1 never completes its access. */
static void window(void) {
  MPI_Win it;
  MPI_Group all, other;
  int* base;
  const int peer = 1 - rank;
  MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, world, &base, &it);
  MPI_Comm_group(world, &all);
  MPI_Group_incl(all, 1, &peer, &other);
  if (rank == 1) compute_for_ever();
  MPI_Win_post(other, 0, it);
  MPI_Win_wait(it);
}

/* Partition 2 of 4 is never ready. */
static void pready(void) {
  static int numbers[4];
  MPI_Request request;
  if (rank == 0)
    MPI_Psend_init(numbers, 4, 1, MPI_INT, 1, 5, world, MPI_INFO_NULL, &request);
  else
    MPI_Precv_init(numbers, 4, 1, MPI_INT, 0, 5, world, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  for (int i = 0; rank == 0 && i < 4; ++i)
    if (i != 2) MPI_Pready(i, request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void stopped(void) {
  if (rank == 1) compute_for_ever();
  MPI_Barrier(world);
}

static void nonblocking(void) {
  MPI_Request request;
  if (rank == 1) compute_for_ever();
  MPI_Ibarrier(world, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void row(void) {
  MPI_Comm rows;
  MPI_Comm_split(world, rank / 2, 0, &rows);
  if (rank == 2) compute_for_ever();
  MPI_Barrier(rows);
  MPI_Barrier(world);
}

/* A job and the one that it has spawned wait for each other. */
static const char* program;
static void spawn(void) {
  char way[] = "spawned";
  char* arguments[] = {way, NULL};
  MPI_Comm child;
  MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, world, &child, MPI_ERRCODES_IGNORE);
  receive(0, 3, child);
}

static void spawned(void) {
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  receive(0, 4, parent);
}

static const struct {
  const char* name;
  void (*way)(void);
} ways[] = {
    {"head_to_head", head_to_head},
    {"wrong_tag", wrong_tag},
    {"wrong_comm", wrong_comm},
    {"missing_member", missing_member},
    {"order", order},
    {"send_send", send_send},
    {"probe", probe},
    {"ended", ended},
    {"cancelled", cancelled},
    {"spin", spin},
    {"circle", circle},
    {"lock", lock},
    {"locked", locked},
    {"window", window},
    {"pready", pready},
    {"stopped", stopped},
    {"nonblocking", nonblocking},
    {"row", row},
    {"spawn", spawn},
    {"spawned", spawned},
};

int main(int argc, char** argv) {
  program = argv[0];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  MPI_Barrier(world);
  printf("here\n");
  fflush(stdout);
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; ++i)
    if (argc > 1 && strcmp(argv[1], ways[i].name) == 0) ways[i].way();
  MPI_Finalize();
  return 0;
}
