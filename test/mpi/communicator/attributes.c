/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: attributes are copied by dup and deleted by free as their functions say, those of
 * MPI_COMM_SELF in reverse order when MPI_Finalize begins; the predefined ones are there
 * (MPI-5.0, sections 7.7, 9.1.2 and 11.2.4).
 */
#include "test/mpi/check.h"

static int copies = 0, deletions = 0, last_deleted = 0;

static int Copy(MPI_Comm comm, int keyval, void* extra, void* value, void* copied, int* flag) {
  (void)comm, (void)keyval;
  ++copies;
  EXPECT(extra == &copies);
  *(void**)copied = (char*)value + 1;
  *flag = 1;
  return MPI_SUCCESS;
}
static int Delete(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)extra;
  ++deletions;
  last_deleted = (int)(MPI_Aint)value;
  return MPI_SUCCESS;
}

static void Predefined(int keyval, int* value) {
  void* pointer = NULL;
  int flag = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &pointer, &flag);
  EXPECT(flag && pointer != NULL);
  if (flag && pointer != NULL) *value = *(int*)pointer;
}

int main(int argc, char** argv) {
  MPI_Comm twin;
  MPI_Datatype type, other;
  int key, null_key, type_key, flag, value = 0, size, code;
  void* got = NULL;
  char cell[10];

  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  Predefined(MPI_TAG_UB, &value);
  EXPECT(value >= 32767);
  Predefined(MPI_WTIME_IS_GLOBAL, &value);
  EXPECT(value == 0 || value == 1);
  Predefined(MPI_LASTUSEDCODE, &value);
  MPI_Add_error_class(&code);
  Predefined(MPI_LASTUSEDCODE, &value);
  EXPECT(value == code);

  MPI_Comm_create_keyval(Copy, Delete, &key, &copies);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &null_key, NULL);
  MPI_Comm_get_attr(MPI_COMM_WORLD, key, &got, &flag);
  EXPECT(!flag);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, cell);
  MPI_Comm_set_attr(MPI_COMM_WORLD, null_key, cell);
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  EXPECT(copies == 1);
  MPI_Comm_get_attr(twin, key, &got, &flag);
  EXPECT(flag && got == cell + 1);
  MPI_Comm_get_attr(twin, null_key, &got, &flag);
  EXPECT(!flag);
  MPI_Comm_free(&twin);
  EXPECT(deletions == 1);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, cell); /* deletes the old value */
  EXPECT(deletions == 2);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
  EXPECT(deletions == 3);
  MPI_Comm_get_attr(MPI_COMM_WORLD, key, &got, &flag);
  EXPECT(!flag);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, null_key);
  MPI_Comm_free_keyval(&null_key);
  EXPECT(null_key == MPI_KEYVAL_INVALID);

  MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL);
  MPI_Type_contiguous(3, MPI_INT, &type);
  MPI_Type_set_attr(type, type_key, cell);
  MPI_Type_dup(type, &other);
  MPI_Type_get_attr(other, type_key, &got, &flag);
  EXPECT(flag && got == cell);
  MPI_Type_delete_attr(other, type_key);
  MPI_Type_get_attr(other, type_key, &got, &flag);
  EXPECT(!flag);
  MPI_Type_free(&type);
  MPI_Type_free(&other);
  MPI_Type_free_keyval(&type_key);

  /* MPI_Finalize deletes attributes of MPI_COMM_SELF, the last one first. */
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, Delete, &null_key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, (void*)(MPI_Aint)1);
  MPI_Comm_set_attr(MPI_COMM_SELF, null_key, (void*)(MPI_Aint)2);
  deletions = 0;
  MPI_Finalize();
  if (deletions != 2 || last_deleted != 1) {
    fprintf(stderr, "%d deletions at MPI_Finalize, the last of value %d\n", deletions,
            last_deleted);
    ++failures;
  }
  return failures != 0;
}
