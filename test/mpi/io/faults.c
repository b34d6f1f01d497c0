/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   whatever the operating system answers, an access hangs nobody: short counts and
 * interrupts are gone on after, an error is reported once, by class and in words, on the ranks that
 * it concerns, and the data of other ranks is right. Method: the program takes the place of the C
 * library's reads and writes. One rank lets call number k of a small job fail, for every k, in
 * every manner; in a last case the device is full or read-only in earnest, or a rank kills itself
 * in every round of a write.
 *
 * usage: faults [full PATH CLASS | killed PATH WAY read|write RANK VICTIM CALL]
 *        full: the access to PATH fails with the class; killed: RANK kills VICTIM, a rank of its
 *        node, at its CALLth read or write, and goes on if it is another one
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include "test/mpi/io/folder.h"

/* In manners before kErrors the call answers with an error. */
enum Manner {
  kFails,
  kHasNoQuota,
  kHasNoSpace,
  kIsReadOnly,
  kErrors,
  kIsShort = kErrors,
  kIsInterrupted,
  kKills
};

static const struct {
  int number, class;
  const char* words;
} kError[kErrors] = {
    {EIO, MPI_ERR_IO, "Input/output error"},
    {EDQUOT, MPI_ERR_QUOTA, "Disk quota exceeded"},
    {ENOSPC, MPI_ERR_NO_SPACE, "No space left on device"},
    {EROFS, MPI_ERR_READ_ONLY, "Read-only file system"},
};

static enum Manner manner;
static pid_t victim_process;
static atomic_int to_come; /* calls until it happens; 0: never */

static int Happens(void) { return atomic_load(&to_come) > 0 && atomic_fetch_sub(&to_come, 1) == 1; }

/* Returns how many bytes the call may move, or -1 with errno set. */
static ssize_t Allowed(size_t bytes) {
  if (!Happens()) return (ssize_t)bytes;
  if (manner == kKills) {
    kill(victim_process, SIGKILL);
    return (ssize_t)bytes;
  }
  if (manner == kIsShort) return (ssize_t)(bytes + 1) / 2;
  errno = manner == kIsInterrupted ? EINTR : kError[manner].number;
  return -1;
}

__attribute__((visibility("default"))) ssize_t pwrite(int file, const void* from, size_t bytes,
                                                      off_t offset) {
  const ssize_t allowed = Allowed(bytes);
  return allowed < 0 ? -1 : syscall(SYS_pwrite64, file, from, (size_t)allowed, offset);
}

__attribute__((visibility("default"))) ssize_t pread(int file, void* into, size_t bytes,
                                                     off_t offset) {
  const ssize_t allowed = Allowed(bytes);
  return allowed < 0 ? -1 : syscall(SYS_pread64, file, into, (size_t)allowed, offset);
}

enum { kBlocks = 40, kBlockBytes = 3, kBytes = kBlocks * kBlockBytes };
static int bytes_each = kBytes; /* of a rank */
static const char* buffer_bytes = "128";

enum Way {
  kDense,
  kPieces,
  kNonblocking,
  kSplit,
  kDirect,
  kTogether,
  kTogetherLater,
  kTogetherSplit,
  kShared,
  kOrdered,
  kWays
};
static const char* const kNames[] = {"dense",    "pieces", "nonblocking",    "split",  "direct",
                                     "together", "later",  "together-split", "shared", "ordered"};

/* True if each rank takes the next stretch of the file. */
static int HasPointer(enum Way way) { return way == kShared || way == kOrdered; }

/* True if some ranks move data for others; then all of them fail alike. */
static int IsTogether(enum Way way) {
  return way == kTogether || way == kTogetherLater || way == kTogetherSplit;
}

static int Move(MPI_File file, enum Way way, int writes, char* data, MPI_Status* status) {
  MPI_Request request;
  int error;
  const MPI_Offset at = way == kDense ? (MPI_Offset)rank * bytes_each : 0;
  switch (way) {
    case kNonblocking:
      error = writes ? MPI_File_iwrite_at(file, at, data, bytes_each, MPI_CHAR, &request)
                     : MPI_File_iread_at(file, at, data, bytes_each, MPI_CHAR, &request);
      return error != MPI_SUCCESS ? error : MPI_Wait(&request, status);
    case kTogetherLater:
      error = writes ? MPI_File_iwrite_at_all(file, at, data, bytes_each, MPI_CHAR, &request)
                     : MPI_File_iread_at_all(file, at, data, bytes_each, MPI_CHAR, &request);
      return error != MPI_SUCCESS ? error : MPI_Wait(&request, status);
    case kSplit:
    case kTogetherSplit:
      error = writes ? MPI_File_write_at_all_begin(file, at, data, bytes_each, MPI_CHAR)
                     : MPI_File_read_at_all_begin(file, at, data, bytes_each, MPI_CHAR);
      if (error != MPI_SUCCESS) return error;
      return writes ? MPI_File_write_at_all_end(file, data, status)
                    : MPI_File_read_at_all_end(file, data, status);
    case kShared:
      return writes ? MPI_File_write_shared(file, data, bytes_each, MPI_CHAR, status)
                    : MPI_File_read_shared(file, data, bytes_each, MPI_CHAR, status);
    case kOrdered:
      return writes ? MPI_File_write_ordered(file, data, bytes_each, MPI_CHAR, status)
                    : MPI_File_read_ordered(file, data, bytes_each, MPI_CHAR, status);
    case kDirect:
    case kTogether:
      return writes ? MPI_File_write_at_all(file, at, data, bytes_each, MPI_CHAR, status)
                    : MPI_File_read_at_all(file, at, data, bytes_each, MPI_CHAR, status);
    default:
      return writes ? MPI_File_write_at(file, at, data, bytes_each, MPI_CHAR, status)
                    : MPI_File_read_at(file, at, data, bytes_each, MPI_CHAR, status);
  }
}

static MPI_File OpenFor(const char* path, enum Way way) {
  MPI_File file = MPI_FILE_NULL;
  MPI_Info info;
  MPI_Datatype block, filetype;
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_cb_write", IsTogether(way) ? "enable" : "disable");
  MPI_Info_set(info, "romio_cb_read", IsTogether(way) ? "enable" : "disable");
  MPI_Info_set(info, "cb_buffer_size", buffer_bytes);
  EXPECT(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) ==
         MPI_SUCCESS);
  MPI_Info_free(&info);
  if (way == kDense || HasPointer(way)) return file;
  MPI_Type_contiguous(kBlockBytes, MPI_CHAR, &block);
  MPI_Type_create_resized(block, 0, ranks * kBlockBytes, &filetype);
  MPI_Type_commit(&filetype);
  EXPECT(MPI_File_set_view(file, rank * kBlockBytes, MPI_CHAR, filetype, "native", MPI_INFO_NULL) ==
         MPI_SUCCESS);
  MPI_Type_free(&block);
  MPI_Type_free(&filetype);
  return file;
}

/* A write of pieces reads what lies between them first. */
static void ExpectWords(int error, int wanted, int writes, const char* words) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(error, text, &length);
  EXPECT(ClassOf(error) == wanted);
  EXPECT(strstr(text, "pread") != NULL || (writes && strstr(text, "pwrite") != NULL));
  EXPECT(strstr(text, folder) != NULL && strstr(text, "offset") != NULL &&
         strstr(text, "bytes") != NULL && strstr(text, words) != NULL);
}

/* Writes or reads with call number `k` of rank 0 going wrong. Returns false if there is no such
 * call. */
static int Once(enum Way way, int writes, enum Manner how, int k) {
  const int fails = how < kErrors;
  int happened, error, count = 0, good = 1;
  char data[kBytes], expected[kBytes];
  MPI_Status status;
  MPI_File file = OpenFor(In("a"), way);
  for (int i = 0; i < kBytes; ++i) expected[i] = (char)('a' + (i + rank) % 26);
  memcpy(data, expected, kBytes);
  if (!writes) {
    EXPECT(Move(file, way, 1, data, &status) == MPI_SUCCESS);
    if (HasPointer(way)) EXPECT(MPI_File_seek_shared(file, 0, MPI_SEEK_SET) == MPI_SUCCESS);
    memset(data, 0, kBytes);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  manner = how;
  atomic_store(&to_come, rank == 0 ? k : 0);
  error = Move(file, way, writes, data, &status);
  happened = rank == 0 && atomic_load(&to_come) == 0;
  atomic_store(&to_come, 0);
  MPI_Bcast(&happened, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (way == kShared) MPI_Barrier(MPI_COMM_WORLD); /* what it reads below may be another rank's */
  if (happened && fails && (rank == 0 || IsTogether(way))) {
    ExpectWords(error, kError[how].class, writes, kError[how].words);
  } else {
    EXPECT(error == MPI_SUCCESS);
    MPI_Get_count(&status, MPI_CHAR, &count);
    EXPECT(count == kBytes);
    memset(data, 0, writes ? kBytes : 0);
    if (HasPointer(way) && writes) {
      EXPECT(MPI_File_read_at(file, (MPI_Offset)rank * kBytes, data, kBytes, MPI_CHAR, &status) ==
             MPI_SUCCESS);
    } else if (writes) {
      EXPECT(MPI_File_read_at(file, way == kDense ? (MPI_Offset)rank * kBytes : 0, data, kBytes,
                              MPI_CHAR, &status) == MPI_SUCCESS);
    }
    /* Which rank has written this stretch nobody knows, nor whether it is the one that failed. */
    const int shift = way == kShared ? data[0] - expected[0] : 0;
    for (int i = 0; i < kBytes; ++i)
      good = good && data[i] == 'a' + (expected[i] - 'a' + shift + 26) % 26;
    EXPECT(good || (way == kShared && happened && fails));
  }
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  Remove("a");
  return happened;
}

static void Everywhere(void) {
  for (enum Way way = kDense; way < kWays; ++way)
    for (int writes = 0; writes < 2; ++writes)
      for (enum Manner how = kFails; how < kKills; ++how) {
        int k = 1;
        const int before = failures;
        while (k < 200 && Once(way, writes, how, k)) k += how < kErrors || k < 4 ? 1 : k / 2;
        EXPECT(k > 1);
        if (failures > before)
          fprintf(stderr, "%s, writes %d, manner %d\n", kNames[way], writes, how);
      }
}

/* The file system has no room, or may not be written to. */
static int Full(const char* path, int wanted) {
  enum { kMany = 4 << 20 };
  MPI_File file = MPI_FILE_NULL;
  char* data = calloc(1, kMany);
  int error =
      MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  if (error == MPI_SUCCESS) {
    error = MPI_File_write_at_all(file, (MPI_Offset)rank * kMany, data, kMany, MPI_CHAR,
                                  MPI_STATUS_IGNORE);
    EXPECT(MPI_File_preallocate(file, (MPI_Offset)kMany) != MPI_SUCCESS);
    EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
    if (rank == 0) EXPECT(MPI_File_delete(path, MPI_INFO_NULL) == MPI_SUCCESS);
  }
  if (ClassOf(error) != wanted) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(error, text, &length);
    fprintf(stderr, "rank %d: class %d, not %d: %s\n", rank, ClassOf(error), wanted, text);
    ++failures;
  }
  free(data);
  return Passed();
}

/* Some accesses follow one another where one of them takes a single call. */
static int Killed(const char* path, const char* name, int writes, int killer, int victim,
                  int call) {
  /* Aggregators move whole pages. */
  enum { kMany = 12000, kAccesses = 5 };
  char* data = calloc(1, kMany);
  MPI_File file;
  enum Way way = kDense;
  int process = (int)getpid();
  int* processes = malloc((size_t)ranks * sizeof(int));
  while (strcmp(kNames[way], name) != 0) ++way;
  MPI_Allgather(&process, 1, MPI_INT, processes, 1, MPI_INT, MPI_COMM_WORLD);
  victim_process = processes[victim];
  free(processes);
  bytes_each = kMany;
  buffer_bytes = "8192";
  file = OpenFor(path, way);
  if (!writes) Move(file, way, 1, data, MPI_STATUS_IGNORE);
  manner = kKills;
  atomic_store(&to_come, rank == killer ? call : 0);
  for (int i = 0; i < (IsTogether(way) ? 1 : kAccesses); ++i)
    Move(file, way, writes, data, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  free(data);
  return Passed();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc == 4 && strcmp(argv[1], "full") == 0)
    return Full(argv[2], strcmp(argv[3], "room") == 0 ? MPI_ERR_NO_SPACE : MPI_ERR_READ_ONLY);
  if (argc == 8)
    return Killed(argv[2], argv[3], strcmp(argv[4], "write") == 0, atoi(argv[5]), atoi(argv[6]),
                  atoi(argv[7]));
  MakeFolder();
  Everywhere();
  return LeaveFolder();
}
