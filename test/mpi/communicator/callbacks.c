/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: attribute callbacks that fail make the call fail and leave the object as it was; keyvals
 * live on while they are used; wrong keys are found (MPI-5.0, section 7.7).
 */
#include "test/mpi/check.h"

static int deletions = 0, refuse = 0, order[8];
static MPI_Comm deleted_from = MPI_COMM_NULL;

static int CopyFails(MPI_Comm comm, int keyval, void* extra, void* value, void* copy, int* flag) {
  (void)comm, (void)keyval, (void)extra, (void)value, (void)copy, (void)flag;
  return MPI_ERR_OTHER;
}
static int CopyNot(MPI_Comm comm, int keyval, void* extra, void* value, void* copy, int* flag) {
  (void)comm, (void)keyval, (void)extra, (void)value, (void)copy;
  *flag = 0;
  return MPI_SUCCESS;
}
static int Delete(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)keyval, (void)extra;
  if (refuse) return MPI_ERR_OTHER;
  if (deletions < 8) order[deletions] = (int)(MPI_Aint)value;
  ++deletions;
  deleted_from = comm;
  return MPI_SUCCESS;
}

static int Get(MPI_Comm comm, int key, void** value) {
  int flag = 0;
  *value = NULL;
  MPI_Comm_get_attr(comm, key, value, &flag);
  return flag;
}

int main(int argc, char** argv) {
  MPI_Comm twin, other = MPI_COMM_NULL;
  int key, bad, not_copied, freed, flag, code, values[3];
  void* value;

  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, Delete, &key, NULL);
  MPI_Comm_create_keyval(CopyFails, Delete, &bad, NULL);
  MPI_Comm_create_keyval(CopyNot, Delete, &not_copied, NULL);

  /* A copy function fails during MPI_Comm_dup, and what was copied before it is deleted again. */
  MPI_Comm_set_attr(twin, key, &values[0]);
  MPI_Comm_set_attr(twin, not_copied, &values[2]);
  MPI_Comm_set_attr(twin, bad, &values[1]);
  EXPECT(MPI_Comm_dup(twin, &other) != MPI_SUCCESS);
  EXPECT(deletions <= 1);
  EXPECT(Get(twin, key, &value) && value == &values[0]);
  EXPECT(Get(twin, bad, &value) && value == &values[1]);
  MPI_Comm_delete_attr(twin, bad);
  EXPECT(!Get(twin, bad, &value));
  MPI_Comm_dup(twin, &other);
  EXPECT(Get(other, key, &value) && value == &values[0]);
  EXPECT(!Get(other, not_copied, &value));
  deletions = 0;
  MPI_Comm_free(&other);
  EXPECT(deletions == 1 && other == MPI_COMM_NULL);

  /* A delete function refuses, so nothing happens. */
  refuse = 1;
  EXPECT(MPI_Comm_delete_attr(twin, key) != MPI_SUCCESS);
  EXPECT(Get(twin, key, &value) && value == &values[0]);
  EXPECT(MPI_Comm_set_attr(twin, key, &values[2]) != MPI_SUCCESS);
  EXPECT(Get(twin, key, &value) && value == &values[0]);
  other = twin;
  EXPECT(MPI_Comm_free(&other) != MPI_SUCCESS);
  refuse = 0;
#ifdef MPI_ABI_VERSION /* others free it nevertheless */
  EXPECT(other == twin && Get(twin, key, &value) && value == &values[0]);
#else
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  MPI_Comm_set_attr(twin, key, &values[0]);
  MPI_Comm_set_attr(twin, not_copied, &values[2]);
#endif

  /* A freed keyval still works for communicators that have it. */
  deletions = 0;
  freed = key;
  MPI_Comm_free_keyval(&key);
  EXPECT(key == MPI_KEYVAL_INVALID);
  EXPECT(Get(twin, freed, &value) && value == &values[0]);
  MPI_Comm_dup(twin, &other);
  EXPECT(Get(other, freed, &value) && value == &values[0]);
  MPI_Comm_free(&other);
  EXPECT(deletions == 1);
  MPI_Comm_delete_attr(twin, freed);
  EXPECT(deletions == 2 && deleted_from == twin);

  /* Wrong keys are refused. */
  EXPECT(MPI_Comm_set_attr(twin, MPI_KEYVAL_INVALID, values) != MPI_SUCCESS);
  EXPECT(MPI_Comm_get_attr(twin, MPI_KEYVAL_INVALID, &value, &flag) != MPI_SUCCESS);
  EXPECT(MPI_Comm_delete_attr(twin, MPI_KEYVAL_INVALID) != MPI_SUCCESS);
  code = MPI_KEYVAL_INVALID;
  EXPECT(MPI_Comm_free_keyval(&code) != MPI_SUCCESS);
#ifdef MPI_ABI_VERSION
  EXPECT(ClassOf(MPI_Comm_set_attr(twin, MPI_TAG_UB, values)) == MPI_ERR_KEYVAL);
  EXPECT(ClassOf(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB)) == MPI_ERR_KEYVAL);
  code = MPI_TAG_UB;
  EXPECT(ClassOf(MPI_Comm_free_keyval(&code)) == MPI_ERR_KEYVAL);
#endif
  EXPECT(ClassOf(MPI_Comm_get_attr(MPI_COMM_NULL, not_copied, &value, &flag)) == MPI_ERR_COMM);
  MPI_Comm_free(&twin);
  MPI_Comm_free_keyval(&bad);
  MPI_Comm_free_keyval(&not_copied);

  /* Attributes of MPI_COMM_SELF are deleted in reverse order; setting one again makes it the last.
   */
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, Delete, &key, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, Delete, &bad, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, Delete, &not_copied, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, (void*)(MPI_Aint)1);
  MPI_Comm_set_attr(MPI_COMM_SELF, bad, (void*)(MPI_Aint)2);
  MPI_Comm_set_attr(MPI_COMM_SELF, not_copied, (void*)(MPI_Aint)3);
  deletions = 0;
  MPI_Finalize();
  if (deletions != 3 || order[0] != 3 || order[1] != 2 || order[2] != 1) ++failures;
  if (failures) fprintf(stderr, "%d things did not hold\n", failures);
  return failures != 0;
}
