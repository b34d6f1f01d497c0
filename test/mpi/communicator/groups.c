/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: groups are ordered sets; their operations keep the order the standard fixes
 * (MPI-5.0, section 7.3).
 */
#include "test/mpi/check.h"

/* Checks that `group` has exactly these ranks of `world`, in this order. */
static int Has(MPI_Group group, MPI_Group world, int n, const int* ranks) {
  int size, i;
  MPI_Group_size(group, &size);
  if (size != n) return 0;
  for (i = 0; i < n; ++i) {
    int there;
    MPI_Group_translate_ranks(group, 1, &i, world, &there);
    if (there != ranks[i]) return 0;
  }
  return 1;
}

int main(int argc, char** argv) {
  MPI_Group world, evens, reversed, some, made;
  int size, rank, i, result, evens_count = 0;
  int even_ranks[64], all[64], back[64];
  int range[1][3];

  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_rank(world, &result);
  EXPECT(result == rank);
  for (i = 0; i < size; ++i) {
    all[i] = i;
    back[i] = size - 1 - i;
    if (i % 2 == 0) even_ranks[evens_count++] = i;
  }

  range[0][0] = 0, range[0][1] = size - 1, range[0][2] = 2;
  MPI_Group_range_incl(world, 1, range, &evens);
  EXPECT(Has(evens, world, evens_count, even_ranks));
  MPI_Group_incl(world, evens_count, even_ranks, &made);
  MPI_Group_compare(evens, made, &result);
  EXPECT(result == MPI_IDENT);
  MPI_Group_free(&made);
  MPI_Group_rank(evens, &result);
  EXPECT(result == (rank % 2 == 0 ? rank / 2 : MPI_UNDEFINED));

  range[0][0] = size - 1, range[0][1] = 0, range[0][2] = -1;
  MPI_Group_range_incl(world, 1, range, &reversed);
  EXPECT(Has(reversed, world, size, back));
  MPI_Group_compare(world, reversed, &result);
  EXPECT(result == (size == 1 ? MPI_IDENT : MPI_SIMILAR));

  MPI_Group_excl(world, evens_count, even_ranks, &some); /* the odd ones */
  MPI_Group_intersection(some, evens, &made);
  EXPECT(made == MPI_GROUP_EMPTY);
  MPI_Group_union(evens, world, &made);
  MPI_Group_size(made, &result);
  EXPECT(result == size);
  result = 0;
  i = evens_count > 1 ? 1 : 0;
  MPI_Group_translate_ranks(made, 1, &i, world, &result);
  EXPECT(result == 2 * i); /* members of the first group come first */
  MPI_Group_free(&made);
  MPI_Group_difference(world, evens, &made);
  MPI_Group_compare(made, some, &result);
  EXPECT(result == MPI_IDENT);
  if (made != MPI_GROUP_EMPTY) MPI_Group_free(&made);

  i = MPI_PROC_NULL;
  MPI_Group_translate_ranks(world, 1, &i, evens, &result);
  EXPECT(result == MPI_PROC_NULL);
  if (size > 1) {
    i = 1;
    MPI_Group_translate_ranks(world, 1, &i, evens, &result);
    EXPECT(result == MPI_UNDEFINED);
  }
  MPI_Group_incl(world, 0, all, &made);
  EXPECT(made == MPI_GROUP_EMPTY);
  MPI_Group_size(MPI_GROUP_EMPTY, &result);
  EXPECT(result == 0);

  if (some != MPI_GROUP_EMPTY) MPI_Group_free(&some);
  MPI_Group_free(&evens);
  MPI_Group_free(&reversed);
  MPI_Group_free(&world);
  EXPECT(world == MPI_GROUP_NULL);
  return Passed();
}
