/* SPDX-License-Identifier: BSD-3-Clause
 * A folder of its own for each test program. At the end it must be empty, because a library leaves
 * no file behind that the program did not make.
 */
#ifndef LAMINA_TEST_MPI_IO_FOLDER_H
#define LAMINA_TEST_MPI_IO_FOLDER_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "test/mpi/check.h"

static char folder[256];
static int rank, ranks;

static inline void MakeFolder(void) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == 0) {
    const char* where = getenv("TEST_TMPDIR");
    snprintf(folder, sizeof folder, "%s/io.XXXXXX", where != NULL ? where : "/tmp");
    if (mkdtemp(folder) == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
}

/* Returns the path of a file in the folder, which is good until the fourth next call. */
static inline const char* In(const char* name) {
  static char paths[4][400];
  static int next = 0;
  char* path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

/* Removes the folder, which must be empty, and ends the program. FUSE closes files a little later
 * than the program, and keeps one under another name that is deleted before. */
static inline int LeaveFolder(void) {
  const double late = MPI_Wtime() + 20;
  int gone = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    while (!(gone = rmdir(folder) == 0) && MPI_Wtime() < late)
      usleep(1000); /* tidy: sleep: nobody tells when the server has closed a file */
  EXPECT(gone);
  return Passed();
}

static inline MPI_File Open(const char* name, int amode) {
  MPI_File file = MPI_FILE_NULL;
  EXPECT(MPI_File_open(MPI_COMM_WORLD, In(name), amode, MPI_INFO_NULL, &file) == MPI_SUCCESS);
  return file;
}

/* Removes a file of the folder on one rank, after all have closed it. */
static inline void Remove(const char* name) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) EXPECT(MPI_File_delete(In(name), MPI_INFO_NULL) == MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
}

static inline int CountOf(const MPI_Status* status, MPI_Datatype type) {
  int count = -1;
  MPI_Get_count(status, type, &count);
  return count;
}

#endif
