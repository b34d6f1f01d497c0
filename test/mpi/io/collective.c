/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   what ranks write together is there, byte for byte, and nothing else has changed, whether
 *         each writes for itself or some write for others; what they read together is what each
 *         asked for, and the file is read once; a rank's mistake hangs nobody.
 * Method: interleaved blocks over a file that is full of a pattern, with small buffers so that
 * there are many rounds, some ranks without data, every method asked for by hints, in blocking,
 *         nonblocking and split calls; several accesses under way at once.
 */
#include "test/mpi/io/folder.h"

enum { kBlocks = 300 };

enum Call { kBlocking, kNonblocking, kSplit, kCalls };

static int WriteAll(enum Call call, MPI_File file, MPI_Offset at, const void* data, int count,
                    MPI_Status* status) {
  MPI_Request request;
  int error;
  if (call == kBlocking) return MPI_File_write_at_all(file, at, data, count, MPI_CHAR, status);
  if (call == kSplit) {
    error = MPI_File_write_at_all_begin(file, at, data, count, MPI_CHAR);
    return error != MPI_SUCCESS ? error : MPI_File_write_at_all_end(file, data, status);
  }
  error = MPI_File_iwrite_at_all(file, at, data, count, MPI_CHAR, &request);
  return error != MPI_SUCCESS ? error : MPI_Wait(&request, status);
}

static int ReadAll(enum Call call, MPI_File file, MPI_Offset at, void* data, int count,
                   MPI_Status* status) {
  MPI_Request request;
  int error;
  if (call == kBlocking) return MPI_File_read_at_all(file, at, data, count, MPI_CHAR, status);
  if (call == kSplit) {
    error = MPI_File_read_at_all_begin(file, at, data, count, MPI_CHAR);
    return error != MPI_SUCCESS ? error : MPI_File_read_at_all_end(file, data, status);
  }
  error = MPI_File_iread_at_all(file, at, data, count, MPI_CHAR, &request);
  return error != MPI_SUCCESS ? error : MPI_Wait(&request, status);
}

static const char* MethodOf(MPI_File file) {
  static char value[32];
  int flag = 0, length = sizeof value;
  MPI_Info info;
  EXPECT(MPI_File_get_info(file, &info) == MPI_SUCCESS);
  MPI_Info_get_string(info, "lamina_method", &length, value, &flag);
  MPI_Info_free(&info);
  return flag ? value : "";
}

static void ExpectMethod(MPI_File file, const char* method) {
  const char* seen = MethodOf(file);
  EXPECT(ranks == 1 || seen[0] == 0 || strcmp(seen, method) == 0);
}

static int is_other; /* libraries that count wrong at the end of a file, or hang after mistakes */

/* Block i of a tile belongs to rank i; behind them is a hole of one block. */
static void Interleaved(enum Call call, int block, const char* wish, const char* buffer_bytes,
                        const char* method) {
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
  MPI_Info_set(info, "romio_cb_read", wish);
  MPI_Info_set(info, "cb_buffer_size", buffer_bytes);
  EXPECT(MPI_File_open(MPI_COMM_WORLD, In("a"), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) ==
         MPI_SUCCESS);
  MPI_Info_free(&info);
  memset(all, '.', (size_t)file_bytes);
  if (rank == 0)
    EXPECT(MPI_File_write_at(file, 0, all, file_bytes, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Type_contiguous(block, MPI_CHAR, &bytes);
  MPI_Type_create_resized(bytes, 0, tile, &filetype);
  MPI_Type_commit(&filetype);
  EXPECT(MPI_File_set_view(file, 10 + rank * block, MPI_CHAR, filetype, "native", MPI_INFO_NULL) ==
         MPI_SUCCESS);
  for (int i = 0; i < kBlocks * block; ++i) data[i] = (char)('a' + (i + rank) % 26);
  {
    const int count = rank == idle ? 0 : kBlocks * block - 3;
    EXPECT(WriteAll(call, file, 3, data + 3, count, &status) == MPI_SUCCESS);
    EXPECT(CountOf(&status, MPI_CHAR) == count);
    ExpectMethod(file, method);
    /* One rank asks for more than the file has. */
    memset(all, '-', (size_t)file_bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    const int asked = rank == 0 && !is_other ? count + 90 : count;
    EXPECT(ReadAll(call, file, 3, all, asked, &status) == MPI_SUCCESS);
    EXPECT(CountOf(&status, MPI_CHAR) == count);
    for (int i = 0; i < count; ++i) good = good && all[i] == data[3 + i];
    EXPECT(good && all[count + 90] == '-' && (rank != 0 || all[count] == '-'));
    if (strcmp(wish, "automatic") != 0) ExpectMethod(file, method);
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

/* Returns how many bytes system calls have read in all ranks so far, or -1 if nobody counts. */
static long long BytesRead(void) {
  long long bytes = -1, sum = 0, least = 0;
  FILE* about = fopen("/proc/self/io", "r");
  if (about != NULL && fscanf(about, "rchar: %lld", &bytes) != 1) bytes = -1;
  if (about != NULL) fclose(about);
  MPI_Allreduce(&bytes, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&bytes, &least, 1, MPI_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
  return least < 0 ? -1 : sum;
}

/* Ranks that take turns in a file read it once and not once each, if they are told to. */
static void ReadOnce(enum Call call) {
  enum { kBytes = 1 << 20, kPiece = 64 };
  const int own = kBytes / ranks / kPiece * kPiece;
  char* data = malloc(kBytes);
  int good = 1;
  long long before, after;
  MPI_Info info;
  MPI_Datatype piece, filetype;
  MPI_File file = MPI_FILE_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_cb_read", "enable");
  EXPECT(MPI_File_open(MPI_COMM_WORLD, In("a"), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) ==
         MPI_SUCCESS);
  MPI_Info_free(&info);
  for (int i = 0; i < kBytes; ++i) data[i] = (char)(i / kPiece % 101);
  if (rank == 0)
    EXPECT(MPI_File_write(file, data, kBytes, MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  MPI_Type_contiguous(kPiece, MPI_CHAR, &piece);
  MPI_Type_create_resized(piece, 0, (MPI_Aint)kPiece * ranks, &filetype);
  MPI_Type_commit(&filetype);
  EXPECT(MPI_File_set_view(file, (MPI_Offset)rank * kPiece, MPI_CHAR, filetype, "native",
                           MPI_INFO_NULL) == MPI_SUCCESS);
  memset(data, 0, kBytes);
  before = BytesRead();
  EXPECT(ReadAll(call, file, 0, data, own, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  after = BytesRead();
  for (int i = 0; i < own; ++i) good = good && data[i] == (i / kPiece * ranks + rank) % 101;
  EXPECT(good);
  if (before >= 0) EXPECT(after - before < kBytes + kBytes / 8);
  MPI_Type_free(&piece);
  MPI_Type_free(&filetype);
  free(data);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
}

/* Many accesses are under way at once; they match in the order of calls and end in any. */
static void Several(void) {
  enum { kMany = 12, kEach = 500 };
  static char data[kMany][kEach], back[kMany][kEach];
  int good = 1;
  MPI_Request requests[2 * kMany];
  MPI_Status statuses[kMany];
  MPI_Datatype filetype;
  MPI_File file, other;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_cb_write", "enable");
  MPI_Info_set(info, "romio_cb_read", "enable");
  MPI_Info_set(info, "cb_buffer_size", "900");
  MPI_Info_set(info, "cb_nodes", "2");
  EXPECT(MPI_File_open(MPI_COMM_WORLD, In("a"), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) ==
         MPI_SUCCESS);
  EXPECT(MPI_File_open(MPI_COMM_WORLD, In("b"), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &other) ==
         MPI_SUCCESS);
  MPI_Info_free(&info);
  MPI_Type_create_resized(MPI_CHAR, 0, ranks, &filetype);
  MPI_Type_commit(&filetype);
  EXPECT(MPI_File_set_view(file, rank, MPI_CHAR, filetype, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  EXPECT(MPI_File_set_view(other, rank, MPI_CHAR, filetype, "native", MPI_INFO_NULL) ==
         MPI_SUCCESS);
  for (int k = 0; k < kMany; ++k) {
    for (int i = 0; i < kEach; ++i) data[k][i] = (char)('a' + (rank + k + i) % 26);
    EXPECT(MPI_File_iwrite_all(file, data[k], kEach, MPI_CHAR, &requests[k]) == MPI_SUCCESS);
    EXPECT(MPI_File_iwrite_at_all(other, (MPI_Offset)(kMany - 1 - k) * kEach, data[k], kEach,
                                  MPI_CHAR, &requests[kMany + k]) == MPI_SUCCESS);
    /* Calls that block may come in between. */
    if (k == kMany / 2) MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank % 2 == 0) EXPECT(MPI_Waitall(kMany, requests + kMany, MPI_STATUSES_IGNORE) == 0);
  EXPECT(MPI_Waitall(kMany, requests, statuses) == MPI_SUCCESS);
  if (rank % 2 == 1) EXPECT(MPI_Waitall(kMany, requests + kMany, MPI_STATUSES_IGNORE) == 0);
  for (int k = 0; k < kMany; ++k) EXPECT(CountOf(&statuses[k], MPI_CHAR) == kEach);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(MPI_File_seek(file, 0, MPI_SEEK_SET) == MPI_SUCCESS);
  for (int k = 0; k < kMany; ++k)
    EXPECT(MPI_File_iread_all(k % 2 == 0 ? file : other, back[k], kEach, MPI_CHAR, &requests[k]) ==
           MPI_SUCCESS);
  for (int k = kMany - 1; k >= 0; --k)
    EXPECT(MPI_Wait(&requests[k], MPI_STATUS_IGNORE) == MPI_SUCCESS);
  for (int k = 0; k < kMany; ++k)
    good = good && memcmp(back[k], data[k % 2 == 0 ? k / 2 : kMany - 1 - k / 2], kEach) == 0;
  EXPECT(good);
  MPI_Type_free(&filetype);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  EXPECT(MPI_File_close(&other) == MPI_SUCCESS);
  Remove("a");
  Remove("b");
}

/* One rank's wrong argument is everybody's error in nonblocking and split calls as well: that
 * rank's call fails, the others hear of it when they wait. */
static void LateMistake(enum Call call) {
  char byte = 'x';
  const MPI_Offset at = rank == ranks - 1 ? -1 : rank;
  MPI_File file = Open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
  EXPECT(ClassOf(WriteAll(call, file, at, &byte, 1, MPI_STATUS_IGNORE)) == MPI_ERR_ARG);
  EXPECT(ClassOf(ReadAll(call, file, at, &byte, 1, MPI_STATUS_IGNORE)) == MPI_ERR_ARG);
  EXPECT(WriteAll(call, file, rank, &byte, 1, MPI_STATUS_IGNORE) == MPI_SUCCESS);
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
  is_other = argc > 1;
  MakeFolder();
  for (enum Call call = kBlocking; call < kCalls; ++call) {
    Interleaved(call, 1, "automatic", "16777216", "exchange");
    Interleaved(call, 7, "enable", "64", "exchange");
    Interleaved(call, 7, "enable", "5000", "exchange");
    Interleaved(call, 13, "disable", "16777216", "direct");
  }
  Several();
  if (!is_other)
    for (enum Call call = kBlocking; call < kCalls; ++call) ReadOnce(call);
  GapsOnBothSides();
  /* Other libraries may hang here, so it is last. */
  if (!is_other) {
    Mistake();
    for (enum Call call = kBlocking; call < kCalls; ++call) LateMistake(call);
  }
  return LeaveFolder();
}
