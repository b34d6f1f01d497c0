/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   the shared file pointer gives each access a stretch of its own, ordered ones in the order
 *         of ranks, and atomic mode makes an access one step (sections 14.4.4 and 14.6).
 * Method: records that name their writer; every one must be there once.
 */
#include "test/mpi/io/folder.h"

enum { kRecords = 50, kRecordInts = 5 };

static void Record(int* record, int number) {
  for (int i = 0; i < kRecordInts; ++i) record[i] = rank * 1000 + number;
}

static void CheckRecords(MPI_File file, int records) {
  static int seen[16 * kRecords];
  int record[kRecordInts];
  memset(seen, 0, sizeof seen);
  for (int i = 0; i < records; ++i) {
    EXPECT(MPI_File_read_at(file, (MPI_Offset)i * kRecordInts, record, kRecordInts, MPI_INT,
                            MPI_STATUS_IGNORE) == MPI_SUCCESS);
    for (int k = 1; k < kRecordInts; ++k) EXPECT(record[k] == record[0]);
    ++seen[record[0] / 1000 * kRecords + record[0] % 1000];
  }
  for (int i = 0; i < records; ++i) EXPECT(seen[i] == 1);
}

static void Unordered(void) {
  int record[2][kRecordInts];
  MPI_Offset position = -1;
  MPI_Request requests[2];
  MPI_Status status;
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
  EXPECT(MPI_File_set_view(file, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  for (int i = 0; i < kRecords; i += 2) {
    Record(record[0], i);
    Record(record[1], i + 1);
    if (i % 4 == 0) {
      EXPECT(MPI_File_write_shared(file, record[0], kRecordInts, MPI_INT, &status) == MPI_SUCCESS);
      EXPECT(CountOf(&status, MPI_INT) == kRecordInts);
      EXPECT(MPI_File_write_shared_c(file, record[1], kRecordInts, MPI_INT, &status) ==
             MPI_SUCCESS);
    } else {
      EXPECT(MPI_File_iwrite_shared(file, record[0], kRecordInts, MPI_INT, &requests[0]) ==
             MPI_SUCCESS);
      EXPECT(MPI_File_iwrite_shared(file, record[1], kRecordInts, MPI_INT, &requests[1]) ==
             MPI_SUCCESS);
      EXPECT(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(MPI_File_get_position_shared(file, &position) == MPI_SUCCESS);
  EXPECT(position == (MPI_Offset)ranks * kRecords * kRecordInts);
  CheckRecords(file, ranks * kRecords);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(MPI_File_seek_shared(file, 0, MPI_SEEK_SET) == MPI_SUCCESS);
  for (int i = 0; i < kRecords; ++i) {
    int* got = record[0];
    if (i % 2 == 0) {
      EXPECT(MPI_File_read_shared(file, got, kRecordInts, MPI_INT, &status) == MPI_SUCCESS);
    } else {
      EXPECT(MPI_File_iread_shared(file, got, kRecordInts, MPI_INT, requests) == MPI_SUCCESS);
      EXPECT(MPI_Wait(requests, &status) == MPI_SUCCESS);
    }
    EXPECT(CountOf(&status, MPI_INT) == kRecordInts);
    for (int k = 1; k < kRecordInts; ++k) EXPECT(got[k] == got[0]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(MPI_File_read_shared(file, record[0], 1, MPI_INT, &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_INT) == 0);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

/* Rank r has r + 1 numbers in each round. */
static void Ordered(void) {
  int data[16], expected = 0;
  const int count = rank + 1, before = rank * (rank + 1) / 2, all = ranks * (ranks + 1) / 2;
  MPI_Offset position = -1;
  MPI_Status status;
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
  EXPECT(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < count; ++i) data[i] = round * all + before + i;
    if (round % 2 == 0) {
      EXPECT(MPI_File_write_ordered(file, data, count, MPI_INT, &status) == MPI_SUCCESS);
    } else {
      EXPECT(MPI_File_write_ordered_begin(file, data, count, MPI_INT) == MPI_SUCCESS);
      EXPECT(MPI_File_write_ordered_end(file, data, &status) == MPI_SUCCESS);
    }
    EXPECT(CountOf(&status, MPI_INT) == count);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(MPI_File_get_position_shared(file, &position) == MPI_SUCCESS && position == 6 * all);
  for (int i = 0; i < 6 * all; ++i) {
    EXPECT(MPI_File_read_at(file, i, &expected, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    EXPECT(expected == i);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(MPI_File_seek_shared(file, -6 * all, MPI_SEEK_END) == MPI_SUCCESS);
  for (int round = 0; round < 6; ++round) {
    memset(data, 0, sizeof data);
    if (round % 2 == 0) {
      EXPECT(MPI_File_read_ordered_c(file, data, count, MPI_INT, &status) == MPI_SUCCESS);
    } else {
      EXPECT(MPI_File_read_ordered_begin(file, data, count, MPI_INT) == MPI_SUCCESS);
      EXPECT(MPI_File_read_ordered_end(file, data, &status) == MPI_SUCCESS);
    }
    EXPECT(CountOf(&status, MPI_INT) == count);
    for (int i = 0; i < count; ++i) EXPECT(data[i] == round * all + before + i);
  }
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

/* All ranks write the same place again and again; what is read is always of one rank. */
static void Atomic(void) {
  enum { kBytes = 2000 };
  char* data = malloc(kBytes);
  int flag = -1, good = 1;
  MPI_Datatype every_second;
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Type_create_resized(MPI_CHAR, 0, 2, &every_second);
  MPI_Type_commit(&every_second);
  EXPECT(MPI_File_get_atomicity(file, &flag) == MPI_SUCCESS && !flag);
  EXPECT(MPI_File_set_atomicity(file, 1) == MPI_SUCCESS);
  EXPECT(MPI_File_get_atomicity(file, &flag) == MPI_SUCCESS && flag);
  EXPECT(MPI_File_set_view(file, 0, MPI_CHAR, every_second, "native", MPI_INFO_NULL) ==
         MPI_SUCCESS);
  memset(data, 'a' + rank, kBytes);
  EXPECT(MPI_File_write_at_all(file, 0, data, kBytes, MPI_CHAR, MPI_STATUS_IGNORE) ==
         MPI_SUCCESS);
  for (int i = 0; i < 20; ++i) {
    memset(data, 'a' + rank, kBytes);
    EXPECT(MPI_File_write_at(file, 0, data, kBytes, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    EXPECT(MPI_File_read_at(file, 0, data, kBytes, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    for (int k = 1; k < kBytes; ++k) good = good && data[k] == data[0];
  }
  EXPECT(good);
  EXPECT(MPI_File_set_atomicity(file, 0) == MPI_SUCCESS);
  EXPECT(MPI_File_get_atomicity(file, &flag) == MPI_SUCCESS && !flag);
  MPI_Type_free(&every_second);
  free(data);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

/* In a sequential file everything goes through the shared pointer. */
static void Sequential(void) {
  char byte = (char)('a' + rank), got = 0;
  MPI_Status status;
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
  EXPECT(MPI_File_write_ordered(file, &byte, 1, MPI_CHAR, &status) == MPI_SUCCESS);
  EXPECT(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_CHAR, MPI_CHAR, "native",
                           MPI_INFO_NULL) == MPI_SUCCESS);
  EXPECT(MPI_File_write_ordered(file, &byte, 1, MPI_CHAR, &status) == MPI_SUCCESS);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  file = Open("a", MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL);
  for (int i = 0; i < 2; ++i) {
    EXPECT(MPI_File_read_ordered(file, &got, 1, MPI_CHAR, &status) == MPI_SUCCESS);
    EXPECT(got == byte);
  }
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MakeFolder();
  Unordered();
  Ordered();
  Atomic();
  Sequential();
  return LeaveFolder();
}
