/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a process that gives up rights once MPI is up, to reach other processes or to be reached,
 *         goes on computing: long data then goes another way.
 * Method: argument 1 says what is given up: "calls" (a filter forbids process_vm_readv and
 *         process_vm_writev), "writing" (only the latter), "user" (becomes another user: may not
 *         reach the others, nor they it). Argument 2: who, "one", "all". Argument 3: when, "first"
 * of all or "then", after long messages and collectives (a "user" cannot open the rings of those it
 * has not spoken to). All must bring what they should before and afterwards, in place too, also on
 * a new communicator.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test/mpi/check.h"

enum { kWords = 256 << 10, kNobody = 65534 };

static int rank, size;
static int *in, *out;

static int Value(int turn, int from, int to, int i) {
  return (turn * 31 + from) * 1009 + to * 37 + i;
}

static void Forbid(int also_reading) {
  const unsigned reading = also_reading ? SYS_process_vm_readv : SYS_process_vm_writev;
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, reading, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog filter = {sizeof code / sizeof code[0], code};
  EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  EXPECT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
}

static void GiveUp(const char* what) {
  if (strcmp(what, "user") == 0)
    EXPECT(setgid(kNobody) == 0 && setuid(kNobody) == 0);
  else
    Forbid(strcmp(what, "calls") == 0);
}

static void Sum(MPI_Comm comm, int turn, int in_place, int root) {
  int i, r;
  for (i = 0; i < kWords; ++i) (in_place ? in : out)[i] = Value(turn, rank, 0, i);
  if (root < 0)
    MPI_Allreduce(in_place ? MPI_IN_PLACE : out, in, kWords, MPI_INT, MPI_SUM, comm);
  else
    MPI_Reduce(in_place && rank == root ? MPI_IN_PLACE
               : in_place               ? in
                                        : out,
               in, kWords, MPI_INT, MPI_SUM, root, comm);
  if (root >= 0 && rank != root) return;
  for (i = 0; i < kWords; ++i) {
    unsigned sum = 0;
    for (r = 0; r < size; ++r) sum += (unsigned)Value(turn, r, 0, i);
    EXPECT((unsigned)in[i] == sum);
  }
}

static void Together(MPI_Comm comm, int turn) {
  const int root = turn % size, block = kWords / size;
  int i, r;
  for (i = 0; i < kWords; ++i) in[i] = rank == root ? Value(turn, root, 0, i) : -1;
  MPI_Bcast(in, kWords, MPI_INT, root, comm);
  for (i = 0; i < kWords; ++i) EXPECT(in[i] == Value(turn, root, 0, i));

  for (i = 0; i < block; ++i) in[rank * block + i] = Value(turn, rank, 0, i);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, in, block, MPI_INT, comm);
  for (r = 0; r < size; ++r)
    for (i = 0; i < block; ++i) EXPECT(in[r * block + i] == Value(turn, r, 0, i));

  for (r = 0; r < size; ++r)
    for (i = 0; i < block; ++i) out[r * block + i] = Value(turn, rank, r, i);
  MPI_Alltoall(out, block, MPI_INT, in, block, MPI_INT, comm);
  for (r = 0; r < size; ++r)
    for (i = 0; i < block; ++i) EXPECT(in[r * block + i] == Value(turn, r, rank, i));

  Sum(comm, turn, 0, root);
  Sum(comm, turn, 1, root);
  Sum(comm, turn, 0, -1);
  Sum(comm, turn, 1, -1);
}

/* Data go round the ring in both directions, contiguous and with holes. */
static void Apart(MPI_Comm comm, int turn) {
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  MPI_Datatype every_other;
  MPI_Request requests[2];
  int i;
  for (i = 0; i < kWords; ++i) out[i] = Value(turn, rank, next, i);
  MPI_Sendrecv(out, kWords, MPI_INT, next, 1, in, kWords, MPI_INT, before, 1, comm,
               MPI_STATUS_IGNORE);
  for (i = 0; i < kWords; ++i) EXPECT(in[i] == Value(turn, before, rank, i));
  MPI_Type_vector(kWords / 2, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  for (i = 0; i < kWords; ++i) in[i] = -1;
  MPI_Irecv(in, 1, every_other, next, 2, comm, &requests[0]);
  MPI_Isend(out, 1, every_other, before, 2, comm, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (i = 0; i + 1 < kWords; i += 2)
    EXPECT(in[i] == Value(turn, next, (next + 1) % size, i) && in[i + 1] == -1);
  MPI_Type_free(&every_other);
}

static void All(MPI_Comm comm, int turns) {
  int turn;
  for (turn = 0; turn < turns; ++turn) {
    Together(comm, turn);
    Apart(comm, turn);
  }
}

int main(int argc, char** argv) {
  MPI_Comm other;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  in = malloc(kWords * sizeof *in);
  out = malloc(kWords * sizeof *out);
  if (argc != 4 || in == NULL || out == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  if (strcmp(argv[1], "user") == 0 && geteuid() != 0) {
    if (rank == 0) printf("SKIPPED: only root becomes another user\n");
    return Passed();
  }
  if (strcmp(argv[3], "then") == 0) All(MPI_COMM_WORLD, 2);
  if (strcmp(argv[2], "all") == 0 || rank == size - 1) GiveUp(argv[1]);
  All(MPI_COMM_WORLD, 4);
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &other);
  All(other, 2);
  MPI_Comm_free(&other);
  free(in);
  free(out);
  return Passed();
}
