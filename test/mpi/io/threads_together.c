/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   threads of one process exchange at the same time, on a file each and on one that they
 *         share (MPI-5.0, section 11.6 and chapter 14).
 * Method: each thread writes and reads interleaved blocks of its own file, blocking and
 * nonblocking, and of the shared one, where the threads start their accesses in the same order on
 * all ranks and wait for them at the same time; at the end every byte is there.
 */
#include <pthread.h>

#include "test/mpi/io/folder.h"

enum { kThreads = 2, kRounds = 12, kBytes = 300, kAll = kRounds * kBytes };

static MPI_File files[kThreads], shared;
static int bad[kThreads];
static pthread_mutex_t turns = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t next_turn = PTHREAD_COND_INITIALIZER;
static int turn;

static char ByteOf(int thread, int round, int i) {
  return (char)('a' + (rank * 5 + thread * 7 + round + i) % 26);
}

/* Starts the access of a thread when it is its turn. */
static int InTurn(int me, int writes, MPI_Offset at, char* data, MPI_Request* request) {
  int error;
  pthread_mutex_lock(&turns);
  while (turn % kThreads != me) pthread_cond_wait(&next_turn, &turns);
  error = writes ? MPI_File_iwrite_at_all(shared, at, data, kBytes, MPI_CHAR, request)
                 : MPI_File_iread_at_all(shared, at, data, kBytes, MPI_CHAR, request);
  ++turn;
  pthread_cond_broadcast(&next_turn);
  pthread_mutex_unlock(&turns);
  return error;
}

static void* Run(void* argument) {
  const int me = (int)(size_t)argument;
  for (int round = 0; round < kRounds; ++round) {
    const MPI_Offset at = (MPI_Offset)round * kBytes, beside = (MPI_Offset)me * kAll + at;
    char data[kBytes], back[kBytes], shared_back[kBytes];
    MPI_Request requests[2];
    MPI_Status status;
    int count = 0;
    for (int i = 0; i < kBytes; ++i) data[i] = ByteOf(me, round, i);
    bad[me] += InTurn(me, 1, beside, data, &requests[0]) != MPI_SUCCESS;
    if (round % 2 == 0) {
      bad[me] += MPI_File_write_at_all(files[me], at, data, kBytes, MPI_CHAR, &status) != 0;
      bad[me] += MPI_Wait(&requests[0], &status) != MPI_SUCCESS;
    } else {
      bad[me] += MPI_File_iwrite_at_all(files[me], at, data, kBytes, MPI_CHAR, &requests[1]) != 0;
      bad[me] += MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) != MPI_SUCCESS;
    }
    bad[me] += MPI_File_read_at_all(files[me], at, back, kBytes, MPI_CHAR, &status) != MPI_SUCCESS;
    MPI_Get_count(&status, MPI_CHAR, &count);
    bad[me] += count != kBytes || memcmp(back, data, kBytes) != 0;
    bad[me] += InTurn(me, 0, beside, shared_back, &requests[0]) != MPI_SUCCESS;
    bad[me] += MPI_Wait(&requests[0], &status) != MPI_SUCCESS;
    MPI_Get_count(&status, MPI_CHAR, &count);
    bad[me] += count != kBytes || memcmp(shared_back, data, kBytes) != 0;
  }
  return NULL;
}

static MPI_File OpenTurns(const char* name) {
  MPI_Datatype piece, filetype;
  MPI_File file = MPI_FILE_NULL;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_cb_write", "enable");
  MPI_Info_set(info, "romio_cb_read", "enable");
  MPI_Info_set(info, "cb_buffer_size", "400");
  EXPECT(MPI_File_open(MPI_COMM_WORLD, In(name), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) ==
         MPI_SUCCESS);
  MPI_Info_free(&info);
  MPI_Type_contiguous(5, MPI_CHAR, &piece);
  MPI_Type_create_resized(piece, 0, 5 * (MPI_Aint)ranks, &filetype);
  MPI_Type_commit(&filetype);
  EXPECT(MPI_File_set_view(file, (MPI_Offset)rank * 5, MPI_CHAR, filetype, "native",
                           MPI_INFO_NULL) == MPI_SUCCESS);
  MPI_Type_free(&piece);
  MPI_Type_free(&filetype);
  return file;
}

int main(int argc, char** argv) {
  static const char* const names[kThreads] = {"a", "b"};
  int provided = 0;
  pthread_t threads[kThreads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  EXPECT(provided == MPI_THREAD_MULTIPLE);
  MakeFolder();
  for (int t = 0; t < kThreads; ++t) files[t] = OpenTurns(names[t]);
  shared = OpenTurns("c");
  for (int t = 0; t < kThreads; ++t) pthread_create(&threads[t], NULL, Run, (void*)(size_t)t);
  for (int t = 0; t < kThreads; ++t) {
    pthread_join(threads[t], NULL);
    EXPECT(bad[t] == 0);
    EXPECT(MPI_File_close(&files[t]) == MPI_SUCCESS);
    Remove(names[t]);
  }
  EXPECT(MPI_File_close(&shared) == MPI_SUCCESS);
  Remove("c");
  return LeaveFolder();
}
