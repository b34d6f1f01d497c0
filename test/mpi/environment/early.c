/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: what may be called before MPI_Init and after MPI_Finalize works there
 * (MPI-5.0, section 11.4.1).
 */
#include "test/mpi/check.h"

static void Everywhere(void) {
  MPI_Info info, copy;
  int version = 0, subversion = 0, length = 0, flag = 0, keys = 0, error_class = 0;
  char text[MPI_MAX_LIBRARY_VERSION_STRING], key[MPI_MAX_INFO_KEY], value[8];

  MPI_Get_version(&version, &subversion);
  if (version != MPI_VERSION || subversion != MPI_SUBVERSION) ++failures;
  MPI_Get_library_version(text, &length);
  if (length <= 0 || (int)strlen(text) != length) ++failures;
  MPI_Info_create(&info);
  MPI_Info_set(info, "color", "dark blue");
  MPI_Info_dup(info, &copy);
  MPI_Info_set(info, "color", "red");
  MPI_Info_get_nkeys(copy, &keys);
  if (keys != 1) ++failures;
  MPI_Info_get_nthkey(copy, 0, key);
  if (strcmp(key, "color") != 0) ++failures;
  length = sizeof value;
  MPI_Info_get_string(copy, "color", &length, value, &flag);
  if (!flag || length != 10 || strcmp(value, "dark bl") != 0)
    ++failures; /* cut, the full size told */
  MPI_Info_get_string(copy, "size", &length, value, &flag);
  if (flag) ++failures;
  MPI_Info_free(&info);
  MPI_Info_free(&copy);
  MPI_Error_class(MPI_ERR_TAG, &error_class);
  if (error_class != MPI_ERR_TAG) ++failures;
  MPI_Initialized(&flag);
  MPI_Finalized(&flag);
}

int main(int argc, char** argv) {
  int flag;
  Everywhere();
  MPI_Initialized(&flag);
  if (flag) ++failures;
  MPI_Init(&argc, &argv);
  Everywhere();
  MPI_Finalize();
  Everywhere();
  MPI_Finalized(&flag);
  if (!flag) ++failures;
  if (failures) fprintf(stderr, "%d things did not hold\n", failures);
  return failures != 0;
}
