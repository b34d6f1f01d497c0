/* SPDX-License-Identifier: BSD-3-Clause
 * The C half of interop.f90: what Fortran made is used here, and the other way round.
 */
#include <mpi.h>
#include <stddef.h>
#include <string.h>

/* Fortran's integers become C's handles (MPI-5.0, section 19.3.4). */
int handles_in_c_(MPI_Fint* comm, MPI_Fint* type, MPI_Fint* op, MPI_Fint* info) {
  char value[16];
  int flag = 0;
  int size = 0;
  int result = 0;
  MPI_Type_size(MPI_Type_f2c(*type), &size);
  MPI_Comm_compare(MPI_Comm_f2c(*comm), MPI_COMM_WORLD, &result);
  MPI_Info_get(MPI_Info_f2c(*info), "key", 15, value, &flag);
  return size == 12 && result == MPI_CONGRUENT && flag && strcmp(value, "value") == 0 &&
         MPI_Comm_c2f(MPI_Comm_f2c(*comm)) == *comm && MPI_Op_f2c(*op) != MPI_OP_NULL &&
         MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_NULL)) == MPI_COMM_NULL;
}

/* Makes a datatype, a communicator and a pending receive for Fortran. */
void handles_from_c_(MPI_Fint* comm, MPI_Fint* type, MPI_Fint* request, int* received) {
  MPI_Comm c_comm;
  MPI_Datatype c_type;
  MPI_Request c_request;
  MPI_Comm_dup(MPI_COMM_SELF, &c_comm);
  MPI_Type_contiguous(5, MPI_INT, &c_type);
  MPI_Type_commit(&c_type);
  MPI_Irecv(received, 1, MPI_INT, 0, 3, c_comm, &c_request);
  *comm = MPI_Comm_c2f(c_comm);
  *type = MPI_Type_c2f(c_type);
  *request = MPI_Request_c2f(c_request);
}

/* Reads a status that Fortran received (section 19.3.5). */
int status_in_c_(MPI_Fint* f_status) {
  MPI_Status status;
  int count = 0;
  MPI_Status_f2c(f_status, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  return status.MPI_TAG == 11 && status.MPI_SOURCE == 0 && count == 2;
}

/* Is each argument the address that C has a name for (section 19.3.5)? */
int ignored_in_c_(MPI_Fint* status, MPI_Fint* statuses, MPI_Fint* other) {
  return status == MPI_F_STATUS_IGNORE && statuses == MPI_F_STATUSES_IGNORE &&
         other != MPI_F_STATUS_IGNORE && other != MPI_F_STATUSES_IGNORE;
}
int ignored_f08_in_c_(MPI_F08_status* status, MPI_F08_status* statuses) {
  return status == MPI_F08_STATUS_IGNORE && statuses == MPI_F08_STATUSES_IGNORE;
}

/* Fortran's attribute, an integer, is found here behind the pointer (section 19.3.7). */
int attribute_in_c_(MPI_Fint* comm, MPI_Fint* keyval) {
  MPI_Aint* value = NULL;
  int flag = 0;
  MPI_Comm_get_attr(MPI_Comm_f2c(*comm), *keyval, &value, &flag);
  return flag && *value == 123456789012345;
}

static int target;

/* To Fortran, an attribute that is set here is the pointer's value. */
void attribute_from_c_(MPI_Fint* comm, MPI_Fint* keyval, MPI_Aint* address) {
  MPI_Comm_set_attr(MPI_Comm_f2c(*comm), *keyval, &target);
  *address = (MPI_Aint)&target;
}

/* Tells whether Fortran's own operation works when C reduces with it. */
int reduce_in_c_(MPI_Fint* op) {
  int in[2] = {3, 4};
  int inout[2] = {10, 20};
  MPI_Reduce_local(in, inout, 2, MPI_INTEGER, MPI_Op_f2c(*op));
  return inout[0] == 13 && inout[1] == 24;
}

/* An error that C makes calls Fortran's error handler. */
int error_in_c_(MPI_Fint* comm) {
  int nothing = 0;
  return MPI_Send(&nothing, 1, MPI_INT, 1000, 0, MPI_Comm_f2c(*comm)) != MPI_SUCCESS;
}

/* Reads the size of Fortran's types. */
int sizes_in_c_(void) {
  int integer = 0;
  int real = 0;
  int precise = 0;
  int logical = 0;
  MPI_Type_size(MPI_INTEGER, &integer);
  MPI_Type_size(MPI_REAL, &real);
  MPI_Type_size(MPI_DOUBLE_PRECISION, &precise);
  MPI_Type_size(MPI_LOGICAL, &logical);
  return integer == 4 && real == 4 && precise == 8 && logical == 4;
}
