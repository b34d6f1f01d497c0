/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   data that is written is read again, whole or as far as the file goes, through every
 *         pointer but the shared one, blocking, nonblocking and split, from any layout in memory;
 *         statuses and pointers tell how far it went (section 14.4).
 * Method: each rank has its own stretch of one file, which others read back.
 */
#include "test/mpi/io/folder.h"

enum { kInts = 1000 };

static int Value(int of_rank, int i) { return of_rank * 100000 + i; }

static int Holds(const int* data, int of_rank, int first, int count) {
  for (int i = 0; i < count; ++i)
    if (data[i] != Value(of_rank, first + i)) return 0;
  return 1;
}

static void Fill(int* data) {
  for (int i = 0; i < kInts; ++i) data[i] = Value(rank, i);
}

static void Explicit(void) {
  int data[kInts], back[kInts];
  const MPI_Offset mine = (MPI_Offset)rank * sizeof data;
  const int other = (rank + 1) % ranks;
  const MPI_Offset theirs = (MPI_Offset)other * sizeof data;
  MPI_Status status;
  MPI_Request requests[2];
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
  Fill(data);
  EXPECT(MPI_File_write_at(file, mine, data, kInts / 2, MPI_INT, &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_INT) == kInts / 2);
  EXPECT(MPI_File_write_at_all_c(file, mine + (MPI_Offset)(kInts / 2 * sizeof(int)),
                                 data + kInts / 2, kInts / 2, MPI_INT, &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_INT) == kInts / 2);
  MPI_Barrier(MPI_COMM_WORLD);
  memset(back, 0, sizeof back);
  EXPECT(MPI_File_read_at_c(file, theirs, back, kInts, MPI_INT, &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_INT) == kInts && Holds(back, other, 0, kInts));
  memset(back, 0, sizeof back);
  EXPECT(MPI_File_read_at_all(file, theirs, back, kInts, MPI_INT, &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_INT) == kInts && Holds(back, other, 0, kInts));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kInts; ++i) data[i] = -data[i];
  EXPECT(MPI_File_iwrite_at(file, mine, data, kInts / 2, MPI_INT, &requests[0]) == MPI_SUCCESS);
  EXPECT(MPI_File_iwrite_at_all(file, mine + (MPI_Offset)(kInts / 2 * sizeof(int)),
                                data + kInts / 2, kInts / 2, MPI_INT,
                                &requests[1]) == MPI_SUCCESS);
  EXPECT(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(MPI_File_iread_at(file, theirs, back, kInts / 2, MPI_INT, &requests[0]) == MPI_SUCCESS);
  EXPECT(MPI_File_iread_at_all_c(file, theirs + (MPI_Offset)(kInts / 2 * sizeof(int)),
                                 back + kInts / 2, kInts / 2, MPI_INT,
                                 &requests[1]) == MPI_SUCCESS);
  EXPECT(MPI_Wait(&requests[1], &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_INT) == kInts / 2);
  EXPECT(MPI_Wait(&requests[0], &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_INT) == kInts / 2);
  for (int i = 0; i < kInts; ++i) back[i] = -back[i];
  EXPECT(Holds(back, other, 0, kInts));
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

static void Individual(void) {
  int data[kInts], back[kInts];
  MPI_Offset position = -1;
  MPI_Status status;
  MPI_Request request;
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
  Fill(data);
  EXPECT(MPI_File_set_view(file, (MPI_Offset)rank * (MPI_Offset)sizeof data, MPI_INT, MPI_INT,
                           "native", MPI_INFO_NULL) == MPI_SUCCESS);
  EXPECT(MPI_File_write(file, data, 100, MPI_INT, &status) == MPI_SUCCESS);
  EXPECT(MPI_File_write_all(file, data + 100, 100, MPI_INT, &status) == MPI_SUCCESS);
  EXPECT(MPI_File_get_position(file, &position) == MPI_SUCCESS && position == 200);
  EXPECT(MPI_File_iwrite(file, data + 200, 300, MPI_INT, &request) == MPI_SUCCESS);
  EXPECT(MPI_File_get_position(file, &position) == MPI_SUCCESS && position == 500);
  EXPECT(MPI_Wait(&request, &status) == MPI_SUCCESS && CountOf(&status, MPI_INT) == 300);
  EXPECT(MPI_File_iwrite_all(file, data + 500, 100, MPI_INT, &request) == MPI_SUCCESS);
  EXPECT(MPI_Wait(&request, &status) == MPI_SUCCESS && CountOf(&status, MPI_INT) == 100);
  EXPECT(MPI_File_write_all_begin(file, data + 600, 400, MPI_INT) == MPI_SUCCESS);
  EXPECT(MPI_File_write_all_end(file, data + 600, &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_INT) == 400);
  EXPECT(MPI_File_get_position(file, &position) == MPI_SUCCESS && position == 1000);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(MPI_File_seek(file, 10, MPI_SEEK_SET) == MPI_SUCCESS);
  EXPECT(MPI_File_seek(file, -5, MPI_SEEK_CUR) == MPI_SUCCESS);
  EXPECT(MPI_File_get_position(file, &position) == MPI_SUCCESS && position == 5);
  EXPECT(MPI_File_read(file, back, 100, MPI_INT, &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_INT) == 100 && Holds(back, rank, 5, 100));
  EXPECT(MPI_File_read_all(file, back, 100, MPI_INT, &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_INT) == 100 && Holds(back, rank, 105, 100));
  EXPECT(MPI_File_iread(file, back, 100, MPI_INT, &request) == MPI_SUCCESS);
  EXPECT(MPI_Wait(&request, &status) == MPI_SUCCESS && Holds(back, rank, 205, 100));
  EXPECT(MPI_File_iread_all_c(file, back, 100, MPI_INT, &request) == MPI_SUCCESS);
  EXPECT(MPI_Wait(&request, &status) == MPI_SUCCESS && Holds(back, rank, 305, 100));
  EXPECT(MPI_File_read_all_begin(file, back, 100, MPI_INT) == MPI_SUCCESS);
  EXPECT(MPI_File_read_all_end(file, back, &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_INT) == 100 && Holds(back, rank, 405, 100));
  EXPECT(MPI_File_read_at_all_begin_c(file, 3, back, 10, MPI_INT) == MPI_SUCCESS);
  EXPECT(MPI_File_read_at_all_end(file, back, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  EXPECT(Holds(back, rank, 3, 10));
  EXPECT(MPI_File_get_position(file, &position) == MPI_SUCCESS && position == 505);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

/* A read at the end of the file is short by exactly what is missing. */
static void ShortReads(void) {
  char data[10] = "012345678", back[20];
  MPI_Offset position = -1;
  MPI_Status status;
  MPI_Request request;
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
  if (rank == 0)
    EXPECT(MPI_File_write_at(file, 0, data, 10, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  memset(back, 'x', sizeof back);
  EXPECT(MPI_File_read_at(file, 7, back, 20, MPI_CHAR, &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_CHAR) == 3 && back[0] == '7' && back[3] == 'x');
  EXPECT(MPI_File_read_at_all(file, 7, back, 20, MPI_CHAR, &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_CHAR) == 3);
  EXPECT(MPI_File_iread_at(file, 8, back, 20, MPI_CHAR, &request) == MPI_SUCCESS);
  EXPECT(MPI_Wait(&request, &status) == MPI_SUCCESS && CountOf(&status, MPI_CHAR) == 2);
  EXPECT(MPI_File_read_at(file, 100, back, 5, MPI_CHAR, &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_CHAR) == 0);
  EXPECT(MPI_File_seek(file, 0, MPI_SEEK_END) == MPI_SUCCESS);
  EXPECT(MPI_File_get_position(file, &position) == MPI_SUCCESS && position == 10);
  EXPECT(MPI_File_seek(file, -4, MPI_SEEK_END) == MPI_SUCCESS);
  EXPECT(MPI_File_read(file, back, 20, MPI_CHAR, &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_CHAR) == 4);
  EXPECT(MPI_File_get_position(file, &position) == MPI_SUCCESS && position == 10);
  EXPECT(MPI_File_read(file, back, 0, MPI_CHAR, &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_CHAR) == 0);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

/* Data with gaps in memory, longer than what is packed at a time. */
static void Gaps(void) {
  enum { kPairs = 300000 };
  int* data = malloc(2 * kPairs * sizeof(int));
  MPI_Datatype every_second;
  MPI_Status status;
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
  const MPI_Offset mine = (MPI_Offset)rank * kPairs * (MPI_Offset)sizeof(int);
  int good = 1;
  MPI_Type_vector(kPairs, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  for (int i = 0; i < kPairs; ++i) {
    data[2 * i] = Value(rank, i);
    data[2 * i + 1] = -1;
  }
  EXPECT(MPI_File_write_at(file, mine, data, 1, every_second, &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, every_second) == 1 && CountOf(&status, MPI_INT) == kPairs);
  for (int i = 0; i < 2 * kPairs; ++i) data[i] = -7;
  EXPECT(MPI_File_read_at(file, mine, data, 1, every_second, &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, every_second) == 1);
  for (int i = 0; i < kPairs; ++i)
    good = good && data[2 * i] == Value(rank, i) && (i == kPairs - 1 || data[2 * i + 1] == -7);
  EXPECT(good);
  MPI_Type_free(&every_second);
  free(data);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

/* A sparse file: offsets and sizes beyond 32 bits. */
static void Far(void) {
  const MPI_Offset far = ((MPI_Offset)5 << 30) + rank;
  char written = (char)('a' + rank), back = 0;
  MPI_Offset size = 0;
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
  EXPECT(MPI_File_write_at(file, far, &written, 1, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(MPI_File_get_size(file, &size) == MPI_SUCCESS && size == ((MPI_Offset)5 << 30) + ranks);
  EXPECT(MPI_File_read_at(file, far, &back, 1, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  EXPECT(back == written);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MakeFolder();
  Explicit();
  Individual();
  ShortReads();
  Gaps();
  Far();
  return LeaveFolder();
}
