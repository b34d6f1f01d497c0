/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: communicators and datatypes have names, communicators have hints
 * (MPI-5.0, sections 7.8 and 7.4.4).
 */
#include "test/mpi/check.h"

int main(int argc, char** argv) {
  MPI_Comm twin;
  MPI_Datatype type;
  MPI_Info hints, used;
  char name[MPI_MAX_OBJECT_NAME], long_name[2 * MPI_MAX_OBJECT_NAME];
  int length;

  MPI_Init(&argc, &argv);
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  EXPECT(strcmp(name, "MPI_COMM_WORLD") == 0 && length == 14);
  MPI_Comm_get_name(MPI_COMM_SELF, name, &length);
  EXPECT(strcmp(name, "MPI_COMM_SELF") == 0);
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  MPI_Comm_get_name(twin, name, &length);
  EXPECT(length == 0 && name[0] == '\0');
  MPI_Comm_set_name(twin, "twin");
  MPI_Comm_get_name(twin, name, &length);
  EXPECT(strcmp(name, "twin") == 0 && length == 4);
  memset(long_name, 'x', sizeof long_name - 1);
  long_name[MPI_MAX_OBJECT_NAME - 1] = '\0'; /* the longest there is */
  MPI_Comm_set_name(twin, long_name);
  MPI_Comm_get_name(twin, name, &length);
  EXPECT(length == MPI_MAX_OBJECT_NAME - 1 && strcmp(name, long_name) == 0);

  MPI_Info_create(&hints);
  MPI_Info_set(hints, "mpi_assert_no_any_tag", "false");
  MPI_Comm_set_info(twin, hints);
  MPI_Comm_get_info(twin, &used);
  EXPECT(used != MPI_INFO_NULL);
  MPI_Info_free(&used);
  MPI_Info_free(&hints);
  MPI_Comm_free(&twin);

  MPI_Type_get_name(MPI_DOUBLE, name, &length);
  EXPECT(strcmp(name, "MPI_DOUBLE") == 0 && length == 10);
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_get_name(type, name, &length);
  EXPECT(length == 0);
  MPI_Type_set_name(type, "pair");
  MPI_Type_get_name(type, name, &length);
  EXPECT(strcmp(name, "pair") == 0);
  MPI_Type_free(&type);
  return Passed();
}
