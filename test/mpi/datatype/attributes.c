/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: attributes of datatypes: set, found, copied by MPI_Type_dup as their copy functions say,
 * deleted with the type, and errors of the user's functions and of keyvals come back (MPI-5.0,
 * section 7.7.4).
 */
#include "test/mpi/datatype/expect.h"

static int copies, deletions, refuse;

static int Copy(MPI_Datatype type, int keyval, void* extra, void* value, void* out, int* flag) {
  (void)type, (void)keyval;
  ++copies;
  if (refuse) return MPI_ERR_OTHER;
  EXPECT(extra == &copies);
  *(void**)out = (char*)value + 1;
  *flag = 1;
  return MPI_SUCCESS;
}

static int Delete(MPI_Datatype type, int keyval, void* value, void* extra) {
  (void)type, (void)keyval, (void)value;
  EXPECT(extra == &copies);
  ++deletions;
  return refuse ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int main(int argc, char** argv) {
  MPI_Datatype type, copy;
  char data[2], *found = NULL;
  int keyval, plain, flag = -1;

  MPI_Init(&argc, &argv);
  ReturnErrors();
  WORKS(MPI_Type_create_keyval(Copy, Delete, &keyval, &copies));
  WORKS(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &plain, NULL));
  MPI_Type_contiguous(2, MPI_INT, &type);
  WORKS(MPI_Type_get_attr(type, keyval, &found, &flag));
  EXPECT(!flag);
  WORKS(MPI_Type_set_attr(type, keyval, data));
  WORKS(MPI_Type_set_attr(type, plain, data));
  WORKS(MPI_Type_get_attr(type, keyval, &found, &flag));
  EXPECT(flag && found == data);
  WORKS(MPI_Type_dup(type, &copy));
  EXPECT(copies == 1);
  MPI_Type_get_attr(copy, keyval, &found, &flag);
  EXPECT(flag && found == data + 1);
  MPI_Type_get_attr(copy, plain, &found, &flag);
  EXPECT(!flag);
  WORKS(MPI_Type_delete_attr(copy, keyval));
  EXPECT(deletions == 1);
  MPI_Type_free(&copy);
  EXPECT(deletions == 1);

  /* Predefined types have attributes, too. */
  WORKS(MPI_Type_set_attr(MPI_DOUBLE, plain, data));
  MPI_Type_get_attr(MPI_DOUBLE, plain, &found, &flag);
  EXPECT(flag && found == data);
  WORKS(MPI_Type_delete_attr(MPI_DOUBLE, plain));

  refuse = 1;
  copy = MPI_DATATYPE_NULL;
  EXPECT(MPI_Type_dup(type, &copy) != MPI_SUCCESS);
  EXPECT(MPI_Type_delete_attr(type, keyval) != MPI_SUCCESS);
  refuse = 0;
  WORKS(MPI_Type_get_attr(type, keyval, &found, &flag));
  EXPECT(flag);
  deletions = 0;
  MPI_Type_free(&type);
  EXPECT(deletions == 1);

  MPI_Type_contiguous(2, MPI_INT, &type);
  FAILS(MPI_ERR_KEYVAL, MPI_Type_set_attr(type, MPI_KEYVAL_INVALID, data));
  FAILS(MPI_ERR_KEYVAL, MPI_Type_get_attr(type, MPI_KEYVAL_INVALID, &found, &flag));
  FAILS(MPI_ERR_KEYVAL, MPI_Type_delete_attr(type, MPI_KEYVAL_INVALID));
  FAILS(MPI_ERR_TYPE, MPI_Type_set_attr(MPI_DATATYPE_NULL, keyval, data));
  FAILS(MPI_ERR_TYPE, MPI_Type_get_attr(MPI_DATATYPE_NULL, keyval, &found, &flag));
  FAILS(MPI_ERR_TYPE, MPI_Type_delete_attr(MPI_DATATYPE_NULL, keyval));
  MPI_Type_free(&type);
  WORKS(MPI_Type_free_keyval(&keyval));
  EXPECT(keyval == MPI_KEYVAL_INVALID);
  WORKS(MPI_Type_free_keyval(&plain));
  FAILS(MPI_ERR_KEYVAL, MPI_Type_free_keyval(&plain));
  return Passed();
}
