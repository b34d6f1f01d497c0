/* SPDX-License-Identifier: BSD-3-Clause
 * One collective operation with random arguments: its buffers, its start in any form, and what must
 * have come of it. Every number says where it came from, so every rank can work out alone, naively,
 * what it must get.
 */
#ifndef LAMINA_TEST_MPI_COLLECTIVE_RANDOM_TASK_H
#define LAMINA_TEST_MPI_COLLECTIVE_RANDOM_TASK_H

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "test/mpi/check.h"

enum Operation {
  kBarrier,
  kBcast,
  kGather,
  kScatter,
  kAllgather,
  kAlltoall,
  kGatherv,
  kScatterv,
  kAllgatherv,
  kAlltoallv,
  kAlltoallw,
  kReduce,
  kAllreduce,
  kReduceScatterBlock,
  kReduceScatter,
  kScan,
  kExscan,
  kOperations
};
static const char* const names[] = {"barrier",        "bcast",
                                    "gather",         "scatter",
                                    "allgather",      "alltoall",
                                    "gatherv",        "scatterv",
                                    "allgatherv",     "alltoallv",
                                    "alltoallw",      "reduce",
                                    "allreduce",      "reduce_scatter_block",
                                    "reduce_scatter", "scan",
                                    "exscan"};
enum Form { kBlocking, kNonBlocking, kPersistent, kForms };
enum Kind { kWords, kSpread, kFunctions, kXor }; /* the last two for reductions only */
enum { kInFlight = 24, kBlocksMax = 64, kPlaces = 6 };
static const unsigned kUntouched = 0xdeadbeefu;

struct Place {
  MPI_Comm comm;
  int rank, size;
  int blocks; /* how many blocks; those of the other group, if there is one */
  int side;   /* 0 or 1 where there are two groups */
  int inter;
};
static struct Place places[kPlaces];
static int place_count;

struct Task {
  unsigned id;
  enum Operation operation;
  enum Form form;
  enum Kind kind;
  const struct Place* place;
  int root, root_side, in_place, count;
  unsigned *in, *out;
  size_t in_words, out_words;
  int in_counts[kBlocksMax], in_begins[kBlocksMax], out_counts[kBlocksMax], out_begins[kBlocksMax];
  MPI_Datatype types[kBlocksMax];
  MPI_Request request;
};

static MPI_Datatype spread, function;
static MPI_Op compose;

static unsigned Mix(unsigned a, unsigned b) {
  unsigned x = a * 0x9e3779b1u ^ (b + 0x7f4a7c15u + (a << 6));
  x ^= x >> 16;
  x *= 0x85ebca6bu;
  x ^= x >> 13;
  x *= 0xc2b2ae35u;
  return x ^ x >> 16;
}
static unsigned Draw(unsigned* state, unsigned below) {
  *state = Mix(*state, 1);
  return (*state >> 4) % below;
}

/* Returns word k of what rank `from` of group `side` has for rank `to` of the other. */
static unsigned Datum(unsigned id, int side, int from, int to, size_t k) {
  return Mix(Mix(Mix(id, (unsigned)(side * 1000 + from)), (unsigned)to), (unsigned)k);
}
/* Returns the elements of that block in calls whose blocks differ. */
static int CountOf(const struct Task* task, int side, int from, int to) {
  return (int)(Mix(Mix(task->id, (unsigned)(side * 1000 + from)), (unsigned)to + 77) %
               (unsigned)(task->count + 1));
}

static int WordsPerElement(const struct Task* task) {
  return task->kind == kSpread || task->kind == kFunctions ? 2 : 1;
}
static MPI_Datatype TypeOf(const struct Task* task) {
  if (task->kind == kSpread) return spread;
  return task->kind == kFunctions ? function : MPI_UNSIGNED;
}
/* Returns where word k lies. The spread type has a hole behind each of its two words. */
static size_t At(const struct Task* task, size_t k) { return task->kind == kSpread ? 2 * k : k; }

static unsigned* NewBuffer(const struct Task* task, size_t words) {
  const size_t size = At(task, words) + 4;
  unsigned* buffer = malloc(size * sizeof *buffer);
  size_t i;
  for (i = 0; i < size; ++i) buffer[i] = kUntouched;
  return buffer;
}

static void ComposeFunctions(void* left, void* right, int* length, MPI_Datatype* type) {
  unsigned *a = left, *b = right;
  int i;
  (void)type;
  for (i = 0; i < 2 * *length; i += 2) {
    b[i + 1] = a[i + 1] + a[i] * b[i + 1];
    b[i] *= a[i];
  }
}

/* Computes word k, and for functions also k + 1, of the reduction of ranks [0, last) of group
 * `side`. */
static void Fold(const struct Task* task, int side, int last, size_t k, unsigned result[2]) {
  int rank;
  for (rank = 0; rank < last; ++rank) {
    const unsigned next[2] = {Datum(task->id, side, rank, 0, k),
                              Datum(task->id, side, rank, 0, k + 1)};
    if (rank == 0) {
      memcpy(result, next, sizeof next);
    } else if (task->kind == kFunctions) {
      result[1] += result[0] * next[1];
      result[0] *= next[0];
    } else {
      result[0] = task->kind == kXor ? result[0] ^ next[0] : result[0] + next[0];
    }
  }
}

static void Complain(const struct Task* task, size_t k, unsigned found, unsigned expected) {
  static const char* const forms[] = {"blocking", "non-blocking", "persistent"};
  if (++failures > 5) return;
  fprintf(
      stderr,
      "%s (id %u, %s, kind %d%s) on communicator %d, rank %d of %d, root %d, count %d: word %zu "
      "is %u, not %u\n",
      names[task->operation], task->id, forms[task->form], (int)task->kind,
      task->in_place ? ", in place" : "", (int)(task->place - places), task->place->rank,
      task->place->size, task->root, task->count, k, found, expected);
}

static void FillBlock(struct Task* task, unsigned* buffer, size_t first, int elements, int to) {
  const size_t words = (size_t)elements * (size_t)WordsPerElement(task);
  size_t k;
  for (k = 0; k < words; ++k)
    buffer[At(task, first + k)] = Datum(task->id, task->place->side, task->place->rank, to, k);
}
static void CheckBlock(const struct Task* task, size_t first, int elements, int side, int from,
                       int to) {
  const size_t words = (size_t)elements * (size_t)WordsPerElement(task);
  size_t k;
  for (k = 0; k < words; ++k) {
    const unsigned expected = Datum(task->id, side, from, to, k);
    if (task->out[At(task, first + k)] == expected) continue;
    Complain(task, first + k, task->out[At(task, first + k)], expected);
    return;
  }
}

static int AtRoot(const struct Task* task) {
  return task->place->rank == task->root &&
         (!task->place->inter || task->place->side == task->root_side);
}
/* Tells whether this process has a part in a rooted operation without being its root. */
static int IsLeaf(const struct Task* task) {
  return task->place->inter ? task->place->side != task->root_side : 1;
}
static int RootArgument(const struct Task* task) {
  if (!task->place->inter || task->place->side != task->root_side) return task->root;
  return task->place->rank == task->root ? MPI_ROOT : MPI_PROC_NULL;
}
static int Reduces(enum Operation operation) { return operation >= kReduce; }
static int Given(enum Operation operation) {
  return operation >= kGatherv && operation <= kAlltoallw;
}
/* Tells whether there is one block per destination or one per source. */
static int ManyIn(enum Operation operation) {
  return operation == kScatter || operation == kScatterv || operation == kAlltoall ||
         operation == kAlltoallv || operation == kAlltoallw;
}
static int ManyOut(enum Operation operation) {
  return operation >= kGather && operation <= kAlltoallw && operation != kScatter &&
         operation != kScatterv;
}

/* Lays blocks one behind another, with a hole between them where they are given. */
static size_t LayOut(const struct Task* task, int* counts, int* begins, int outgoing) {
  const struct Place* place = task->place;
  const int to_all = ManyIn(task->operation) && ManyOut(task->operation);
  size_t elements = 0;
  int i;
  for (i = 0; i < place->blocks; ++i) {
    const int other = place->inter ? 1 - place->side : 0;
    counts[i] = task->count;
    if (Given(task->operation))
      counts[i] = outgoing ? CountOf(task, place->side, place->rank, i)
                           : CountOf(task, other, i, to_all ? place->rank : 0);
    elements += Given(task->operation) ? 1 : 0;
    begins[i] = (int)elements;
    elements += (size_t)counts[i];
  }
  return elements * (size_t)WordsPerElement(task);
}

static void PrepareMovement(struct Task* task) {
  const struct Place* place = task->place;
  const int words = WordsPerElement(task);
  const int rooted = task->operation == kBcast || task->operation == kGather ||
                     task->operation == kGatherv || task->operation == kScatter ||
                     task->operation == kScatterv;
  const int scatters = task->operation == kScatter || task->operation == kScatterv;
  int i;
  task->in_words = LayOut(task, task->in_counts, task->in_begins, 1);
  task->out_words = LayOut(task, task->out_counts, task->out_begins, 0);
  if (!ManyIn(task->operation)) { /* the same block for all */
    task->in_counts[0] =
        Given(task->operation) ? CountOf(task, place->side, place->rank, 0) : task->count;
    task->in_words = (size_t)task->in_counts[0] * (size_t)words;
  }
  if (!ManyOut(task->operation)) {
    task->out_counts[0] = task->count;
    if (task->operation == kScatterv)
      task->out_counts[0] = CountOf(task, task->root_side, task->root, place->rank);
    task->out_words = (size_t)task->out_counts[0] * (size_t)words;
  }
  task->in = NewBuffer(task, task->in_words);
  task->out = NewBuffer(task, task->out_words);
  for (i = 0; i < place->blocks; ++i) task->types[i] = TypeOf(task);
  if (task->operation == kBarrier) return;
  if (task->operation == kBcast) {
    if (AtRoot(task)) FillBlock(task, task->out, 0, task->count, 0);
  } else if (ManyIn(task->operation)) {
    if (!rooted || AtRoot(task))
      for (i = 0; i < place->blocks; ++i)
        FillBlock(task, task->in, (size_t)(task->in_begins[i] * words), task->in_counts[i], i);
  } else if (task->in_place) {
    FillBlock(task, task->out, (size_t)(task->out_begins[place->rank] * words), task->in_counts[0],
              0);
  } else {
    FillBlock(task, task->in, 0, task->in_counts[0], 0);
  }
  if (scatters && !IsLeaf(task)) task->out_counts[0] = 0;
}

/* In the w-form displacements are bytes. */
static void MakeBytes(const struct Task* task, int* begins) {
  const int bytes = (int)sizeof(unsigned) * (task->kind == kSpread ? 4 : 1);
  int i;
  for (i = 0; i < task->place->blocks; ++i) begins[i] *= bytes;
}

static void PrepareReduction(struct Task* task) {
  const struct Place* place = task->place;
  size_t elements = (size_t)task->count, k;
  int i;
  if (task->operation == kReduceScatterBlock || task->operation == kReduceScatter) {
    /* Both sides of an intercommunicator have the same amount. */
    elements *= (size_t)(place->size * (place->inter ? place->blocks : 1));
    for (i = 0; i < place->size; ++i) {
      const size_t square = (size_t)(place->size * place->size);
      const size_t begin = elements * (size_t)(i * i) / square;
      const size_t end = elements * (size_t)((i + 1) * (i + 1)) / square;
      task->out_begins[i] = (int)begin;
      task->out_counts[i] = (int)(end - begin);
      if (task->operation == kReduceScatter) continue;
      task->out_counts[i] = (int)(elements / (size_t)place->size);
      task->out_begins[i] = i * task->out_counts[i];
    }
  }
  task->in_words = task->out_words = elements * (size_t)WordsPerElement(task);
  task->in = NewBuffer(task, task->in_words);
  task->out = NewBuffer(task, task->out_words);
  for (k = 0; k < task->in_words; ++k)
    (task->in_place ? task->out : task->in)[k] = Datum(task->id, place->side, place->rank, 0, k);
}

#ifdef LAMINA_TEST_NO_PERSISTENT /* for libraries that have no persistent collectives */
#define INIT(Name, Lower, ...) MPI_I##Lower(__VA_ARGS__, &task->request)
#define FREE(request) (void)0
#else
#define INIT(Name, Lower, ...) \
  (MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &task->request), MPI_Start(&task->request))
#define FREE(request) MPI_Request_free(request)
#endif
#define START(Name, Lower, ...)                  \
  switch (task->form) {                          \
    case kBlocking:                              \
      MPI_##Name(__VA_ARGS__);                   \
      break;                                     \
    case kNonBlocking:                           \
      MPI_I##Lower(__VA_ARGS__, &task->request); \
      break;                                     \
    default:                                     \
      INIT(Name, Lower, __VA_ARGS__);            \
  }                                              \
  break

static void StartMovement(struct Task* t, const void* in, void* out, MPI_Datatype type) {
  struct Task* task = t;
  const MPI_Comm comm = t->place->comm;
  const int root = RootArgument(t), mine = t->in_counts[0], count = t->count;
  const int *sc = t->in_counts, *sd = t->in_begins, *rc = t->out_counts, *rd = t->out_begins;
  switch (t->operation) {
    case kBarrier:
      START(Barrier, barrier, comm);
    case kBcast:
      START(Bcast, bcast, out, count, type, root, comm);
    case kGather:
      START(Gather, gather, in, mine, type, out, count, type, root, comm);
    case kScatter:
      START(Scatter, scatter, in, count, type, out, rc[0], type, root, comm);
    case kAllgather:
      START(Allgather, allgather, in, mine, type, out, count, type, comm);
    case kAlltoall:
      START(Alltoall, alltoall, in, count, type, out, count, type, comm);
    case kGatherv:
      START(Gatherv, gatherv, in, mine, type, out, rc, rd, type, root, comm);
    case kScatterv:
      START(Scatterv, scatterv, in, sc, sd, type, out, rc[0], type, root, comm);
    case kAllgatherv:
      START(Allgatherv, allgatherv, in, mine, type, out, rc, rd, type, comm);
    case kAlltoallv:
      START(Alltoallv, alltoallv, in, sc, sd, type, out, rc, rd, type, comm);
    default:
      MakeBytes(t, t->in_begins);
      MakeBytes(t, t->out_begins);
      START(Alltoallw, alltoallw, in, sc, sd, t->types, out, rc, rd, t->types, comm);
  }
}

static void StartReduction(struct Task* task, const void* in, void* out, MPI_Datatype type) {
  const MPI_Comm comm = task->place->comm;
  const int count = task->count;
  const MPI_Op op = task->kind == kFunctions ? compose : task->kind == kXor ? MPI_BXOR : MPI_SUM;
  switch (task->operation) {
    case kReduce:
      START(Reduce, reduce, in, out, count, type, op, RootArgument(task), comm);
    case kAllreduce:
      START(Allreduce, allreduce, in, out, count, type, op, comm);
    case kScan:
      START(Scan, scan, in, out, count, type, op, comm);
    case kExscan:
      START(Exscan, exscan, in, out, count, type, op, comm);
    case kReduceScatterBlock:
      START(Reduce_scatter_block, reduce_scatter_block, in, out, task->out_counts[0], type, op,
            comm);
    default:
      START(Reduce_scatter, reduce_scatter, in, out, task->out_counts, type, op, comm);
  }
}

static void CheckMovement(const struct Task* task) {
  const struct Place* place = task->place;
  const int other = place->inter ? 1 - place->side : 0, words = WordsPerElement(task);
  const int to_all = ManyIn(task->operation) && ManyOut(task->operation);
  int begins[kBlocksMax], i;
  if (task->operation == kBarrier) return;
  if (!ManyOut(task->operation)) {
    if (!IsLeaf(task)) return;
    CheckBlock(task, 0, task->out_counts[0], task->root_side, task->root,
               task->operation == kBcast ? 0 : place->rank);
    return;
  }
  if ((task->operation == kGather || task->operation == kGatherv) && !AtRoot(task)) return;
  memcpy(begins, task->out_begins, sizeof begins);
  for (i = 0; i < place->blocks; ++i) {
    const int bytes = (int)sizeof(unsigned) * (task->kind == kSpread ? 4 : 1);
    if (task->operation == kAlltoallw) begins[i] /= bytes;
    CheckBlock(task, (size_t)(begins[i] * words), task->out_counts[i], other, i,
               to_all ? place->rank : 0);
  }
}

static void CheckReduction(const struct Task* task) {
  const struct Place* place = task->place;
  const int words = WordsPerElement(task), side = place->inter ? 1 - place->side : 0;
  size_t first = 0, length = (size_t)task->count, k;
  int last = place->inter ? place->blocks : place->size;
  if (task->operation == kReduce && !AtRoot(task)) return;
  if (task->operation == kScan) last = place->rank + 1;
  if (task->operation == kExscan) last = place->rank;
  if (last == 0) return;
  if (task->operation == kReduceScatterBlock || task->operation == kReduceScatter) {
    first = (size_t)task->out_begins[place->rank];
    length = (size_t)task->out_counts[place->rank];
  }
  for (k = 0; k < length * (size_t)words; k += (size_t)words) {
    unsigned expected[2] = {0, 0};
    Fold(task, side, last, first * (size_t)words + k, expected);
    if (task->out[k] == expected[0] && (words == 1 || task->out[k + 1] == expected[1])) continue;
    Complain(task, k, task->out[k], expected[0]);
    return;
  }
}

#endif
