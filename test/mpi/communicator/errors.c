/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: every function on groups and communicators finds a wrong argument and then changes nothing
 * (MPI-5.0, sections 7.3, 7.4, 7.7 and 7.8). What the standard leaves open, as which class it is,
 * is ours.
 */
#include "test/mpi/check.h"

static MPI_Group world, none = MPI_GROUP_NULL, made = MPI_GROUP_NULL;
static int size, rank;

static void Groups(void) {
  int value = 0, result = 0, ranks[2] = {0, 0}, range[1][3];
  EXPECT(ClassOf(MPI_Group_size(none, &value)) == MPI_ERR_GROUP);
  EXPECT(ClassOf(MPI_Group_rank(none, &value)) == MPI_ERR_GROUP);
  EXPECT(ClassOf(MPI_Group_translate_ranks(none, 1, ranks, world, &value)) == MPI_ERR_GROUP);
  ranks[0] = size;
  EXPECT(ClassOf(MPI_Group_translate_ranks(world, 1, ranks, world, &value)) == MPI_ERR_RANK);
  EXPECT(ClassOf(MPI_Group_translate_ranks(world, -1, ranks, world, &value)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Group_compare(world, none, &result)) == MPI_ERR_GROUP);
  EXPECT(ClassOf(MPI_Group_union(none, world, &made)) == MPI_ERR_GROUP);
  EXPECT(ClassOf(MPI_Group_intersection(world, none, &made)) == MPI_ERR_GROUP);
  EXPECT(ClassOf(MPI_Group_difference(none, none, &made)) == MPI_ERR_GROUP);
  EXPECT(ClassOf(MPI_Group_incl(world, 1, ranks, &made)) == MPI_ERR_RANK);
  ranks[0] = 0;
  EXPECT(ClassOf(MPI_Group_incl(world, -1, ranks, &made)) == MPI_ERR_ARG);
  EXPECT(MPI_Group_excl(world, 2, ranks, &made) != MPI_SUCCESS); /* twice the same */
  EXPECT(ClassOf(MPI_Group_excl(none, 1, ranks, &made)) == MPI_ERR_GROUP);
  range[0][0] = 0, range[0][1] = size, range[0][2] = 1;
  EXPECT(ClassOf(MPI_Group_range_incl(world, 1, range, &made)) == MPI_ERR_RANK);
  range[0][1] = 0, range[0][2] = 0;
  EXPECT(ClassOf(MPI_Group_range_incl(world, 1, range, &made)) == MPI_ERR_ARG);
  range[0][0] = -1, range[0][2] = 1;
  EXPECT(ClassOf(MPI_Group_range_excl(world, 1, range, &made)) == MPI_ERR_RANK);
  if (size > 1) { /* never gets there */
    range[0][0] = 0, range[0][1] = 1, range[0][2] = -1;
    EXPECT(ClassOf(MPI_Group_range_excl(world, 1, range, &made)) == MPI_ERR_ARG);
  }
  EXPECT(ClassOf(MPI_Group_free(&none)) == MPI_ERR_GROUP);
  EXPECT(made == MPI_GROUP_NULL);
  EXPECT(ClassOf(MPI_Group_size((MPI_Group)MPI_INT, &value)) == MPI_ERR_GROUP);
}

static void Making(void) {
  MPI_Comm comm = MPI_COMM_NULL, self = MPI_COMM_WORLD, nothing = MPI_COMM_NULL;
  MPI_Group first;
  int zero = 0;
  EXPECT(ClassOf(MPI_Comm_dup(MPI_COMM_NULL, &comm)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_dup(MPI_COMM_WORLD, NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Comm_dup_with_info(MPI_COMM_NULL, MPI_INFO_NULL, &comm)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_dup_with_info(MPI_COMM_WORLD, (MPI_Info)&zero, &comm)) == MPI_ERR_INFO);
  EXPECT(ClassOf(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &comm)) == MPI_ERR_GROUP);
  EXPECT(ClassOf(MPI_Comm_create(MPI_COMM_NULL, world, &comm)) == MPI_ERR_COMM);
  if (size > 1) /* not a part of the communicator */
    EXPECT(ClassOf(MPI_Comm_create(MPI_COMM_SELF, world, &comm)) == MPI_ERR_GROUP);
  EXPECT(ClassOf(MPI_Comm_create_group(MPI_COMM_WORLD, MPI_GROUP_NULL, 0, &comm)) == MPI_ERR_GROUP);
  EXPECT(ClassOf(MPI_Comm_create_group(MPI_COMM_WORLD, world, -1, &comm)) == MPI_ERR_TAG);
  EXPECT(ClassOf(MPI_Comm_create_group(MPI_COMM_NULL, world, 0, &comm)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_split(MPI_COMM_WORLD, -3, 0, &comm)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Comm_split(MPI_COMM_NULL, 0, 0, &comm)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_free(&self)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_free(&nothing)) == MPI_ERR_COMM);
  EXPECT(self == MPI_COMM_WORLD && comm == MPI_COMM_NULL);
  /* Processes outside the group need not agree with any other. */
  MPI_Group_incl(world, 1, &zero, &first);
  EXPECT(MPI_Comm_create_group(MPI_COMM_WORLD, first, 1 << 30, &comm) == MPI_SUCCESS);
  EXPECT((comm == MPI_COMM_NULL) == (rank != 0));
  if (comm != MPI_COMM_NULL) {
    MPI_Comm old = comm;
    MPI_Comm_free(&comm);
    EXPECT(ClassOf(MPI_Comm_size(old, &zero)) == MPI_ERR_COMM); /* freed */
  }
  MPI_Group_free(&first);
}

static void Asking(void) {
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Group group;
  void* value;
  int result = 0, flag, key = MPI_KEYVAL_INVALID, length;
  EXPECT(ClassOf(MPI_Comm_size(MPI_COMM_NULL, &result)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_size(MPI_COMM_WORLD, NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Comm_rank(MPI_COMM_NULL, &result)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_group(MPI_COMM_NULL, &group)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_test_inter(MPI_COMM_NULL, &flag)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_NULL, &result)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_set_name(MPI_COMM_NULL, "x")) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_set_name(MPI_COMM_WORLD, NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Comm_get_name((MPI_Comm)MPI_INT, name, &length)) == MPI_ERR_COMM);
  EXPECT(MPI_Comm_get_name(MPI_COMM_NULL, name, &length) == MPI_SUCCESS);
  EXPECT(strcmp(name, "MPI_COMM_NULL") == 0);
  EXPECT(ClassOf(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, NULL,
                                        NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Comm_free_keyval(&key)) == MPI_ERR_KEYVAL);
  EXPECT(ClassOf(MPI_Comm_set_attr(MPI_COMM_NULL, key, NULL)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag)) == MPI_ERR_KEYVAL);
  EXPECT(ClassOf(MPI_Comm_delete_attr(MPI_COMM_NULL, key)) == MPI_ERR_COMM);
}

/* The names of MPI-1 share their code with today's. */
static void Old(void) {
  int key, flag, cell;
  void* value = NULL;
  EXPECT(MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &key, NULL) == MPI_SUCCESS);
  EXPECT(MPI_Attr_put(MPI_COMM_SELF, key, &cell) == MPI_SUCCESS);
  EXPECT(MPI_Attr_get(MPI_COMM_SELF, key, &value, &flag) == MPI_SUCCESS && flag && value == &cell);
  EXPECT(MPI_Attr_delete(MPI_COMM_SELF, key) == MPI_SUCCESS);
  EXPECT(MPI_Attr_get(MPI_COMM_SELF, key, &value, &flag) == MPI_SUCCESS && !flag);
  EXPECT(MPI_Keyval_free(&key) == MPI_SUCCESS && key == MPI_KEYVAL_INVALID);
  EXPECT(ClassOf(MPI_Keyval_free(&key)) == MPI_ERR_KEYVAL);
  EXPECT(ClassOf(MPI_Attr_put(MPI_COMM_SELF, key, &cell)) == MPI_ERR_KEYVAL);
  EXPECT(ClassOf(MPI_Attr_get(MPI_COMM_NULL, key, &value, &flag)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Attr_delete(MPI_COMM_SELF, key)) == MPI_ERR_KEYVAL);
  EXPECT(ClassOf(MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, NULL, NULL)) ==
         MPI_ERR_ARG);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  Groups();
  Making();
  Asking();
  Old();
  MPI_Group_free(&world);
  return Passed();
}
