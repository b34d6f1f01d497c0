/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: MPI_Comm_split_type splits by node, by hardware and by process set as its arguments say,
 * and MPI_Get_hw_resource_info tells what the process is bound to (MPI-5.0, sections 7.4.2
 * and 9.1.2). An intercommunicator falls into intercommunicators as with MPI_Comm_split.
 */
#include "test/mpi/check.h"

static int SizeOf(MPI_Comm comm) {
  int size;
  MPI_Comm_size(comm, &size);
  return size;
}
static int Sum(MPI_Comm comm) {
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

/* Splits by the value of one key. */
static MPI_Comm By(int type, const char* key, const char* value) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Info info = MPI_INFO_NULL;
  if (key != NULL) {
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
  }
  MPI_Comm_split_type(MPI_COMM_WORLD, type, 0, info, &made);
  if (key != NULL) MPI_Info_free(&info);
  return made;
}

#ifdef MPI_ABI_VERSION
/* A type of hardware gives a communicator exactly if this process is restricted to one unit of it.
 */
static void EveryType(void) {
  MPI_Info info;
  int keys, i, length, flag;
  char key[MPI_MAX_INFO_KEY], value[10];
  MPI_Get_hw_resource_info(&info);
  MPI_Info_get_nkeys(info, &keys);
  EXPECT(keys >= 1);
  for (i = 0; i < keys; ++i) {
    MPI_Comm part;
    MPI_Info_get_nthkey(info, i, key);
    length = sizeof value;
    MPI_Info_get_string(info, key, &length, value, &flag);
    EXPECT(flag && (strcmp(value, "true") == 0 || strcmp(value, "false") == 0));
    part = By(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", key);
    EXPECT((part != MPI_COMM_NULL) == (strcmp(value, "true") == 0));
    if (part != MPI_COMM_NULL) {
      EXPECT(Sum(part) == SizeOf(part));
      MPI_Comm_free(&part);
    }
    part = By(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_hw_resource_type", key);
    EXPECT((part != MPI_COMM_NULL) == (strcmp(value, "true") == 0));
    if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
  }
  MPI_Info_free(&info);
}

static void Sets(int size) {
  MPI_Comm part = By(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://WORLD");
  EXPECT(part != MPI_COMM_NULL && SizeOf(part) == size && Sum(part) == size);
  MPI_Comm_free(&part);
  /* A set is its members: each rank has a mpi://SELF of its own (MPI-5.0, 7.4.2). */
  part = By(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://SELF");
  EXPECT(part != MPI_COMM_NULL && SizeOf(part) == 1);
  MPI_Comm_free(&part);
  part = By(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "no://such");
  EXPECT(part == MPI_COMM_NULL);
}

/* This goes on until nothing is left to split. Each part is smaller than its origin. */
static void Unguided(void) {
  MPI_Comm whole, part;
  MPI_Info info;
  int depth = 0;
  MPI_Info_create(&info);
  MPI_Comm_dup(MPI_COMM_WORLD, &whole);
  for (; depth < 30; ++depth) {
    char value[100] = "";
    int length = sizeof value, flag = 0;
    MPI_Comm_split_type(whole, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &part);
    if (part == MPI_COMM_NULL) break;
    EXPECT(SizeOf(part) < SizeOf(whole) && Sum(part) == SizeOf(part));
    MPI_Info_get_string(info, "mpi_hw_resource_type", &length, value, &flag);
    EXPECT(flag && length > 1);
    MPI_Comm_free(&whole);
    whole = part;
  }
  EXPECT(depth < 30);
  MPI_Comm_free(&whole);
  MPI_Info_free(&info);
}
#endif

#ifdef MPI_ABI_VERSION
/* Both groups of each part are those of the two halves that are on one node, or in one set. */
static void Across(int rank, int size) {
  const int types[] = {MPI_COMM_TYPE_SHARED, MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED,
                       MPI_UNDEFINED};
  MPI_Comm half, inter, part;
  MPI_Info info;
  int i;
  if (size < 2) return;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory");
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &inter);
  for (i = 0; i < 4; ++i) {
    int is_inter = 0, local = 0, remote = 0, all = 0, here;
    EXPECT(MPI_Comm_split_type(inter, types[i], rank, info, &part) == MPI_SUCCESS);
    EXPECT((part == MPI_COMM_NULL) == (types[i] == MPI_UNDEFINED));
    if (part == MPI_COMM_NULL) continue;
    MPI_Comm_test_inter(part, &is_inter);
    MPI_Comm_size(part, &local);
    MPI_Comm_remote_size(part, &remote);
    MPI_Comm_size(half, &here);
    EXPECT(is_inter && local == here && remote == size - here); /* the test runs on one node */
    MPI_Allreduce(&local, &all, 1, MPI_INT, MPI_SUM, part);
    EXPECT(all == remote * remote);
    MPI_Comm_free(&part);
  }
  /* What is one node cannot fall apart by hardware unless ranks are bound. */
  EXPECT(MPI_Comm_split_type(inter, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &part) ==
         MPI_SUCCESS);
  if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
  MPI_Info_free(&info);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}
#endif

int main(int argc, char** argv) {
  MPI_Comm node, part, other;
  int size, rank, result;

  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  node = By(MPI_COMM_TYPE_SHARED, NULL, NULL);
  EXPECT(node != MPI_COMM_NULL && Sum(node) == SizeOf(node));
  /* Some do not want one. */
  part = By(rank == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, NULL, NULL);
  EXPECT((part == MPI_COMM_NULL) == (rank == 0));
  if (part != MPI_COMM_NULL) {
    EXPECT(Sum(part) == SizeOf(part));
    MPI_Comm_free(&part);
  }
#ifdef MPI_ABI_VERSION
  other = By(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "mpi_shared_memory");
  MPI_Comm_compare(node, other, &result);
  EXPECT(result == MPI_CONGRUENT);
  MPI_Comm_free(&other);
  part = By(rank == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type",
            "hwloc://Machine");
  EXPECT(rank != 0 || part == MPI_COMM_NULL);
  if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
  EXPECT(By(MPI_COMM_TYPE_HW_GUIDED, NULL, NULL) == MPI_COMM_NULL);
  EXPECT(By(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "no such") == MPI_COMM_NULL);
  EveryType();
  Sets(size);
  Unguided();
  Across(rank, size);
#else
  (void)other, (void)result;
#endif
  MPI_Comm_free(&node);

  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  part = MPI_COMM_NULL;
  EXPECT(MPI_Comm_split_type(MPI_COMM_WORLD, 77777, 0, MPI_INFO_NULL, &part) != MPI_SUCCESS);
  EXPECT(ClassOf(MPI_Comm_split_type(MPI_COMM_NULL, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                                     &part)) == MPI_ERR_COMM);
#ifdef MPI_ABI_VERSION
  {
    MPI_Info* nowhere = NULL;
    EXPECT(ClassOf(MPI_Get_hw_resource_info(nowhere)) == MPI_ERR_ARG);
  }
#endif
  EXPECT(part == MPI_COMM_NULL);
  return Passed();
}
