/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a view selects the bytes it says, of whatever filetype, and no other byte is touched,
 *         read or written, whoever writes beside it (section 14.3).
 * Method: columns of a matrix, interleaved pieces of several ranks, and random lists of pieces,
 *         each compared with the file read as bytes.
 */
#include "test/mpi/io/folder.h"

enum { kRows = 37, kColumns = 8 };

/* Each rank has every `ranks`-th column of a matrix of ints. */
static void Columns(void) {
  int column[kRows], back[kRows], matrix[kRows * kColumns * 8];
  const int columns = kColumns * ranks;
  MPI_Datatype filetype;
  MPI_Status status;
  MPI_Offset offset = -1;
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Type_vector(kRows, 1, columns, MPI_INT, &filetype);
  {
    MPI_Datatype resized;
    MPI_Type_create_resized(filetype, 0, (MPI_Aint)(kRows * columns) * (MPI_Aint)sizeof(int),
                            &resized);
    MPI_Type_free(&filetype);
    filetype = resized;
  }
  MPI_Type_commit(&filetype);
  for (int k = 0; k < kColumns; ++k) {
    const int mine = k * ranks + rank;
    EXPECT(MPI_File_set_view(file, (MPI_Offset)mine * (MPI_Offset)sizeof(int), MPI_INT, filetype,
                             "native", MPI_INFO_NULL) == MPI_SUCCESS);
    for (int i = 0; i < kRows; ++i) column[i] = i * columns + mine;
    EXPECT(MPI_File_write_all(file, column, kRows, MPI_INT, &status) == MPI_SUCCESS);
    EXPECT(CountOf(&status, MPI_INT) == kRows);
    EXPECT(MPI_File_get_byte_offset(file, 2, &offset) == MPI_SUCCESS);
    EXPECT(offset == (MPI_Offset)(2 * columns + mine) * (MPI_Offset)sizeof(int));
    memset(back, 0, sizeof back);
    EXPECT(MPI_File_read_at(file, 1, back, kRows - 1, MPI_INT, &status) == MPI_SUCCESS);
    EXPECT(memcmp(back, column + 1, (kRows - 1) * sizeof(int)) == 0);
  }
  MPI_Type_free(&filetype);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  EXPECT(MPI_File_read(file, matrix, kRows * columns, MPI_INT, &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_INT) == kRows * columns);
  for (int i = 0; i < kRows * columns; ++i) {
    EXPECT(matrix[i] == i);
    if (matrix[i] != i) break;
  }
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

/* Ranks write alternate bytes at the same time, independently; no byte is lost. */
static void Neighbours(void) {
  enum { kBytes = 20000 };
  char* mine = malloc(kBytes);
  char* all = malloc((size_t)kBytes * (size_t)ranks);
  MPI_Datatype every;
  int good = 1;
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Type_create_resized(MPI_CHAR, 0, ranks, &every);
  MPI_Type_commit(&every);
  memset(mine, 'a' + rank, kBytes);
  EXPECT(MPI_File_set_view(file, rank, MPI_CHAR, every, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  for (int done = 0; done < kBytes; done += 1000)
    EXPECT(MPI_File_write(file, mine, 1000, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  EXPECT(MPI_File_read_at_all(file, 0, all, kBytes * ranks, MPI_CHAR, MPI_STATUS_IGNORE) ==
         MPI_SUCCESS);
  for (int i = 0; i < kBytes * ranks; ++i) good = good && all[i] == 'a' + i % ranks;
  EXPECT(good);
  MPI_Type_free(&every);
  free(mine);
  free(all);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

/* Random ascending pieces, which one rank writes and reads from random positions. */
static void Pieces(void) {
  enum { kPieces = 60, kTiles = 5, kMost = 9 };
  unsigned seed = 12345u + (unsigned)rank;
  char name[8];
  snprintf(name, sizeof name, "p%d", rank);
  for (int round = 0; round < 20; ++round) {
    int lengths[kPieces], places[kPieces], at = 0, size = 0;
    static char model[kPieces * 2 * kMost * kTiles], data[sizeof model], back[sizeof model];
    static int offsets[sizeof model];
    MPI_Datatype pieces, filetype;
    MPI_File file = MPI_FILE_NULL;
    MPI_Status status;
    for (int i = 0; i < kPieces; ++i) {
      seed = seed * 1103515245u + 12345u;
      places[i] = at + (int)(seed >> 16) % kMost;
      lengths[i] = 1 + (int)(seed >> 20) % (kMost - 1);
      at = places[i] + lengths[i];
    }
    MPI_Type_indexed(kPieces, lengths, places, MPI_CHAR, &pieces);
    MPI_Type_create_resized(pieces, 0, at, &filetype);
    MPI_Type_commit(&filetype);
    for (int tile = 0; tile < kTiles; ++tile)
      for (int i = 0; i < kPieces; ++i)
        for (int k = 0; k < lengths[i]; ++k) offsets[size++] = tile * at + places[i] + k;
    memset(model, '.', sizeof model);
    for (int i = 0; i < size; ++i) model[offsets[i]] = data[i] = (char)('a' + i % 26);
    EXPECT(MPI_File_open(MPI_COMM_SELF, In(name), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                         &file) == MPI_SUCCESS);
    EXPECT(MPI_File_set_size(file, 0) == MPI_SUCCESS);
    memset(back, '.', sizeof back);
    EXPECT(MPI_File_write(file, back, kTiles * at, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    EXPECT(MPI_File_set_view(file, 0, MPI_CHAR, filetype, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    for (int done = 0; done < size;) {
      int count = 1 + (int)(seed >> 16) % 97;
      if (count > size - done) count = size - done;
      seed = seed * 1103515245u + 12345u;
      EXPECT(MPI_File_write_at(file, done, data + done, count, MPI_CHAR, &status) == MPI_SUCCESS);
      EXPECT(CountOf(&status, MPI_CHAR) == count);
      done += count;
    }
    EXPECT(MPI_File_read_at(file, 3, back, size, MPI_CHAR, &status) == MPI_SUCCESS);
    EXPECT(CountOf(&status, MPI_CHAR) == size - 3 && memcmp(back, data + 3, (size_t)size - 3) == 0);
    EXPECT(MPI_File_seek(file, 0, MPI_SEEK_END) == MPI_SUCCESS);
    {
      MPI_Offset end = -1;
      EXPECT(MPI_File_get_position(file, &end) == MPI_SUCCESS && end == size);
    }
    EXPECT(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    EXPECT(MPI_File_read_at(file, 0, back, kTiles * at, MPI_CHAR, &status) == MPI_SUCCESS);
    EXPECT(memcmp(back, model, (size_t)(kTiles * at)) == 0);
    MPI_Type_free(&pieces);
    MPI_Type_free(&filetype);
    EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
    if (failures > 0) break;
  }
  EXPECT(MPI_File_delete(In(name), MPI_INFO_NULL) == MPI_SUCCESS);
}

/* A view can be asked for, and its types may be freed while it is in use. */
static void Questions(void) {
  MPI_Datatype etype, filetype, seen_etype, seen_filetype;
  MPI_Offset disp = -1;
  MPI_Aint extent = -1, lower = -1;
  char datarep[MPI_MAX_DATAREP_STRING];
  int size = 0, integers, addresses, types, combiner;
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
  EXPECT(MPI_File_get_view(file, &disp, &seen_etype, &seen_filetype, datarep) == MPI_SUCCESS);
  EXPECT(disp == 0 && seen_etype == MPI_BYTE && seen_filetype == MPI_BYTE);
  EXPECT(strcmp(datarep, "native") == 0);
  MPI_Type_contiguous(3, MPI_INT, &etype);
  MPI_Type_commit(&etype);
  MPI_Type_vector(2, 1, 3, etype, &filetype);
  MPI_Type_commit(&filetype);
  EXPECT(MPI_File_set_view(file, 5, etype, filetype, "internal", MPI_INFO_NULL) == MPI_SUCCESS);
  MPI_Type_free(&etype);
  MPI_Type_free(&filetype);
  EXPECT(MPI_File_get_view(file, &disp, &seen_etype, &seen_filetype, datarep) == MPI_SUCCESS);
  EXPECT(disp == 5 && strcmp(datarep, "internal") == 0);
  MPI_Type_size(seen_etype, &size);
  EXPECT(size == 12);
  MPI_Type_get_extent(seen_filetype, &lower, &extent);
  EXPECT(extent == 48);
  MPI_Type_get_envelope(seen_filetype, &integers, &addresses, &types, &combiner);
  EXPECT(combiner != MPI_COMBINER_NAMED);
  EXPECT(MPI_File_get_type_extent(file, MPI_INT, &extent) == MPI_SUCCESS && extent == 4);
  MPI_Type_free(&seen_etype);
  MPI_Type_free(&seen_filetype);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

/* A filetype without data serves a rank that has none. */
static void Nothing(void) {
  MPI_Datatype none;
  MPI_Status status;
  char byte = 'x';
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Type_contiguous(0, MPI_CHAR, &none);
  MPI_Type_commit(&none);
  EXPECT(MPI_File_set_view(file, 0, MPI_CHAR, rank == 0 ? MPI_CHAR : none, "native",
                           MPI_INFO_NULL) == MPI_SUCCESS);
  EXPECT(MPI_File_write_at_all(file, 0, &byte, rank == 0 ? 1 : 0, MPI_CHAR, &status) ==
         MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_CHAR) == (rank == 0 ? 1 : 0));
  MPI_Type_free(&none);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MakeFolder();
  Columns();
  Neighbours();
  Pieces();
  Questions();
  Nothing();
  return LeaveFolder();
}
