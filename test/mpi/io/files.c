/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   files are opened, asked, resized, closed and deleted as sections 14.2 and 14.6 say, on
 *         all ranks or on none.
 * Method: each thing once, with what the file system says beside it.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "test/mpi/io/folder.h"

static long SizeOnDisk(const char* name) {
  struct stat about;
  return stat(In(name), &about) == 0 ? (long)about.st_size : -1;
}

static void Modes(void) {
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR);
  int amode = 0;
  MPI_Offset size = -1;
  MPI_Group group, world;
  int result = -1;
  EXPECT(MPI_File_get_amode(file, &amode) == MPI_SUCCESS);
  EXPECT(amode == (MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR));
  EXPECT(MPI_File_get_size(file, &size) == MPI_SUCCESS && size == 0);
  EXPECT(MPI_File_get_group(file, &group) == MPI_SUCCESS);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_compare(group, world, &result);
  EXPECT(result == MPI_IDENT);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS && file == MPI_FILE_NULL);
  EXPECT(SizeOnDisk("a") == 0);
  /* It exists now. */
  EXPECT(ClassOf(MPI_File_open(MPI_COMM_WORLD, In("a"),
                               MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL,
                               &file)) == MPI_ERR_FILE_EXISTS);
  EXPECT(file == MPI_FILE_NULL);
  Remove("a");
  EXPECT(SizeOnDisk("a") == -1);
  EXPECT(ClassOf(MPI_File_open(MPI_COMM_WORLD, In("a"), MPI_MODE_RDWR, MPI_INFO_NULL, &file)) ==
         MPI_ERR_NO_SUCH_FILE);
  EXPECT(ClassOf(MPI_File_delete(In("never"), MPI_INFO_NULL)) == MPI_ERR_NO_SUCH_FILE);
}

static void Sizes(void) {
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Offset size = -1;
  EXPECT(MPI_File_set_size(file, 1000) == MPI_SUCCESS);
  EXPECT(MPI_File_get_size(file, &size) == MPI_SUCCESS && size == 1000);
  EXPECT(MPI_File_preallocate(file, 5000) == MPI_SUCCESS);
  EXPECT(MPI_File_get_size(file, &size) == MPI_SUCCESS && size == 5000);
  EXPECT(MPI_File_preallocate(file, 10) == MPI_SUCCESS);
  EXPECT(MPI_File_get_size(file, &size) == MPI_SUCCESS && size == 5000);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(MPI_File_set_size(file, 7) == MPI_SUCCESS);
  EXPECT(MPI_File_get_size(file, &size) == MPI_SUCCESS && size == 7);
  EXPECT(MPI_File_sync(file) == MPI_SUCCESS);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  EXPECT(SizeOnDisk("a") == 7);
  Remove("a");
}

static void Ends(void) {
  char text[4] = "abc";
  MPI_Offset position = -1;
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_WRONLY);
  if (rank == 0) EXPECT(MPI_File_write(file, text, 3, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  file = Open("a", MPI_MODE_RDWR | MPI_MODE_APPEND);
  EXPECT(MPI_File_get_position(file, &position) == MPI_SUCCESS && position == 3);
  EXPECT(MPI_File_get_position_shared(file, &position) == MPI_SUCCESS && position == 3);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(MPI_File_set_view(file, 1, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  EXPECT(MPI_File_get_position(file, &position) == MPI_SUCCESS && position == 0);
  EXPECT(MPI_File_get_position_shared(file, &position) == MPI_SUCCESS && position == 0);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  file = Open("a", MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  EXPECT(SizeOnDisk("a") == -1);
}

/* A name may begin with a file system's prefix; any other colon is part of it. */
static void Names(void) {
  char name[500];
  MPI_File file = MPI_FILE_NULL;
  snprintf(name, sizeof name, "ufs:%s", In("b"));
  EXPECT(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                       &file) == MPI_SUCCESS);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  EXPECT(SizeOnDisk("b") == 0);
  Remove("b");
  file = Open("c:d", MPI_MODE_CREATE | MPI_MODE_RDWR);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  EXPECT(SizeOnDisk("c:d") == 0);
  Remove("c:d");
  /* A relative name means the folder at the time of opening. */
  EXPECT(chdir(folder) == 0);
  EXPECT(MPI_File_open(MPI_COMM_WORLD, "e",
                       MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                       &file) == MPI_SUCCESS);
  EXPECT(chdir("/") == 0);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  EXPECT(SizeOnDisk("e") == -1);
}

static void Hints(void) {
  MPI_Info info, used;
  MPI_File file = MPI_FILE_NULL;
  char value[300];
  int flag = 0, length = sizeof value;
  struct stat about;
  mode_t mask = umask(022);
  umask(mask);
  MPI_Info_create(&info);
  MPI_Info_set(info, "file_perm", "0640");
  MPI_Info_set(info, "cb_buffer_size", "65536");
  MPI_Info_set(info, "no_such_hint", "1");
  MPI_Info_set(info, "romio_cb_write", "perhaps");
  MPI_Info_set(info, "romio_ds_read", "disable");
  MPI_Info_set(info, "ind_rd_buffer_size", "-3");
  MPI_Info_set(info, "cb_nodes", "1");
  EXPECT(MPI_File_open(MPI_COMM_WORLD, In("a"), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) ==
         MPI_SUCCESS);
  EXPECT(stat(In("a"), &about) == 0 && (about.st_mode & 0777) == (0640 & ~mask));
  EXPECT(MPI_File_get_info(file, &used) == MPI_SUCCESS);
  MPI_Info_get_string(used, "cb_buffer_size", &length, value, &flag);
  EXPECT(flag && strcmp(value, "65536") == 0);
  length = sizeof value;
  MPI_Info_get_string(used, "filename", &length, value, &flag);
  EXPECT(flag && strcmp(value, In("a")) == 0);
  length = sizeof value;
  MPI_Info_get_string(used, "no_such_hint", &length, value, &flag);
  EXPECT(!flag);
  length = sizeof value;
  MPI_Info_get_string(used, "romio_cb_write", &length, value, &flag);
  EXPECT(flag && strcmp(value, "automatic") == 0);
  length = sizeof value;
  MPI_Info_get_string(used, "romio_ds_read", &length, value, &flag);
  EXPECT(flag && strcmp(value, "disable") == 0);
  length = sizeof value;
  MPI_Info_get_string(used, "ind_rd_buffer_size", &length, value, &flag);
  EXPECT(flag && strcmp(value, "4194304") == 0);
  length = sizeof value;
  MPI_Info_get_string(used, "cb_nodes", &length, value, &flag);
  EXPECT(flag && strcmp(value, "1") == 0);
  MPI_Info_free(&used);
  MPI_Info_set(info, "cb_buffer_size", "131072");
  EXPECT(MPI_File_set_info(file, info) == MPI_SUCCESS);
  EXPECT(MPI_File_get_info(file, &used) == MPI_SUCCESS);
  length = sizeof value;
  MPI_Info_get_string(used, "cb_buffer_size", &length, value, &flag);
  EXPECT(flag && strcmp(value, "131072") == 0);
  MPI_Info_free(&used);
  MPI_Info_free(&info);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

/* Handles and descriptors are given back. */
static void Many(void) {
  int before = open("/dev/null", O_RDONLY), after = -1;
  MPI_File file = MPI_FILE_NULL;
  char name[8];
  close(before);
  snprintf(name, sizeof name, "m%d", rank);
  for (int i = 0; i < 2000; ++i) {
    EXPECT(MPI_File_open(MPI_COMM_SELF, In(name), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                         &file) == MPI_SUCCESS);
    EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
    if (failures > 0) break;
  }
  after = open("/dev/null", O_RDONLY);
  EXPECT(after == before);
  close(after);
  EXPECT(MPI_File_delete(In(name), MPI_INFO_NULL) == MPI_SUCCESS);
}

/* What any rank does to a name before its call is done when the file is opened. */
static void WithoutBarrier(void) {
  MPI_File file;
  for (int i = 0; i < 200; ++i) {
    unlink(In("late"));
    file = Open("late", MPI_MODE_CREATE | MPI_MODE_RDWR);
    EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  }
  Remove("late");
  for (int i = 0; i < 50; ++i) {
    if (rank == i % ranks) {
      const int made = open(In("made"), O_CREAT | O_EXCL | O_WRONLY, 0600);
      EXPECT(made >= 0 && close(made) == 0);
    }
    file = Open("made", MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE);
    EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MakeFolder();
  Modes();
  Sizes();
  Ends();
  Names();
  Hints();
  Many();
  WithoutBarrier();
  return LeaveFolder();
}
