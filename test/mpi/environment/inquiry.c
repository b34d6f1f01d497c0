/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: clocks, names, memory, handles as integers, and the MPI-1 names that MPI-3.0 removed
 * (MPI-5.0, sections 9.1, 9.2, 9.6, 21.5 and 18.2).
 */
#include "test/mpi/check.h"

static int calls = 0;
static void Handler(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++calls;
}

int main(int argc, char** argv) {
  char name[MPI_MAX_PROCESSOR_NAME];
  int length, size, flag, value = 0, major, minor;
  double start, now;
  char* memory = NULL;
  MPI_Comm twin, parent;
  MPI_Datatype type;
  MPI_Aint extent, lower, upper, address;
  MPI_Errhandler handler;
  MPI_Info info;
  const int lengths[2] = {1, 2};
  const MPI_Aint places[2] = {0, 8};
  const MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
  MPI_Status status, again;
  MPI_Fint fortran[MPI_F_STATUS_SIZE];

  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Get_processor_name(name, &length);
  EXPECT(length > 0 && (int)strlen(name) == length);
  start = MPI_Wtime();
  do now = MPI_Wtime();
  while (now == start);
  EXPECT(now > start && now - start < 10 && MPI_Wtick() > 0 && MPI_Wtick() < 1);
  MPI_Alloc_mem(1000, MPI_INFO_NULL, &memory);
  EXPECT(memory != NULL);
  memset(memory, 1, 1000);
  MPI_Free_mem(memory);
  MPI_Pcontrol(1);
  MPI_Comm_get_parent(&parent);
  EXPECT(parent == MPI_COMM_NULL);
  EXPECT(MPI_Aint_diff(MPI_Aint_add((MPI_Aint)&value, 40), (MPI_Aint)&value) == 40);

  /* The environment's info object names the program. */
  MPI_Info_get_valuelen(MPI_INFO_ENV, "command", &length, &flag);
  EXPECT(!flag || length > 0);

  /* Handles and statuses become Fortran's and return unchanged. */
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  EXPECT(MPI_Comm_f2c(MPI_Comm_c2f(twin)) == twin);
  EXPECT(MPI_Comm_c2f(twin) == MPI_Comm_c2f(twin) &&
         MPI_Comm_c2f(twin) != MPI_Comm_c2f(MPI_COMM_WORLD));
  EXPECT(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_NULL)) == MPI_COMM_NULL);
  EXPECT(MPI_Type_f2c(MPI_Type_c2f(MPI_DOUBLE)) == MPI_DOUBLE);
  MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_SELF, &status);
  MPI_Status_c2f(&status, fortran);
  MPI_Status_f2c(fortran, &again);
  EXPECT(again.MPI_SOURCE == status.MPI_SOURCE && again.MPI_TAG == status.MPI_TAG);
  MPI_Comm_free(&twin);

#ifdef MPI_ABI_VERSION
  MPI_Abi_get_version(&major, &minor);
  EXPECT(major == MPI_ABI_VERSION && minor == MPI_ABI_SUBVERSION);
  MPI_Abi_get_info(&info);
  MPI_Info_free(&info);

  MPI_Address(&value, &address);
  EXPECT(address == (MPI_Aint)&value);
  MPI_Type_struct(2, lengths, places, types, &type);
  MPI_Type_extent(type, &extent);
  MPI_Type_lb(type, &lower);
  MPI_Type_ub(type, &upper);
  EXPECT(extent == 24 && lower == 0 && upper == 24);
  MPI_Type_free(&type);
  MPI_Errhandler_create(Handler, &handler);
  MPI_Errhandler_set(MPI_COMM_WORLD, handler);
  MPI_Errhandler_free(&handler);
  MPI_Send(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
  EXPECT(calls == 1);
#else
  (void)major, (void)minor, (void)type, (void)extent, (void)lower, (void)upper, (void)address,
      (void)info;
  (void)handler, (void)lengths, (void)places, (void)types, (void)Handler;
#endif
  return Passed();
}
