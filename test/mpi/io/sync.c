/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   what one rank has written is there for all others once both have called MPI_File_sync,
 * with a barrier between, or once the file was closed and opened again (section 14.6.1). Method:
 * the ranks take turns to write over the beginning and to append; all others look at each byte
 *         before and after, so that they have the old ones cached.
 */
#include "test/mpi/io/folder.h"

enum { kInts = 3000, kRounds = 3, kPiece = 16 };

static int record[kInts * 64];

static void Fill(int value) {
  for (int i = 0; i < kInts; ++i) record[i] = value * 10000 + i;
}

/* Reads part `at` of the file. It is the one of turn `value`, or there is none if that is negative.
 */
static void Check(MPI_File file, int at, int value) {
  MPI_Status status;
  EXPECT(MPI_File_read_at(file, (MPI_Offset)at * kInts * (int)sizeof(int), record, kInts, MPI_INT,
                          &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_INT) == (value < 0 ? 0 : kInts));
  for (int i = 0; value >= 0 && i < kInts; ++i)
    if (record[i] != value * 10000 + i) {
      EXPECT(record[i] == value * 10000 + i);
      return;
    }
}

static void Write(MPI_File file, int at, int value) {
  MPI_Request request;
  const MPI_Offset offset = (MPI_Offset)at * kInts * (int)sizeof(int);
  Fill(value);
  if (at % 2 == 0) {
    EXPECT(MPI_File_write_at(file, offset, record, kInts, MPI_INT, MPI_STATUS_IGNORE) ==
           MPI_SUCCESS);
  } else {
    EXPECT(MPI_File_iwrite_at(file, offset, record, kInts, MPI_INT, &request) == MPI_SUCCESS);
    EXPECT(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  }
}

static void SyncTogether(MPI_File file) {
  EXPECT(MPI_File_sync(file) == MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(MPI_File_sync(file) == MPI_SUCCESS);
}

static void TakeTurns(void) {
  MPI_Offset size = -1;
  MPI_File file = Open("turns", MPI_MODE_CREATE | MPI_MODE_RDWR);
  for (int turn = 0; turn < kRounds * ranks; ++turn) {
    if (turn > 0) Check(file, 0, turn - 1);
    Check(file, turn + 1, -1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (turn % ranks == rank) {
      Write(file, 0, turn);
      Write(file, turn + 1, turn);
    }
    SyncTogether(file);
    Check(file, 0, turn);
    for (int old = 0; old <= turn; ++old) Check(file, old + 1, old);
    EXPECT(MPI_File_get_size(file, &size) == MPI_SUCCESS);
    EXPECT(size == (MPI_Offset)(turn + 2) * kInts * (int)sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("turns");
}

static void CloseAndOpen(void) {
  for (int turn = 0; turn < 2 * ranks; ++turn) {
    MPI_File file = Open("closed", MPI_MODE_CREATE | MPI_MODE_RDWR);
    if (turn > 0) Check(file, 0, turn - 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (turn % ranks == rank) Write(file, 0, turn);
    EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
    file = Open("closed", MPI_MODE_RDONLY);
    Check(file, 0, turn);
    EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  }
  Remove("closed");
}

/* Each rank has every ranks-th piece of 64 bytes, so pages belong to all. Nobody may harm
 * another's. */
static void WritePages(int together) {
  MPI_Datatype pieces;
  MPI_File file = Open("pages", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Type_vector(64, kPiece, kPiece * ranks, MPI_INT, &pieces);
  MPI_Type_commit(&pieces);
  for (int turn = 0; turn < 3; ++turn) {
    EXPECT(MPI_File_set_view(file, (MPI_Offset)rank * kPiece * (int)sizeof(int), MPI_INT, pieces,
                             "native", MPI_INFO_NULL) == MPI_SUCCESS);
    Fill(turn * ranks + rank);
    EXPECT((together ? MPI_File_write_at_all : MPI_File_write_at)(
               file, 0, record, 64 * kPiece, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    SyncTogether(file);
    EXPECT(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    EXPECT(MPI_File_read_at(file, 0, record, 64 * kPiece * ranks, MPI_INT, MPI_STATUS_IGNORE) ==
           MPI_SUCCESS);
    int wrong = 0;
    for (int i = 0; i < 64 * kPiece * ranks; ++i) {
      const int owner = i / kPiece % ranks, place = i / (kPiece * ranks) * kPiece + i % kPiece;
      wrong += record[i] != (turn * ranks + owner) * 10000 + place;
    }
    EXPECT(wrong == 0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Type_free(&pieces);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("pages");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MakeFolder();
  TakeTurns();
  CloseAndOpen();
  WritePages(0);
  WritePages(1);
  return LeaveFolder();
}
