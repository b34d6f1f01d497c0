/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   any mixture of collectives gives the right data: operation, form, datatype, count, root
 *         and communicator at random, many under way at once, completed in any order.
 * Method: a seed that all ranks share draws batches of operations; a seed of its own draws each
 *         rank's order of completion; random_task.h says what each rank must get. Reductions also
 *         use an operation that does not commute: composition of the functions a x + b, modulo
 *         2^32.
 *
 * usage: random SEED OPERATIONS [CHILDREN]
 *
 * With CHILDREN the ranks spawn so many others that play along, and every communicator spans the
 * two jobs, whose ranks take turns in it.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "test/mpi/collective/random_task.h"

/* All ranks draw the same. Returns false if this one is no member. */
static int DrawTask(struct Task* task, unsigned* state, unsigned id) {
  static const int counts[] = {0, 1, 2, 3, 5, 8, 17, 64, 200, 1000, 5000};
  const int place = (int)Draw(state, (unsigned)place_count);
  unsigned root, in_place, count;
  memset(task, 0, sizeof *task);
  task->id = id;
  task->place = &places[place];
  task->operation = (enum Operation)Draw(state, kOperations);
  task->form = (enum Form)Draw(state, kForms);
  task->kind = (enum Kind)Draw(state, 2);
  if (Reduces(task->operation)) {
    const unsigned kind = Draw(state, 3);
    task->kind = kind == 0 ? kWords : kind == 1 ? kFunctions : kXor;
  }
  count = Draw(state, sizeof counts / sizeof *counts);
  root = Draw(state, 1000);
  in_place = Draw(state, 2);
  task->root_side = (int)Draw(state, 2);
  task->count = counts[count];
  task->request = MPI_REQUEST_NULL;
  if (task->place->comm == MPI_COMM_NULL) return 0;
  if (!task->place->inter) task->root_side = 0;
  if (task->place->inter && (task->operation == kScan || task->operation == kExscan)) return 0;
  /* The root's group has its size, and the other one's number of blocks is that. */
  task->root =
      (int)root % (task->place->inter && task->place->side != task->root_side ? task->place->blocks
                                                                              : task->place->size);
  task->in_place =
      (int)in_place && !task->place->inter &&
      (task->operation == kAllgather || task->operation == kAllgatherv ||
       task->operation == kAllreduce || task->operation == kScan || task->operation == kExscan ||
       task->operation == kReduceScatterBlock || task->operation == kReduceScatter ||
       (task->operation == kReduce && task->place->rank == task->root));
  return 1;
}

static void Begin(struct Task* task) {
  const void* in;
  if (Reduces(task->operation))
    PrepareReduction(task);
  else
    PrepareMovement(task);
  in = task->in_place ? MPI_IN_PLACE : task->in;
  if (Reduces(task->operation))
    StartReduction(task, in, task->out, TypeOf(task));
  else
    StartMovement(task, in, task->out, TypeOf(task));
}

static void Finish(struct Task* task) {
  if (task->form == kPersistent) FREE(&task->request);
  if (Reduces(task->operation))
    CheckReduction(task);
  else
    CheckMovement(task);
  free(task->in);
  free(task->out);
}

/* Completes the calls that are under way, in any order. */
static void Complete(struct Task* tasks, int count, unsigned* own_state) {
  int order[kInFlight], i;
  for (i = 0; i < count; ++i) order[i] = i;
  for (i = count - 1; i > 0; --i) {
    const int j = (int)Draw(own_state, (unsigned)i + 1), swap = order[i];
    order[i] = order[j];
    order[j] = swap;
  }
  for (i = 0; i < count; ++i) {
    struct Task* task = &tasks[order[i]];
    int flag = 0;
    if (Draw(own_state, 2) == 0)
      MPI_Wait(&task->request, MPI_STATUS_IGNORE);
    else
      while (!flag) MPI_Test(&task->request, &flag, MPI_STATUS_IGNORE);
    Finish(task);
  }
}

static void AddPlace(MPI_Comm comm, int side) {
  struct Place* place = &places[place_count++];
  place->comm = comm;
  place->side = side;
  if (comm == MPI_COMM_NULL) return;
  MPI_Comm_rank(comm, &place->rank);
  MPI_Comm_size(comm, &place->size);
  MPI_Comm_test_inter(comm, &place->inter);
  place->blocks = place->size;
  if (place->inter) MPI_Comm_remote_size(comm, &place->blocks);
}

/* Everybody who plays: the world, or this job and the one that it spawned. */
static MPI_Comm Players(char** argv) {
  MPI_Comm players, other, merged;
  int rank;
  MPI_Comm_get_parent(&other);
  if (other == MPI_COMM_NULL && argv[1] != NULL && argv[2] != NULL && argv[3] != NULL)
    MPI_Comm_spawn(argv[0], argv + 1, atoi(argv[3]), MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                   MPI_ERRCODES_IGNORE);
  if (other == MPI_COMM_NULL) {
    MPI_Comm_dup(MPI_COMM_WORLD, &players);
    return players;
  }
  MPI_Intercomm_merge(other, 0, &merged);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(merged, 0, rank, &players);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&other);
  return players;
}

static void MakePlaces(MPI_Comm players, int rank, int size) {
  MPI_Comm comm, half;
  MPI_Comm_dup(players, &comm);
  AddPlace(comm, 0);
  MPI_Comm_split(players, 0, -rank, &comm);
  AddPlace(comm, 0);
  MPI_Comm_split(players, rank % 2, rank, &half);
  AddPlace(half, 0);
  MPI_Comm_split(players, rank <= size / 3 ? 0 : MPI_UNDEFINED, rank, &comm);
  AddPlace(comm, 0);
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  AddPlace(comm, 0);
  if (size < 2) return;
  MPI_Intercomm_create(half, 0, players, 1 - rank % 2, 9, &comm);
  AddPlace(comm, rank % 2);
}

int main(int argc, char** argv) {
  static struct Task tasks[kInFlight];
  const unsigned seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : 1;
  const unsigned operations = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : 500;
  unsigned state = seed, own_state, id = 0;
  MPI_Datatype vector;
  MPI_Comm players;
  int rank, size, i;
  MPI_Init(&argc, &argv);
  players = Players(argv);
  MPI_Comm_rank(players, &rank);
  MPI_Comm_size(players, &size);
  own_state = Mix(seed, (unsigned)rank + 1000);
  MPI_Type_vector(2, 1, 2, MPI_UNSIGNED, &vector);
  MPI_Type_create_resized(vector, 0, 4 * (MPI_Aint)sizeof(unsigned), &spread);
  MPI_Type_commit(&spread);
  MPI_Type_free(&vector);
  MPI_Type_contiguous(2, MPI_UNSIGNED, &function);
  MPI_Type_commit(&function);
  MPI_Op_create(ComposeFunctions, 0, &compose);
  MakePlaces(players, rank, size);

  while (id < operations && failures == 0) {
    const int batch = 1 + (int)Draw(&state, kInFlight);
    int under_way = 0;
    for (i = 0; i < batch; ++i) {
      struct Task* task = &tasks[under_way];
      if (!DrawTask(task, &state, ++id)) continue;
      Begin(task);
      if (task->form == kBlocking)
        Finish(task);
      else
        ++under_way;
    }
    Complete(tasks, under_way, &own_state);
  }
  if (failures > 0) fprintf(stderr, "random: seed %u fails before operation %u\n", seed, id);

  for (i = 0; i < place_count; ++i)
    if (places[i].comm != MPI_COMM_NULL) MPI_Comm_free(&places[i].comm);
  MPI_Comm_disconnect(&players);
  MPI_Op_free(&compose);
  MPI_Type_free(&function);
  MPI_Type_free(&spread);
  return Passed();
}
