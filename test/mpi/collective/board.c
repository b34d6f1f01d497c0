/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   collectives in shared memory stay right over a long run: on many communicators, beside
 *         messages, with ranks that sleep and ranks that run ahead, after communicators were freed.
 * Method: all ranks draw the same random calls; every value says where it comes from. Then one rank
 *         keeps all others waiting until they sleep, and one sends a long message into a barrier.
 *         p2p.wait.sleep_ms is set to a minute: a lost wake is a test that does not end.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "test/mpi/check.h"

enum { kWordsMax = 6000, kComms = 3, kRounds = 600, kRoom = 17 * (16 << 10) };

static unsigned state = 12345;
static int Draw(int below) {
  state = state * 1664525u + 1013904223u;
  return (int)((state >> 8) % (unsigned)below);
}

static int Value(int round, int from, int to, int i) {
  return (round * 31 + from) * 1009 + to * 37 + i;
}

struct Place {
  MPI_Comm comm;
  int rank, size;
};

static int *out, *in;

static void Fill(int round, int from, int to, int count, int* words) {
  int i;
  for (i = 0; i < count; ++i) words[i] = Value(round, from, to, i);
}
static void Check(int round, int from, int to, int count, const int* words) {
  int i;
  for (i = 0; i < count; ++i) EXPECT(words[i] == Value(round, from, to, i));
}

static void Move(const struct Place* at, int round, int kind, int root, int count) {
  int r;
  switch (kind) {
    case 0:
      if (at->rank == root) Fill(round, root, 0, count, in);
      MPI_Bcast(in, count, MPI_INT, root, at->comm);
      Check(round, root, 0, count, in);
      return;
    case 1:
      Fill(round, at->rank, 0, count, out);
      MPI_Allgather(out, count, MPI_INT, in, count, MPI_INT, at->comm);
      for (r = 0; r < at->size; ++r) Check(round, r, 0, count, in + r * count);
      return;
    case 2:
      for (r = 0; r < at->size; ++r) Fill(round, at->rank, r, count, out + r * count);
      MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, at->comm);
      for (r = 0; r < at->size; ++r) Check(round, r, at->rank, count, in + r * count);
      return;
    case 3:
      Fill(round, at->rank, 0, count, out);
      MPI_Gather(out, count, MPI_INT, in, count, MPI_INT, root, at->comm);
      for (r = 0; at->rank == root && r < at->size; ++r) Check(round, r, 0, count, in + r * count);
      return;
    default:
      for (r = 0; r < at->size; ++r) Fill(round, root, r, count, out + r * count);
      MPI_Scatter(out, count, MPI_INT, in, count, MPI_INT, root, at->comm);
      Check(round, root, at->rank, count, in);
  }
}

static void Combine(const struct Place* at, int round, int to_all, int root, int count) {
  int i, r;
  Fill(round, at->rank, 0, count, out);
  if (to_all)
    MPI_Allreduce(out, in, count, MPI_INT, MPI_SUM, at->comm);
  else
    MPI_Reduce(out, in, count, MPI_INT, MPI_SUM, root, at->comm);
  if (!to_all && at->rank != root) return;
  for (i = 0; i < count; ++i) {
    unsigned sum = 0;
    for (r = 0; r < at->size; ++r) sum += (unsigned)Value(round, r, 0, i);
    EXPECT((unsigned)in[i] == sum);
  }
}

static void RandomCalls(const struct Place* places, int rounds) {
  int round;
  for (round = 0; round < rounds; ++round) {
    const int which = Draw(kComms), kind = Draw(8), draw = Draw(1000000), length = Draw(5);
    const struct Place* at = &places[which];
    int words = length == 0 ? draw % kWordsMax : length == 1 ? draw % 600 : draw % 12;
    if (kind >= 1 && kind <= 4) words = words / at->size;
    if (kind == 7)
      MPI_Barrier(at->comm);
    else if (kind >= 5)
      Combine(at, round, kind == 5, draw % at->size, words);
    else
      Move(at, round, kind, draw % at->size, words);
  }
}

/* The data are long enough to go from buffer to buffer. */
static void LongCalls(const struct Place* at) {
  enum { kWords = 16 << 10 };
  int turn, kind;
  if (at->size > 16) return; /* memory */
  for (turn = 0; turn < 2; ++turn) {
    const int root = turn % at->size;
    Move(at, turn, 0, root, kWords * at->size + turn);
    for (kind = 1; kind <= 4; ++kind) Move(at, turn, kind, root, kWords - turn);
    Move(at, turn, 2, root, kWords / 4 + turn);
    Combine(at, turn, 0, root, kWords * at->size + turn);
    Combine(at, turn, 1, root, kWords * at->size + turn);
  }
}

/* The same, but the data of one rank has holes, or there is one buffer only. */
static void LongCallsElsewhere(const struct Place* at) {
  enum { kWords = 16 << 10 };
  MPI_Datatype spread;
  int i, r;
  if (at->size > 16) return;
  MPI_Type_vector(kWords, 1, 2, MPI_INT, &spread);
  MPI_Type_commit(&spread);
  for (i = 0; at->rank == 0 && i < kWords; ++i) in[2 * i] = Value(0, 0, 0, i);
  MPI_Bcast(in, at->rank == 0 ? 1 : kWords, at->rank == 0 ? spread : MPI_INT, 0, at->comm);
  if (at->rank != 0) Check(0, 0, 0, kWords, in);
  MPI_Type_free(&spread);
  for (r = 0; r < at->size; ++r) Fill(0, at->rank, r, kWords, in + r * kWords);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, kWords, MPI_INT, at->comm);
  for (r = 0; r < at->size; ++r) Check(0, r, at->rank, kWords, in + r * kWords);
}

static struct Place In(MPI_Comm comm) {
  struct Place place;
  place.comm = comm;
  MPI_Comm_rank(comm, &place.rank);
  MPI_Comm_size(comm, &place.size);
  return place;
}

/* Rank 0 computes until the others are long asleep. */
static void Awaken(const struct Place* world, double seconds) {
  const double begin = MPI_Wtime();
  int sum = 0;
  if (world->rank == 0)
    while (MPI_Wtime() < begin + seconds) continue;
  MPI_Barrier(world->comm);
  if (world->rank == world->size - 1)
    while (MPI_Wtime() < begin + 2 * seconds) continue;
  MPI_Allreduce(&world->rank, &sum, 1, MPI_INT, MPI_SUM, world->comm);
  EXPECT(sum == world->size * (world->size - 1) / 2);
}

/* This message needs its sender, which is in a barrier already. */
static void BesideMessages(const struct Place* world) {
  enum { kLong = 1 << 20 };
  char* data = calloc(kLong, 1);
  MPI_Request request = MPI_REQUEST_NULL;
  if (world->rank == 0 && world->size > 1) {
    memset(data, 7, kLong);
    MPI_Isend(data, kLong, MPI_BYTE, 1, 5, world->comm, &request);
  }
  if (world->rank == 1) {
    MPI_Recv(data, kLong, MPI_BYTE, 0, 5, world->comm, MPI_STATUS_IGNORE);
    EXPECT(data[0] == 7 && data[kLong - 1] == 7);
  }
  MPI_Barrier(world->comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free(data);
}

static void ManyCommunicators(const struct Place* world) {
  int i;
  for (i = 0; i < 40; ++i) {
    MPI_Comm comm;
    int sum = 0, k;
    MPI_Comm_split(world->comm, world->rank % (1 + i % 3), -world->rank, &comm);
    for (k = 0; k < 6; ++k) {
      struct Place place = In(comm);
      MPI_Barrier(comm);
      MPI_Allreduce(&place.rank, &sum, 1, MPI_INT, MPI_SUM, comm);
      EXPECT(sum == place.size * (place.size - 1) / 2);
    }
    MPI_Comm_free(&comm);
  }
}

/* One structure holds what is sent and what is received. Both buffers are its address, and the
 * datatypes say where the data lie. There are enough calls for all ranks to use shared memory. */
static void OneBuffer(const struct Place* at) {
  enum { kBlock = 40 };
  int* const both = out;
  const int room = at->size * kBlock;
  int block = kBlock, round, r;
  MPI_Aint behind = (MPI_Aint)sizeof(int) * room;
  MPI_Datatype part, to, from;
  MPI_Type_contiguous(kBlock, MPI_INT, &from);
  MPI_Type_create_hindexed(1, &block, &behind, MPI_INT, &part);
  MPI_Type_create_resized(part, 0, (MPI_Aint)sizeof(int) * kBlock, &to);
  MPI_Type_commit(&from);
  MPI_Type_commit(&to);
  for (round = 0; round < 12; ++round) {
    for (r = 0; r < at->size; ++r) Fill(round, at->rank, r, kBlock, both + r * kBlock);
    memset(both + room, 0, (size_t)behind);
    MPI_Alltoall(both, 1, from, both, 1, to, at->comm);
    for (r = 0; r < at->size; ++r) Check(round, r, at->rank, kBlock, both + room + r * kBlock);
    memset(both + room, 0, (size_t)behind);
    MPI_Gather(both, 1, from, both, 1, to, 0, at->comm);
    for (r = 0; at->rank == 0 && r < at->size; ++r)
      Check(round, r, 0, kBlock, both + room + r * kBlock);
    memset(both + room, 0, (size_t)behind);
    MPI_Scatter(both, 1, from, both, 1, to, 0, at->comm);
    Check(round, 0, at->rank, kBlock, both + room);
  }
  MPI_Type_free(&part);
  MPI_Type_free(&from);
  MPI_Type_free(&to);
}

int main(int argc, char** argv) {
  struct Place places[kComms];
  MPI_Comm halves, reversed;
  const int rounds = argc > 1 ? atoi(argv[1]) : kRounds;
  MPI_Init(&argc, &argv);
  places[0] = In(MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, places[0].rank % 2, 0, &halves);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -places[0].rank, &reversed);
  places[1] = In(halves);
  places[2] = In(reversed);
  out = calloc(kRoom, sizeof(int));
  in = calloc(kRoom, sizeof(int));
  RandomCalls(places, rounds);
  LongCalls(&places[0]);
  LongCallsElsewhere(&places[0]);
  Awaken(&places[0], 0.05);
  BesideMessages(&places[0]);
  OneBuffer(&places[0]);
  ManyCommunicators(&places[0]);
  RandomCalls(places, rounds / 4);
  MPI_Comm_free(&halves);
  MPI_Comm_free(&reversed);
  free(out);
  free(in);
  return Passed();
}
