/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: MPI_Get_count gives whole elements or MPI_UNDEFINED, MPI_Get_elements basic elements also
 * where an element is cut, in all their forms, and what does not fit is MPI_UNDEFINED (MPI-5.0,
 * sections 3.2.5 and 5.1.11).
 * Method: messages of single ints to oneself, received as something else.
 */
#include "test/mpi/datatype/expect.h"

/* Receives `ints` ints as elements of `type`. */
static MPI_Status Received(int ints, MPI_Datatype type, int count) {
  int out[32] = {0}, in[64];
  MPI_Status status;
  MPI_Request request;
  MPI_Irecv(in, count, type, 0, 1, MPI_COMM_SELF, &request);
  MPI_Send(out, ints, MPI_INT, 0, 1, MPI_COMM_SELF);
  MPI_Wait(&request, &status);
  return status;
}

static void Are(const MPI_Status* status, MPI_Datatype type, int count, int elements, int line) {
  int got_count, got_elements;
  MPI_Count elements_x;
  MPI_Get_count(status, type, &got_count);
  MPI_Get_elements(status, type, &got_elements);
  MPI_Get_elements_x(status, type, &elements_x);
#if MPI_VERSION >= 4
  {
    MPI_Count count_c, elements_c;
    MPI_Get_count_c(status, type, &count_c);
    MPI_Get_elements_c(status, type, &elements_c);
    if (count_c != got_count || elements_c != got_elements) {
      ++failures;
      fprintf(stderr, "line %d: _c: count %ld, elements %ld\n", line, (long)count_c,
              (long)elements_c);
    }
  }
#endif
  if (got_count == count && got_elements == elements && elements_x == elements) return;
  ++failures;
  fprintf(stderr, "line %d: count %d, elements %d\n", line, got_count, got_elements);
}
#define ARE(status, type, count, elements) Are(status, type, count, elements, __LINE__)

int main(int argc, char** argv) {
  MPI_Datatype three, mixed, empty, large, types[2] = {MPI_INT, MPI_SHORT};
  const int lengths[2] = {1, 2};
  const MPI_Aint places[2] = {0, 4};
  MPI_Status status;
  int ints, count;
  MPI_Count count_x;

  MPI_Init(&argc, &argv);
  ReturnErrors();
  MPI_Type_vector(3, 1, 2, MPI_INT, &three);
  MPI_Type_commit(&three);
  for (ints = 0; ints <= 9; ++ints) {
    status = Received(ints, three, 4);
    ARE(&status, three, ints % 3 == 0 ? ints / 3 : MPI_UNDEFINED, ints);
    ARE(&status, MPI_INT, ints, ints);
  }
  /* An int and two shorts: five ints of bytes are two elements and an int more. */
  MPI_Type_create_struct(2, lengths, places, types, &mixed);
  MPI_Type_commit(&mixed);
  status = Received(2, MPI_INT, 4);
  ARE(&status, mixed, 1, 3);
  status = Received(5, MPI_INT, 5);
  ARE(&status, mixed, MPI_UNDEFINED, 7);
  /* These bytes are no whole number of basic elements. */
  status = Received(1, MPI_INT, 5);
  ARE(&status, MPI_DOUBLE, MPI_UNDEFINED, MPI_UNDEFINED);
  /* Elements without data: none were received. */
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  status = Received(0, empty, 5);
  ARE(&status, empty, 0, 0);
  /* A pair is a value and an index. */
  status = Received(2, MPI_INT, 2);
  ARE(&status, MPI_2INT, 1, 2);
  status = Received(1, MPI_INT, 2);
  ARE(&status, MPI_2INT, MPI_UNDEFINED, 1);

  /* 2^32 ints do not fit into an int. */
  MPI_Type_free(&empty);
  MPI_Type_contiguous(1 << 16, MPI_INT, &empty);
  MPI_Type_contiguous(1 << 16, empty, &large);
  MPI_Type_commit(&large);
  WORKS(MPI_Status_set_elements_x(&status, MPI_INT, (MPI_Count)1 << 33));
  MPI_Get_count(&status, large, &count);
  EXPECT(count == 2);
  MPI_Get_elements(&status, large, &count);
  EXPECT(count == MPI_UNDEFINED);
  MPI_Get_elements_x(&status, large, &count_x);
  EXPECT(count_x == (MPI_Count)1 << 33);
  MPI_Get_count(&status, MPI_INT, &count);
  EXPECT(count == MPI_UNDEFINED);
  MPI_Type_free(&three);
  MPI_Type_free(&mixed);
  MPI_Type_free(&empty);
  MPI_Type_free(&large);

  FAILS(MPI_ERR_TYPE, MPI_Get_count(&status, MPI_DATATYPE_NULL, &count));
  FAILS(MPI_ERR_TYPE, MPI_Get_elements(&status, MPI_DATATYPE_NULL, &count));
  FAILS(MPI_ERR_TYPE, MPI_Get_elements_x(&status, MPI_DATATYPE_NULL, &count_x));
#if MPI_VERSION >= 4
  FAILS(MPI_ERR_TYPE, MPI_Get_count_c(&status, MPI_DATATYPE_NULL, &count_x));
  FAILS(MPI_ERR_TYPE, MPI_Get_elements_c(&status, MPI_DATATYPE_NULL, &count_x));
#endif
  return Passed();
}
