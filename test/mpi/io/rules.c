/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   rules of README.md that no other program of this folder is about: what ranks must have in
 *         common when they open, what closing waits for, what survives a change of size, who may
 *         free what, and that synchronising waits for nobody.
 * Method: each rule once.
 */
#include "test/mpi/io/folder.h"

enum { kReadWrite = MPI_MODE_CREATE | MPI_MODE_RDWR };

static int TextHas(int code, const char* words) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  return strstr(text, words) != NULL;
}

/* I1: the processes of a file are those of an intracommunicator. */
static void OnlyIntracommunicators(void) {
  MPI_Comm half, both;
  MPI_File file = MPI_FILE_NULL;
  int code;
  if (ranks < 2) return;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &both);
  code = MPI_File_open(both, In("a"), kReadWrite, MPI_INFO_NULL, &file);
  EXPECT(ClassOf(code) == MPI_ERR_COMM && file == MPI_FILE_NULL);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

/* I2: all fail alike if one does, and the text names the first that failed and its node. */
static void OneFailsAllFail(void) {
  MPI_File file = MPI_FILE_NULL;
  int code;
  if (ranks < 2) return;
  code = MPI_File_open(MPI_COMM_WORLD, In("a"), rank == 1 ? 0 : kReadWrite, MPI_INFO_NULL, &file);
  EXPECT(ClassOf(code) == MPI_ERR_AMODE && file == MPI_FILE_NULL);
  EXPECT(TextHas(code, "rank 1 on "));
  EXPECT(access(In("a"), F_OK) != 0);
}

/* I3: ranks that name different files that both exist are told so. */
static void NotTheSameFile(void) {
  MPI_File file = MPI_FILE_NULL;
  int code;
  if (ranks < 2) return;
  file = Open("a", kReadWrite);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  file = Open("b", kReadWrite);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  code =
      MPI_File_open(MPI_COMM_WORLD, In(rank == 1 ? "b" : "a"), MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  EXPECT(ClassOf(code) == MPI_ERR_NOT_SAME && TextHas(code, "another file"));
  Remove("a");
  Remove("b");
}

/* I5: closing waits for what is under way, and its request can be waited for afterwards. */
static void ClosingWaits(void) {
  enum { kMany = 1 << 20 };
  char* data = malloc(kMany);
  struct {
    MPI_Request request;
    MPI_Status status;
  } later[2];
  MPI_Offset size = 0;
  MPI_File file = Open("a", kReadWrite);
  memset(data, 'x', kMany);
  EXPECT(MPI_File_iwrite_at(file, (MPI_Offset)rank * kMany, data, kMany, MPI_CHAR,
                            &later[0].request) == MPI_SUCCESS);
  EXPECT(MPI_File_iwrite_at_all(file, (MPI_Offset)(ranks + rank) * kMany, data, kMany, MPI_CHAR,
                                &later[1].request) == MPI_SUCCESS);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS && file == MPI_FILE_NULL);
  for (int i = 0; i < 2; ++i) {
    EXPECT(MPI_Wait(&later[i].request, &later[i].status) == MPI_SUCCESS);
    EXPECT(CountOf(&later[i].status, MPI_CHAR) == kMany);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  file = Open("a", MPI_MODE_RDONLY);
  EXPECT(MPI_File_get_size(file, &size) == MPI_SUCCESS && size == (MPI_Offset)2 * ranks * kMany);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
  free(data);
}

/* I8: a change of size moves no pointer, and reserving room changes no data. */
static void SizesLeaveTheRest(void) {
  char back[8] = "";
  MPI_Offset position = 0;
  MPI_File file = Open("a", kReadWrite);
  if (rank == 0) {
    EXPECT(MPI_File_write_at(file, 0, "abc", 3, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    EXPECT(MPI_File_write_at(file, 9000, "z", 1, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  }
  EXPECT(MPI_File_seek(file, 2, MPI_SEEK_SET) == MPI_SUCCESS);
  EXPECT(MPI_File_seek_shared(file, 4, MPI_SEEK_SET) == MPI_SUCCESS);
  EXPECT(MPI_File_preallocate(file, 20000) == MPI_SUCCESS);
  EXPECT(MPI_File_read_at(file, 0, back, 4, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  EXPECT(memcmp(back, "abc\0", 4) == 0);
  EXPECT(MPI_File_read_at(file, 9000, back, 1, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  EXPECT(back[0] == 'z');
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(MPI_File_set_size(file, 1) == MPI_SUCCESS);
  EXPECT(MPI_File_get_position(file, &position) == MPI_SUCCESS && position == 2);
  EXPECT(MPI_File_get_position_shared(file, &position) == MPI_SUCCESS && position == 4);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

/* I12: types may be freed while a view or a request uses them. */
static void FreedTypes(void) {
  int data[6] = {1, 2, 3, 4, 5, 6}, back[6] = {0};
  MPI_Datatype filetype, memory;
  MPI_Request request;
  MPI_File file = Open("a", kReadWrite);
  MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)sizeof(int) * ranks, &filetype);
  MPI_Type_commit(&filetype);
  MPI_Type_vector(3, 1, 2, MPI_INT, &memory);
  MPI_Type_commit(&memory);
  EXPECT(MPI_File_set_view(file, rank * (MPI_Offset)sizeof(int), MPI_INT, filetype, "native",
                           MPI_INFO_NULL) == MPI_SUCCESS);
  MPI_Type_free(&filetype);
  EXPECT(MPI_File_iwrite_all(file, data, 1, memory, &request) == MPI_SUCCESS);
  MPI_Type_free(&memory);
  EXPECT(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  EXPECT(MPI_File_read_at(file, 0, back, 3, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  EXPECT(back[0] == 1 && back[1] == 3 && back[2] == 5 && back[3] == 0);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

/* I18: a collective access may not be freed early, and cannot be withdrawn. */
static void CollectiveRequestsStay(void) {
  char byte = 'x';
  int cancelled = -1;
  MPI_Request request;
  MPI_Status status;
  MPI_File file = Open("a", kReadWrite);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  EXPECT(MPI_File_iwrite_at_all(file, rank, &byte, 1, MPI_CHAR, &request) == MPI_SUCCESS);
  EXPECT(ClassOf(MPI_Request_free(&request)) == MPI_ERR_REQUEST);
  EXPECT(ClassOf(MPI_Cancel(&request)) == MPI_ERR_REQUEST);
  EXPECT(MPI_Wait(&request, &status) == MPI_SUCCESS && CountOf(&status, MPI_CHAR) == 1);
  MPI_Test_cancelled(&status, &cancelled);
  EXPECT(cancelled == 0);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

/* I25: one rank alone may synchronise, because programs do. */
static void SyncAlone(void) {
  MPI_File file = Open("a", kReadWrite);
  EXPECT(MPI_File_write_at(file, rank, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  if (rank == ranks - 1) EXPECT(MPI_File_sync(file) == MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

/* I13: whoever has no data may give no buffer, in every kind of access and view. */
static void EmptyBuffers(void) {
  const int places[2] = {3, 9};
  int data[64] = {0};
  MPI_Datatype behind, turns;
  MPI_Request request;
  MPI_Info info;
  MPI_File file = MPI_FILE_NULL;
  const int has = rank % 2;
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_cb_write", "enable");
  MPI_Info_set(info, "romio_cb_read", "enable");
  EXPECT(MPI_File_open(MPI_COMM_WORLD, In("a"), kReadWrite, info, &file) == MPI_SUCCESS);
  MPI_Info_free(&info);
  MPI_Type_create_indexed_block(2, 1, places, MPI_INT, &behind);
  MPI_Type_commit(&behind);
  MPI_Type_create_resized(MPI_INT, 0, 2 * (MPI_Aint)sizeof(int) * ranks, &turns);
  MPI_Type_commit(&turns);
  for (int view = 0; view < 3; ++view) {
    if (view > 0)
      EXPECT(MPI_File_set_view(file, 2 * (MPI_Offset)sizeof(int) * rank, MPI_INT, turns,
                               view == 1 ? "native" : "external32", MPI_INFO_NULL) == MPI_SUCCESS);
    EXPECT(MPI_File_write_at(file, 0, NULL, 0, behind, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    EXPECT(MPI_File_read_at(file, 0, NULL, 0, behind, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    for (int somebody = 0; somebody < 2; ++somebody) {
      void* const buffer = has && somebody ? data : NULL;
      const int count = has && somebody ? 2 : 0;
      EXPECT(MPI_File_write_at_all(file, 0, buffer, count, behind, MPI_STATUS_IGNORE) == 0);
      EXPECT(MPI_File_read_at_all(file, 0, buffer, count, behind, MPI_STATUS_IGNORE) == 0);
      EXPECT(MPI_File_iwrite_at_all(file, 0, buffer, count, behind, &request) == MPI_SUCCESS);
      EXPECT(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
      EXPECT(MPI_File_iread_at_all(file, 0, buffer, count, behind, &request) == MPI_SUCCESS);
      EXPECT(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    }
    EXPECT(MPI_File_iread_at(file, 0, NULL, 0, behind, &request) == MPI_SUCCESS);
    EXPECT(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    EXPECT(MPI_File_write_ordered(file, NULL, 0, behind, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    EXPECT(MPI_File_read_shared(file, NULL, 0, behind, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  }
  MPI_Type_free(&behind);
  MPI_Type_free(&turns);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

/* I14: a view of which some bytes are data twice may be read, together with others. */
static void ReadTwice(void) {
  const int lengths[2] = {4, 4}, places[2] = {0, 2};
  char back[8] = "";
  MPI_Datatype twice;
  MPI_Info info;
  MPI_Status status;
  MPI_File file = Open("a", kReadWrite);
  if (rank == 0)
    EXPECT(MPI_File_write(file, "abcdef", 6, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_cb_read", "enable");
  EXPECT(MPI_File_open(MPI_COMM_WORLD, In("a"), MPI_MODE_RDONLY, info, &file) == MPI_SUCCESS);
  MPI_Info_free(&info);
  MPI_Type_indexed(2, lengths, places, MPI_CHAR, &twice);
  MPI_Type_commit(&twice);
  EXPECT(MPI_File_set_view(file, 0, MPI_CHAR, twice, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  EXPECT(MPI_File_read_all(file, back, 8, MPI_CHAR, &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_CHAR) == 8 && memcmp(back, "abcdcdef", 8) == 0);
  MPI_Type_free(&twice);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MakeFolder();
  OnlyIntracommunicators();
  OneFailsAllFail();
  NotTheSameFile();
  ClosingWaits();
  SizesLeaveTheRest();
  FreedTypes();
  CollectiveRequestsStay();
  SyncAlone();
  EmptyBuffers();
  ReadTwice();
  return LeaveFolder();
}
