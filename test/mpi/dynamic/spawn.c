/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   processes that are spawned meet their parents, and the two jobs talk by every kind of
 *         call; what cannot be spawned raises the same error at every parent.
 * Method: the program spawns itself, from MPI_COMM_SELF and from MPI_COMM_WORLD. Parents and
 *         children walk through the same steps and check what they get.
 */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "test/mpi/check.h"

enum { kChildren = 2, kLong = 300000 };

static char self[4096];

/* Messages of all lengths go both ways between the ranks of the same number. */
static void Exchange(MPI_Comm inter, int is_parent) {
  int rank, remote;
  MPI_Comm_rank(inter, &rank);
  MPI_Comm_remote_size(inter, &remote);
  if (rank >= remote) return;
  for (int count = 1; count <= kLong; count *= 67) {
    int* data = malloc(count * sizeof *data);
    MPI_Status status;
    for (int i = 0; i < count; ++i) data[i] = is_parent ? i : -1;
    if (is_parent) MPI_Send(data, count, MPI_INT, rank, 1, inter);
    MPI_Recv(data, count, MPI_INT, MPI_ANY_SOURCE, is_parent ? 2 : 1, inter, &status);
    EXPECT(status.MPI_SOURCE == rank);
    for (int i = 0; i < count; ++i)
      if (data[i] != (is_parent ? 2 * i : i)) {
        EXPECT(0 && "data");
        break;
      }
    for (int i = 0; i < count; ++i) data[i] *= 2;
    if (!is_parent) MPI_Ssend(data, count, MPI_INT, rank, 2, inter);
    free(data);
  }
}

/* Whoever is found together shares memory. Jobs do not, though all are on one node. */
static void ShareMemory(MPI_Comm merged, int job_size) {
  MPI_Comm node;
  MPI_Win win;
  int size, *cell;
  MPI_Comm_split_type(merged, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &size);
  EXPECT(size == job_size);
  MPI_Win_allocate_shared(sizeof *cell, sizeof *cell, MPI_INFO_NULL, node, &cell, &win);
  *cell = 1;
  MPI_Win_free(&win);
  MPI_Comm_free(&node);
}

/* Every member adds its number among all, so the sum shows who takes part. */
static void Together(MPI_Comm inter, int is_parent) {
  MPI_Comm merged, part, copy;
  int local, remote, rank, size, sum, value = 0;
  MPI_Comm_size(inter, &local);
  MPI_Comm_remote_size(inter, &remote);
  MPI_Comm_rank(inter, &rank);

  if (is_parent) value = rank == 0 ? 4711 : 0;
  MPI_Bcast(&value, 1, MPI_INT, is_parent ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, inter);
  EXPECT(value == (is_parent && rank != 0 ? 0 : 4711));
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
  EXPECT(sum == remote * (remote - 1) / 2);

  MPI_Intercomm_merge(inter, !is_parent, &merged);
  MPI_Comm_size(merged, &size);
  MPI_Comm_rank(merged, &value);
  EXPECT(size == local + remote);
  EXPECT(value == rank + (is_parent ? 0 : remote));
  rank = value;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged);
  EXPECT(sum == size * (size - 1) / 2);
  int* all = malloc(size * sizeof *all);
  MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, merged);
  for (int i = 0; i < size; ++i) EXPECT(all[i] == i);
  free(all);
  ShareMemory(merged, local);
  MPI_Comm_dup(merged, &copy);
  MPI_Barrier(copy);
  MPI_Comm_split(copy, rank % 2, rank, &part);
  MPI_Comm_size(part, &value);
  EXPECT(value == (size + (rank % 2 == 0)) / 2);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, part);
  value = 0;
  for (int i = rank % 2; i < size; i += 2) value += i;
  EXPECT(sum == value);
  MPI_Comm_free(&part);
  MPI_Comm_disconnect(&copy);
  MPI_Comm_disconnect(&merged);
}

static int Child(MPI_Comm parent, int argc, char** argv) {
  int size, flag, *number;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Comm again;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT(size == kChildren);
  EXPECT(argc == 3 && strcmp(argv[1], "child") == 0 && strcmp(argv[2], "an argument") == 0);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag);
  EXPECT(flag && *number == 0);
  MPI_Comm_get_name(parent, name, &size);
  EXPECT(strcmp(name, "MPI_COMM_PARENT") == 0);
  MPI_Comm_get_parent(&again);
  EXPECT(again == parent);
  Exchange(parent, 0);
  Together(parent, 0);
  MPI_Comm_disconnect(&again);
  MPI_Comm_get_parent(&again);
  EXPECT(again == MPI_COMM_NULL);
  return Passed();
}

static void Spawn(MPI_Comm comm, int root) {
  MPI_Comm inter;
  char* argv[] = {"child", "an argument", NULL};
  int codes[kChildren] = {-1, -1}, rank, remote, is_inter, value;
  MPI_Comm_rank(comm, &rank);
  /* Everything before `root` counts there alone. */
  value = rank == root
              ? MPI_Comm_spawn(self, argv, kChildren, MPI_INFO_NULL, root, comm, &inter, codes)
              : MPI_Comm_spawn(NULL, NULL, -1, MPI_INFO_NULL, root, comm, &inter, codes);
  EXPECT(value == MPI_SUCCESS);
  EXPECT(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS);
  MPI_Comm_test_inter(inter, &is_inter);
  MPI_Comm_remote_size(inter, &remote);
  EXPECT(is_inter && remote == kChildren);
  Exchange(inter, 1);
  Together(inter, 1);
  MPI_Comm_disconnect(&inter);
  EXPECT(inter == MPI_COMM_NULL);
}

static void Fail(void) {
  MPI_Comm inter;
  int codes[2] = {-1, -1}, rank, error, length;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  error = MPI_Comm_spawn("./no/such/program", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                         &inter, codes);
  EXPECT(ClassOf(error) == MPI_ERR_SPAWN);
  EXPECT(codes[0] == MPI_ERR_SPAWN && codes[1] == MPI_ERR_SPAWN);
  MPI_Error_string(error, text, &length);
  EXPECT(strstr(text, "no/such/program") != NULL);
  /* D15: a program that never calls MPI_Init keeps nobody waiting. */
  error = MPI_Comm_spawn("true", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes);
  EXPECT(ClassOf(error) == MPI_ERR_SPAWN);
  error = MPI_Comm_spawn("false", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                         MPI_ERRCODES_IGNORE);
  EXPECT(ClassOf(error) == MPI_ERR_SPAWN);
  error = MPI_Comm_spawn(rank == 0 ? "" : self, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                         &inter, codes);
  EXPECT(ClassOf(error) == MPI_ERR_ARG);
  error = MPI_Comm_spawn(self, MPI_ARGV_NULL, rank == 0 ? -1 : 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                         &inter, MPI_ERRCODES_IGNORE);
  EXPECT(ClassOf(error) == MPI_ERR_ARG);
  error = MPI_Comm_spawn(self, MPI_ARGV_NULL, 1, MPI_INFO_NULL, -1, MPI_COMM_WORLD, &inter, codes);
  EXPECT(ClassOf(error) == MPI_ERR_ROOT);
}

int main(int argc, char** argv) {
  MPI_Comm parent;
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) return Child(parent, argc, argv);
  self[readlink("/proc/self/exe", self, sizeof self - 1)] = '\0';
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Spawn(MPI_COMM_WORLD, size - 1);
  if (rank == 0) Spawn(MPI_COMM_SELF, 0);
  Spawn(MPI_COMM_WORLD, 0);
  if (argc < 2) Fail();
  return Passed();
}
