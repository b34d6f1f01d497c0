/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   threads use one file at a time, and each access is whole (MPI-5.0, section 11.6 and
 *         chapter 14).
 * Method: each thread writes stretches of its own, blocking, nonblocking and through the shared
 *         pointer, in a view with holes; at the end every byte is there.
 */
#include <pthread.h>

#include "test/mpi/io/folder.h"

enum { kThreads = 2, kRounds = 30, kBytes = 50, kOwnBytes = kRounds * kBytes };

static MPI_File file, shared;
static int bad[kThreads];

static char ByteOf(int owner, int round) { return (char)('a' + (owner * 7 + round) % 26); }

static void* Run(void* argument) {
  const int me = (int)(size_t)argument, owner = rank * kThreads + me;
  for (int round = 0; round < kRounds; ++round) {
    const MPI_Offset at = (MPI_Offset)me * kOwnBytes + round * kBytes;
    char data[kBytes], back[kBytes];
    int count = 0;
    MPI_Request request;
    MPI_Status status;
    memset(data, ByteOf(owner, round), kBytes);
    if (round % 2 == 0) {
      bad[me] += MPI_File_write_at(file, at, data, kBytes, MPI_CHAR, &status) != MPI_SUCCESS;
    } else {
      bad[me] += MPI_File_iwrite_at(file, at, data, kBytes, MPI_CHAR, &request) != MPI_SUCCESS;
      bad[me] += MPI_Wait(&request, &status) != MPI_SUCCESS;
    }
    MPI_Get_count(&status, MPI_CHAR, &count);
    bad[me] += count != kBytes;
    bad[me] += MPI_File_read_at(file, at, back, kBytes, MPI_CHAR, &status) != MPI_SUCCESS;
    bad[me] += memcmp(back, data, kBytes) != 0;
    bad[me] += MPI_File_write_shared(shared, data, kBytes, MPI_CHAR, &status) != MPI_SUCCESS;
  }
  return NULL;
}

/* Every record of the shared file is of one thread and round; each must be there once. */
static void CheckRecords(void) {
  const int records = ranks * kThreads * kRounds;
  int sum = 0, expected = 0;
  for (int i = 0; i < records; ++i) {
    char data[kBytes];
    EXPECT(MPI_File_read_at(shared, (MPI_Offset)i * kBytes, data, kBytes, MPI_CHAR,
                            MPI_STATUS_IGNORE) == MPI_SUCCESS);
    for (int k = 1; k < kBytes; ++k) EXPECT(data[k] == data[0]);
    sum += data[0];
  }
  for (int owner = 0; owner < ranks * kThreads; ++owner)
    for (int round = 0; round < kRounds; ++round) expected += ByteOf(owner, round);
  EXPECT(sum == expected);
}

int main(int argc, char** argv) {
  int provided = 0;
  pthread_t threads[kThreads];
  MPI_Datatype piece, filetype;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  EXPECT(provided == MPI_THREAD_MULTIPLE);
  MakeFolder();
  file = Open("a", MPI_MODE_CREATE | MPI_MODE_RDWR);
  shared = Open("b", MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Type_contiguous(5, MPI_CHAR, &piece);
  MPI_Type_create_resized(piece, 0, 5 * ranks, &filetype);
  MPI_Type_commit(&filetype);
  EXPECT(MPI_File_set_view(file, rank * 5, MPI_CHAR, filetype, "native", MPI_INFO_NULL) ==
         MPI_SUCCESS);
  for (int t = 0; t < kThreads; ++t) pthread_create(&threads[t], NULL, Run, (void*)(size_t)t);
  for (int t = 0; t < kThreads; ++t) {
    pthread_join(threads[t], NULL);
    EXPECT(bad[t] == 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int t = 0; t < kThreads; ++t)
    for (int round = 0; round < kRounds; ++round) {
      char data[kBytes];
      EXPECT(MPI_File_read_at(file, (MPI_Offset)t * kOwnBytes + round * kBytes, data, kBytes,
                              MPI_CHAR, MPI_STATUS_IGNORE) == MPI_SUCCESS);
      for (int k = 0; k < kBytes; ++k) EXPECT(data[k] == ByteOf(rank * kThreads + t, round));
    }
  CheckRecords();
  MPI_Type_free(&piece);
  MPI_Type_free(&filetype);
  EXPECT(MPI_File_close(&file) == MPI_SUCCESS);
  EXPECT(MPI_File_close(&shared) == MPI_SUCCESS);
  Remove("a");
  Remove("b");
  return LeaveFolder();
}
