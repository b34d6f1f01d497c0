/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   every function on files can fail with the class that the standard gives, on every rank
 *         that is concerned, and an error on one rank hangs nobody (sections 14.7 and 14.8).
 * Method: each mistake once; where it is made on one rank only, the others still return.
 */
#include <sys/stat.h>

#include "test/mpi/io/folder.h"

/* Errors of no file go to the handler of MPI_FILE_NULL, which returns to begin with. */
static void NoFile(void) {
  int buf[4] = {0}, number = 0;
  MPI_Offset offset = 0;
  MPI_Aint extent = 0;
  MPI_Count large = 0;
  MPI_Datatype etype, filetype;
  MPI_Group group;
  MPI_Info info;
  MPI_Request request;
  MPI_File null = MPI_FILE_NULL;
  char datarep[MPI_MAX_DATAREP_STRING];
  EXPECT(ClassOf(MPI_File_read(MPI_FILE_NULL, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_read_c(MPI_FILE_NULL, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_read_all(MPI_FILE_NULL, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_read_all_c(MPI_FILE_NULL, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_read_shared(MPI_FILE_NULL, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_read_shared_c(MPI_FILE_NULL, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_read_ordered(MPI_FILE_NULL, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_read_ordered_c(MPI_FILE_NULL, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_read_at(MPI_FILE_NULL, 0, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_read_at_c(MPI_FILE_NULL, 0, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_read_at_all(MPI_FILE_NULL, 0, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_read_at_all_c(MPI_FILE_NULL, 0, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_iread(MPI_FILE_NULL, buf, 1, MPI_INT, &request)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_iread_c(MPI_FILE_NULL, buf, 1, MPI_INT, &request)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_iread_all(MPI_FILE_NULL, buf, 1, MPI_INT, &request)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_iread_all_c(MPI_FILE_NULL, buf, 1, MPI_INT, &request)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_iread_shared(MPI_FILE_NULL, buf, 1, MPI_INT, &request)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_iread_shared_c(MPI_FILE_NULL, buf, 1, MPI_INT, &request)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_iread_at(MPI_FILE_NULL, 0, buf, 1, MPI_INT, &request)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_iread_at_c(MPI_FILE_NULL, 0, buf, 1, MPI_INT, &request)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_iread_at_all(MPI_FILE_NULL, 0, buf, 1, MPI_INT, &request)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_iread_at_all_c(MPI_FILE_NULL, 0, buf, 1, MPI_INT, &request)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_read_all_begin(MPI_FILE_NULL, buf, 1, MPI_INT)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_read_all_begin_c(MPI_FILE_NULL, buf, 1, MPI_INT)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_read_ordered_begin(MPI_FILE_NULL, buf, 1, MPI_INT)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_read_ordered_begin_c(MPI_FILE_NULL, buf, 1, MPI_INT)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_read_at_all_begin(MPI_FILE_NULL, 0, buf, 1, MPI_INT)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_read_at_all_begin_c(MPI_FILE_NULL, 0, buf, 1, MPI_INT)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_read_all_end(MPI_FILE_NULL, buf, MPI_STATUS_IGNORE)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_read_at_all_end(MPI_FILE_NULL, buf, MPI_STATUS_IGNORE)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_read_ordered_end(MPI_FILE_NULL, buf, MPI_STATUS_IGNORE)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_write(MPI_FILE_NULL, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_write_c(MPI_FILE_NULL, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_write_all(MPI_FILE_NULL, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_write_all_c(MPI_FILE_NULL, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_write_shared(MPI_FILE_NULL, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_write_shared_c(MPI_FILE_NULL, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_write_ordered(MPI_FILE_NULL, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_write_ordered_c(MPI_FILE_NULL, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_write_at(MPI_FILE_NULL, 0, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_write_at_c(MPI_FILE_NULL, 0, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_write_at_all(MPI_FILE_NULL, 0, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_write_at_all_c(MPI_FILE_NULL, 0, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_iwrite(MPI_FILE_NULL, buf, 1, MPI_INT, &request)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_iwrite_c(MPI_FILE_NULL, buf, 1, MPI_INT, &request)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_iwrite_all(MPI_FILE_NULL, buf, 1, MPI_INT, &request)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_iwrite_all_c(MPI_FILE_NULL, buf, 1, MPI_INT, &request)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_iwrite_shared(MPI_FILE_NULL, buf, 1, MPI_INT, &request)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_iwrite_shared_c(MPI_FILE_NULL, buf, 1, MPI_INT, &request)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_iwrite_at(MPI_FILE_NULL, 0, buf, 1, MPI_INT, &request)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_iwrite_at_c(MPI_FILE_NULL, 0, buf, 1, MPI_INT, &request)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_iwrite_at_all(MPI_FILE_NULL, 0, buf, 1, MPI_INT, &request)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_iwrite_at_all_c(MPI_FILE_NULL, 0, buf, 1, MPI_INT, &request)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_write_all_begin(MPI_FILE_NULL, buf, 1, MPI_INT)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_write_all_begin_c(MPI_FILE_NULL, buf, 1, MPI_INT)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_write_ordered_begin(MPI_FILE_NULL, buf, 1, MPI_INT)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_write_ordered_begin_c(MPI_FILE_NULL, buf, 1, MPI_INT)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_write_at_all_begin(MPI_FILE_NULL, 0, buf, 1, MPI_INT)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_write_at_all_begin_c(MPI_FILE_NULL, 0, buf, 1, MPI_INT)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_write_all_end(MPI_FILE_NULL, buf, MPI_STATUS_IGNORE)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_write_at_all_end(MPI_FILE_NULL, buf, MPI_STATUS_IGNORE)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_write_ordered_end(MPI_FILE_NULL, buf, MPI_STATUS_IGNORE)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_close(&null)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_set_size(MPI_FILE_NULL, 0)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_preallocate(MPI_FILE_NULL, 0)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_get_size(MPI_FILE_NULL, &offset)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_get_group(MPI_FILE_NULL, &group)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_get_amode(MPI_FILE_NULL, &number)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_set_info(MPI_FILE_NULL, MPI_INFO_NULL)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_get_info(MPI_FILE_NULL, &info)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_set_view(MPI_FILE_NULL, 0, MPI_BYTE, MPI_BYTE, "native",
                                   MPI_INFO_NULL)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_get_view(MPI_FILE_NULL, &offset, &etype, &filetype, datarep)) ==
         MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_get_byte_offset(MPI_FILE_NULL, 0, &offset)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_get_type_extent(MPI_FILE_NULL, MPI_INT, &extent)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_get_type_extent_c(MPI_FILE_NULL, MPI_INT, &large)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_seek(MPI_FILE_NULL, 0, MPI_SEEK_SET)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_get_position(MPI_FILE_NULL, &offset)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_seek_shared(MPI_FILE_NULL, 0, MPI_SEEK_SET)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_get_position_shared(MPI_FILE_NULL, &offset)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_set_atomicity(MPI_FILE_NULL, 1)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_get_atomicity(MPI_FILE_NULL, &number)) == MPI_ERR_FILE);
  EXPECT(ClassOf(MPI_File_sync(MPI_FILE_NULL)) == MPI_ERR_FILE);
}

static int OpenClass(const char* name, int amode) {
  MPI_File file = MPI_FILE_NULL;
  const int code = MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &file);
  EXPECT(file == MPI_FILE_NULL);
  return ClassOf(code);
}

static void Opening(void) {
  MPI_File file = MPI_FILE_NULL;
  const int create = MPI_MODE_CREATE | MPI_MODE_RDWR;
  char long_name[1000];
  EXPECT(OpenClass(In("x"), MPI_MODE_RDONLY | MPI_MODE_RDWR) == MPI_ERR_AMODE);
  EXPECT(OpenClass(In("x"), MPI_MODE_CREATE) == MPI_ERR_AMODE);
  EXPECT(OpenClass(In("x"), MPI_MODE_RDONLY | MPI_MODE_CREATE) == MPI_ERR_AMODE);
  EXPECT(OpenClass(In("x"), MPI_MODE_RDONLY | MPI_MODE_EXCL) == MPI_ERR_AMODE);
  EXPECT(OpenClass(In("x"), MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL) == MPI_ERR_AMODE);
  EXPECT(OpenClass(In("x"), MPI_MODE_RDWR | (1 << 29)) == MPI_ERR_AMODE);
  EXPECT(OpenClass(In("x"), MPI_MODE_RDWR) == MPI_ERR_NO_SUCH_FILE);
  EXPECT(OpenClass(In("no/x"), create) == MPI_ERR_NO_SUCH_FILE);
  EXPECT(OpenClass(folder, MPI_MODE_RDWR) == MPI_ERR_BAD_FILE);
  EXPECT(OpenClass(folder, MPI_MODE_RDONLY) == MPI_ERR_BAD_FILE);
  EXPECT(OpenClass("panfs:/x", create) == MPI_ERR_IO);
  memset(long_name, 'a', sizeof long_name);
  memcpy(long_name, "/tmp/", 5);
  long_name[sizeof long_name - 1] = 0;
  EXPECT(OpenClass(long_name, create) == MPI_ERR_BAD_FILE);
  EXPECT(ClassOf(MPI_File_open(MPI_COMM_NULL, In("x"), create, MPI_INFO_NULL, &file)) ==
         MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_File_delete(In("never"), MPI_INFO_NULL)) == MPI_ERR_NO_SUCH_FILE);
  if (ranks > 1) {
    /* One rank differs, and all fail. */
    EXPECT(OpenClass(In("x"), rank == 1 ? create | MPI_MODE_APPEND : create) == MPI_ERR_NOT_SAME);
    EXPECT(OpenClass(rank == 1 ? In("y") : In("x"), create) == MPI_ERR_NO_SUCH_FILE);
    EXPECT(OpenClass(In("x"), rank == 1 ? MPI_MODE_CREATE : create) == MPI_ERR_AMODE);
  }
}

/* The text says where, what and why. */
static void Words(void) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_File file = MPI_FILE_NULL;
  const int code =
      MPI_File_open(MPI_COMM_WORLD, In("gone"), MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  MPI_Error_string(code, text, &length);
  EXPECT(strstr(text, "MPI_File_open") != NULL && strstr(text, "gone") != NULL);
  EXPECT(strstr(text, "No such file or directory") != NULL);
}

static void WrongWay(void) {
  int buf[4] = {0};
  MPI_Request request;
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_WRONLY);
  EXPECT(ClassOf(MPI_File_read(file, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_read_c(file, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_read_all(file, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_read_all_c(file, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_read_shared(file, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_read_shared_c(file, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_read_ordered(file, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_read_ordered_c(file, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_read_at(file, 0, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_read_at_c(file, 0, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_read_at_all(file, 0, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_read_at_all_c(file, 0, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_iread(file, buf, 1, MPI_INT, &request)) == MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_iread_c(file, buf, 1, MPI_INT, &request)) == MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_iread_all(file, buf, 1, MPI_INT, &request)) == MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_iread_all_c(file, buf, 1, MPI_INT, &request)) == MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_iread_shared(file, buf, 1, MPI_INT, &request)) == MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_iread_shared_c(file, buf, 1, MPI_INT, &request)) == MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_iread_at(file, 0, buf, 1, MPI_INT, &request)) == MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_iread_at_c(file, 0, buf, 1, MPI_INT, &request)) == MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_iread_at_all(file, 0, buf, 1, MPI_INT, &request)) == MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_iread_at_all_c(file, 0, buf, 1, MPI_INT, &request)) == MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_read_all_begin(file, buf, 1, MPI_INT)) == MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_read_all_begin_c(file, buf, 1, MPI_INT)) == MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_read_ordered_begin(file, buf, 1, MPI_INT)) == MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_read_ordered_begin_c(file, buf, 1, MPI_INT)) == MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_read_at_all_begin(file, 0, buf, 1, MPI_INT)) == MPI_ERR_ACCESS);
  EXPECT(ClassOf(MPI_File_read_at_all_begin_c(file, 0, buf, 1, MPI_INT)) == MPI_ERR_ACCESS);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  file = Open("a", MPI_MODE_RDONLY);
  EXPECT(ClassOf(MPI_File_write(file, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_write_c(file, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_write_all(file, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_write_all_c(file, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_write_shared(file, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_write_shared_c(file, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_write_ordered(file, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_write_ordered_c(file, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_write_at(file, 0, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_write_at_c(file, 0, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_write_at_all(file, 0, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_write_at_all_c(file, 0, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_iwrite(file, buf, 1, MPI_INT, &request)) == MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_iwrite_c(file, buf, 1, MPI_INT, &request)) == MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_iwrite_all(file, buf, 1, MPI_INT, &request)) == MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_iwrite_all_c(file, buf, 1, MPI_INT, &request)) == MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_iwrite_shared(file, buf, 1, MPI_INT, &request)) == MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_iwrite_shared_c(file, buf, 1, MPI_INT, &request)) == MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_iwrite_at(file, 0, buf, 1, MPI_INT, &request)) == MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_iwrite_at_c(file, 0, buf, 1, MPI_INT, &request)) == MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_iwrite_at_all(file, 0, buf, 1, MPI_INT, &request)) == MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_iwrite_at_all_c(file, 0, buf, 1, MPI_INT, &request)) ==
         MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_write_all_begin(file, buf, 1, MPI_INT)) == MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_write_all_begin_c(file, buf, 1, MPI_INT)) == MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_write_ordered_begin(file, buf, 1, MPI_INT)) == MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_write_ordered_begin_c(file, buf, 1, MPI_INT)) == MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_write_at_all_begin(file, 0, buf, 1, MPI_INT)) == MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_write_at_all_begin_c(file, 0, buf, 1, MPI_INT)) == MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_set_size(file, 5)) == MPI_ERR_READ_ONLY);
  EXPECT(ClassOf(MPI_File_preallocate(file, 5)) == MPI_ERR_READ_ONLY);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

static void Arguments(void) {
  int buf[4] = {0};
  MPI_Offset offset = -1;
  MPI_Aint extent = 0;
  MPI_Count large = 0;
  MPI_Datatype pair;
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  EXPECT(ClassOf(MPI_File_read_at(file, -1, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_File_read(file, buf, -1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_COUNT);
  EXPECT(ClassOf(MPI_File_read(file, buf, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE)) ==
         MPI_ERR_TYPE);
  EXPECT(ClassOf(MPI_File_read(file, buf, 1, pair, MPI_STATUS_IGNORE)) == MPI_ERR_TYPE);
  EXPECT(ClassOf(MPI_File_read(file, NULL, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_BUFFER);
  EXPECT(ClassOf(MPI_File_seek(file, -1, MPI_SEEK_SET)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_File_seek(file, -1, MPI_SEEK_CUR)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_File_seek(file, 0, 77)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_File_seek_shared(file, -1, MPI_SEEK_SET)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_File_set_size(file, -1)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_File_preallocate(file, -1)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_File_get_byte_offset(file, -1, &offset)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_File_get_size(file, NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_File_get_type_extent(file, MPI_DATATYPE_NULL, &extent)) == MPI_ERR_TYPE);
  EXPECT(ClassOf(MPI_File_get_type_extent_c(file, MPI_DATATYPE_NULL, &large)) == MPI_ERR_TYPE);
  if (ranks > 1) {
    EXPECT(ClassOf(MPI_File_set_size(file, rank)) == MPI_ERR_NOT_SAME);
    EXPECT(ClassOf(MPI_File_seek_shared(file, rank, MPI_SEEK_SET)) == MPI_ERR_NOT_SAME);
    EXPECT(ClassOf(MPI_File_set_atomicity(file, rank)) == MPI_ERR_NOT_SAME);
  }
  MPI_Type_free(&pair);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

static void Views(void) {
  int numbers[3] = {0};
  MPI_Datatype type, wrong;
  int one[2] = {1, 1}, back[2] = {4, 0}, over[2] = {0, 0};
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
  EXPECT(ClassOf(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "nonsense", MPI_INFO_NULL)) ==
         MPI_ERR_UNSUPPORTED_DATAREP);
  EXPECT(ClassOf(MPI_File_set_view(file, -5, MPI_INT, MPI_INT, "native", MPI_INFO_NULL)) ==
         MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_File_set_view(file, 0, MPI_DATATYPE_NULL, MPI_INT, "native",
                                   MPI_INFO_NULL)) == MPI_ERR_TYPE);
  EXPECT(ClassOf(MPI_File_set_view(file, 0, MPI_INT, MPI_CHAR, "native", MPI_INFO_NULL)) ==
         MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native",
                                   MPI_INFO_NULL)) == MPI_ERR_ARG);
  MPI_Type_indexed(2, one, back, MPI_INT, &wrong);
  EXPECT(ClassOf(MPI_File_set_view(file, 0, MPI_INT, wrong, "native", MPI_INFO_NULL)) ==
         MPI_ERR_TYPE);
  MPI_Type_commit(&wrong);
  EXPECT(ClassOf(MPI_File_set_view(file, 0, MPI_INT, wrong, "native", MPI_INFO_NULL)) ==
         MPI_ERR_IO);
  MPI_Type_free(&wrong);
  MPI_Type_indexed(2, one, over, MPI_INT, &wrong);
  MPI_Type_commit(&wrong);
  EXPECT(ClassOf(MPI_File_set_view(file, 0, MPI_INT, wrong, "native", MPI_INFO_NULL)) ==
         MPI_ERR_IO);
  MPI_Type_free(&wrong);
  /* Copies of this one would overlap, so only the first may be used. */
  MPI_Type_create_resized(MPI_INT, 0, 2, &wrong);
  MPI_Type_commit(&wrong);
  EXPECT(MPI_File_set_view(file, 0, MPI_INT, wrong, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  EXPECT(ClassOf(MPI_File_write_at(file, 0, numbers, 2, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_IO);
  EXPECT(ClassOf(MPI_File_read_at(file, 1, numbers, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_IO);
  EXPECT(MPI_File_read_at(file, 0, numbers, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  MPI_Type_free(&wrong);
  EXPECT(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  /* One rank's mistake is everybody's, and no view has changed. */
  if (ranks > 1) {
    EXPECT(ClassOf(MPI_File_set_view(file, rank == 1 ? -1 : 8, MPI_INT, MPI_INT, "native",
                                     MPI_INFO_NULL)) == MPI_ERR_ARG);
    EXPECT(ClassOf(MPI_File_set_view(file, 0, rank == 1 ? MPI_INT : MPI_DOUBLE,
                                     rank == 1 ? MPI_INT : MPI_DOUBLE, "native",
                                     MPI_INFO_NULL)) == MPI_ERR_NOT_SAME);
  }
  {
    MPI_Offset disp = -1;
    MPI_Datatype etype, filetype;
    char datarep[MPI_MAX_DATAREP_STRING];
    EXPECT(MPI_File_get_view(file, &disp, &etype, &filetype, datarep) == MPI_SUCCESS);
    EXPECT(disp == 0 && etype == MPI_BYTE && filetype == MPI_BYTE);
  }
  /* Data is whole etypes. */
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_commit(&type);
  EXPECT(MPI_File_set_view(file, 0, type, type, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  EXPECT(ClassOf(MPI_File_write(file, numbers, 3, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_IO);
  MPI_Type_free(&type);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

static void Split(void) {
  int buf[4] = {0}, other[4] = {0};
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
  EXPECT(ClassOf(MPI_File_write_all_end(file, buf, MPI_STATUS_IGNORE)) == MPI_ERR_OTHER);
  EXPECT(ClassOf(MPI_File_read_all_end(file, buf, MPI_STATUS_IGNORE)) == MPI_ERR_OTHER);
  EXPECT(ClassOf(MPI_File_write_at_all_end(file, buf, MPI_STATUS_IGNORE)) == MPI_ERR_OTHER);
  EXPECT(ClassOf(MPI_File_read_at_all_end(file, buf, MPI_STATUS_IGNORE)) == MPI_ERR_OTHER);
  EXPECT(ClassOf(MPI_File_write_ordered_end(file, buf, MPI_STATUS_IGNORE)) == MPI_ERR_OTHER);
  EXPECT(ClassOf(MPI_File_read_ordered_end(file, buf, MPI_STATUS_IGNORE)) == MPI_ERR_OTHER);
  EXPECT(MPI_File_write_all_begin(file, buf, 4, MPI_INT) == MPI_SUCCESS);
  EXPECT(ClassOf(MPI_File_write_all_begin(file, buf, 4, MPI_INT)) == MPI_ERR_OTHER);
  EXPECT(ClassOf(MPI_File_write_all(file, buf, 4, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_OTHER);
  EXPECT(ClassOf(MPI_File_write_ordered_end(file, buf, MPI_STATUS_IGNORE)) == MPI_ERR_OTHER);
  EXPECT(ClassOf(MPI_File_write_all_end(file, other, MPI_STATUS_IGNORE)) == MPI_ERR_BUFFER);
  EXPECT(MPI_File_write_all_end(file, buf, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  EXPECT(MPI_File_write_all_begin(file, buf, 4, MPI_INT) == MPI_SUCCESS);
  EXPECT(ClassOf(MPI_File_close(&file)) == MPI_ERR_OTHER);
  EXPECT(file == MPI_FILE_NULL);
  Remove("a");
}

static void Sequential(void) {
  int buf[4] = {0};
  MPI_Offset offset = 0;
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
  EXPECT(ClassOf(MPI_File_write(file, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT(ClassOf(MPI_File_write_at(file, 0, buf, 1, MPI_INT, MPI_STATUS_IGNORE)) ==
         MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT(ClassOf(MPI_File_seek(file, 0, MPI_SEEK_SET)) == MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT(ClassOf(MPI_File_get_position(file, &offset)) == MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT(ClassOf(MPI_File_seek_shared(file, 0, MPI_SEEK_SET)) == MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT(ClassOf(MPI_File_get_position_shared(file, &offset)) == MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT(ClassOf(MPI_File_set_size(file, 0)) == MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT(ClassOf(MPI_File_preallocate(file, 0)) == MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT(ClassOf(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL)) ==
         MPI_ERR_ARG);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

static int calls = 0, last_class = 0;
static MPI_File last_file;
static void Handler(MPI_File* file, int* code, ...) {
  ++calls;
  last_class = ClassOf(*code);
  last_file = *file;
}

/* A file begins with the handler of MPI_FILE_NULL and has its own from then on. Requests raise
   their errors on it too. */
static void Handlers(void) {
  int buf[1] = {0};
  MPI_Errhandler mine, seen;
  MPI_Request request;
  MPI_File null = MPI_FILE_NULL, file;
  EXPECT(MPI_File_create_errhandler(Handler, &mine) == MPI_SUCCESS);
  EXPECT(MPI_File_set_errhandler(MPI_FILE_NULL, mine) == MPI_SUCCESS);
  MPI_File_open(MPI_COMM_SELF, In("gone"), MPI_MODE_RDONLY, MPI_INFO_NULL, &null);
  EXPECT(calls == 1 && last_class == MPI_ERR_NO_SUCH_FILE && last_file == MPI_FILE_NULL);
  file = Open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
  EXPECT(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN) == MPI_SUCCESS);
  MPI_File_seek(file, -1, MPI_SEEK_SET);
  EXPECT(calls == 2 && last_class == MPI_ERR_ARG && last_file == file);
  EXPECT(MPI_File_get_errhandler(file, &seen) == MPI_SUCCESS && seen == mine);
  MPI_Errhandler_free(&seen);
  EXPECT(MPI_File_call_errhandler(file, MPI_ERR_QUOTA) == MPI_SUCCESS);
  EXPECT(calls == 3 && last_class == MPI_ERR_QUOTA && last_file == file);
  EXPECT(ClassOf(MPI_File_set_errhandler(file, MPI_ERRHANDLER_NULL)) == MPI_ERR_ERRHANDLER);
  EXPECT(calls == 4);
  MPI_Errhandler_free(&mine);
  /* Reading at an offset that the system refuses fails in the request. */
  EXPECT(MPI_File_set_view(file, (MPI_Offset)1 << 62, MPI_BYTE, MPI_BYTE, "native",
                           MPI_INFO_NULL) == MPI_SUCCESS);
  EXPECT(MPI_File_iwrite_at(file, (MPI_Offset)1 << 61, buf, 1, MPI_INT, &request) == MPI_SUCCESS);
  EXPECT(MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS);
  EXPECT(calls == 5 && last_class == MPI_ERR_IO && last_file == file);
  EXPECT(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN) == MPI_SUCCESS);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

static int Extent(MPI_Datatype type, MPI_Aint* extent, void* state) {
  (void)type;
  (void)state;
  *extent = 8;
  return MPI_SUCCESS;
}

static void Representations(void) {
  char long_name[MPI_MAX_DATAREP_STRING + 1];
  memset(long_name, 'a', sizeof long_name);
  long_name[sizeof long_name - 1] = 0;
  EXPECT(MPI_Register_datarep("mine", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, Extent,
                              NULL) == MPI_SUCCESS);
  EXPECT(ClassOf(MPI_Register_datarep("mine", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL,
                                      Extent, NULL)) == MPI_ERR_DUP_DATAREP);
  EXPECT(ClassOf(MPI_Register_datarep_c("native", MPI_CONVERSION_FN_NULL_C,
                                        MPI_CONVERSION_FN_NULL_C, Extent, NULL)) ==
         MPI_ERR_DUP_DATAREP);
  EXPECT(ClassOf(MPI_Register_datarep(long_name, MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL,
                                      Extent, NULL)) == MPI_ERR_ARG);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MakeFolder();
  NoFile();
  Opening();
  Words();
  WrongWay();
  Arguments();
  Views();
  Split();
  Sequential();
  Handlers();
  Representations();
  return LeaveFolder();
}
