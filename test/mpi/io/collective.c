/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   what ranks write together is there, byte for byte, and nothing else has changed, whether
 *         each writes for itself or some write for others; a rank's mistake hangs nobody.
 * Method: random interleaved blocks over a file that is full of a pattern, with small buffers so
 *         that there are many rounds, some ranks without data, and every method asked for by hints.
 */
#include "test/mpi/io/folder.h"

enum { kBlocks = 300 };

static const char* MethodOf(MPI_File file) {
  static char value[32];
  int flag = 0, length = sizeof value;
  MPI_Info info;
  EXPECT(MPI_File_get_info(file, &info) == MPI_SUCCESS);
  MPI_Info_get_string(info, "lamina_method", &length, value, &flag);
  MPI_Info_free(&info);
  return flag ? value : "";
}

/* Block i of a tile belongs to rank i; behind them is a hole of one block. */
static void Interleaved(int block, const char* wish, const char* buffer_bytes, const char* method) {
  const int tile = block * (ranks + 1), file_bytes = 10 + kBlocks * tile;
  const int idle = ranks > 2 ? 1 : -1;
  char* data = malloc((size_t)(kBlocks * block));
  char* all = malloc((size_t)file_bytes);
  int good = 1;
  MPI_Info info;
  MPI_Datatype bytes, filetype;
  MPI_Status status;
  MPI_File file = MPI_FILE_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_cb_write", wish);
  MPI_Info_set(info, "cb_buffer_size", buffer_bytes);
  EXPECT(MPI_File_open(MPI_COMM_WORLD, In("a"), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) ==
         MPI_SUCCESS);
  MPI_Info_free(&info);
  memset(all, '.', (size_t)file_bytes);
  if (rank == 0)
    EXPECT(MPI_File_write_at(file, 0, all, file_bytes, MPI_CHAR, MPI_STATUS_IGNORE) ==
           MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Type_contiguous(block, MPI_CHAR, &bytes);
  MPI_Type_create_resized(bytes, 0, tile, &filetype);
  MPI_Type_commit(&filetype);
  EXPECT(MPI_File_set_view(file, 10 + rank * block, MPI_CHAR, filetype, "native",
                           MPI_INFO_NULL) == MPI_SUCCESS);
  for (int i = 0; i < kBlocks * block; ++i) data[i] = (char)('a' + (i + rank) % 26);
  {
    const int count = rank == idle ? 0 : kBlocks * block - 3;
    EXPECT(MPI_File_write_at_all(file, 3, data + 3, count, MPI_CHAR, &status) == MPI_SUCCESS);
    EXPECT(CountOf(&status, MPI_CHAR) == count);
    if (ranks > 1 && method[0] != 0) {
      const char* seen = MethodOf(file);
      EXPECT(seen[0] == 0 || strcmp(seen, method) == 0);
    }
  }
  EXPECT(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  EXPECT(MPI_File_read_at_all(file, 0, all, file_bytes, MPI_CHAR, &status) == MPI_SUCCESS);
  EXPECT(CountOf(&status, MPI_CHAR) == file_bytes);
  for (int i = 0; i < file_bytes; ++i) {
    const int at = i - 10, owner = at < 0 ? ranks : at % tile / block;
    const int position = at < 0 ? 0 : at / tile * block + at % tile % block;
    const int written = owner < ranks && owner != idle && position >= 3;
    good = good && all[i] == (written ? 'a' + (position + owner) % 26 : '.');
  }
  EXPECT(good);
  MPI_Type_free(&bytes);
  MPI_Type_free(&filetype);
  free(data);
  free(all);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

/* Data with gaps in memory and in the file, through the individual pointer, in two calls. */
static void GapsOnBothSides(void) {
  enum { kInts = 5000 };
  int* data = malloc(3 * kInts * sizeof(int));
  int* all = malloc((size_t)kInts * (size_t)ranks * sizeof(int));
  int good = 1;
  MPI_Datatype every_third, own;
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Type_create_resized(MPI_INT, 0, 3 * (MPI_Aint)sizeof(int), &every_third);
  MPI_Type_commit(&every_third);
  MPI_Type_create_resized(MPI_INT, 0, ranks * (MPI_Aint)sizeof(int), &own);
  MPI_Type_commit(&own);
  for (int i = 0; i < kInts; ++i) data[3 * i] = i * ranks + rank;
  EXPECT(MPI_File_set_view(file, rank * (MPI_Offset)sizeof(int), MPI_INT, own, "native",
                           MPI_INFO_NULL) == MPI_SUCCESS);
  EXPECT(MPI_File_write_all(file, data, kInts / 2, every_third, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  EXPECT(MPI_File_write_all(file, data + 3 * (kInts / 2), kInts / 2, every_third,
                            MPI_STATUS_IGNORE) == MPI_SUCCESS);
  EXPECT(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  EXPECT(MPI_File_read_all(file, all, kInts * ranks, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  for (int i = 0; i < kInts * ranks; ++i) good = good && all[i] == i;
  EXPECT(good);
  MPI_Type_free(&every_third);
  MPI_Type_free(&own);
  free(data);
  free(all);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

/* One rank's wrong argument is everybody's error, and the next call works. */
static void Mistake(void) {
  char byte = 'x';
  MPI_Offset size = -1;
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
  EXPECT(ClassOf(MPI_File_write_at_all(file, rank == ranks - 1 ? -1 : rank, &byte, 1, MPI_CHAR,
                                       MPI_STATUS_IGNORE)) == MPI_ERR_ARG);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(MPI_File_get_size(file, &size) == MPI_SUCCESS && size == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(MPI_File_write_at_all(file, rank, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MakeFolder();
  Interleaved(1, "automatic", "16777216", "exchange");
  Interleaved(7, "enable", "64", "exchange");
  Interleaved(7, "enable", "5000", "exchange");
  Interleaved(13, "disable", "16777216", "direct");
  GapsOnBothSides();
  /* Other libraries may hang here, so it is last. */
  if (argc == 1) Mistake();
  return LeaveFolder();
}
