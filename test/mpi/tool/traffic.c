/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   the counters tell how messages went, the levels what waits, for the process and for one
 *         communicator (MPI-5.0, section 15.3.7; the names are ours).
 * Method: messages of known number and size from each rank to itself and to the next, posted early
 *         and late; handles are started before and read after.
 */
#include <stdlib.h>
#include <unistd.h>

#include "test/mpi/tool/tool.h"

enum { kShort = 10, kLongBytes = 1 << 20 };

static MPI_T_pvar_session session;

static MPI_T_pvar_handle Open(const char* name, int class, MPI_Comm* comm) {
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  int index = -1, count = 0;
  HOLDS_FOR(name, MPI_T_pvar_get_index(name, class, &index) == MPI_SUCCESS);
  HOLDS_FOR(name, MPI_T_pvar_handle_alloc(session, index, comm, &handle, &count) == MPI_SUCCESS);
  HOLDS_FOR(name, count == 1);
  return handle;
}

static unsigned long long Read(MPI_T_pvar_handle handle) {
  unsigned long long value = ~0ull;
  HOLDS(MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS);
  return value;
}

/* Sends ten short messages to the next rank, which arrive before it asks for them. */
static void Unexpected(int rank, int ranks, MPI_Comm comm) {
  MPI_Comm other = MPI_COMM_SELF, none = MPI_COMM_NULL;
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  unsigned long long value = 7;
  int index = -1, count = 0;
  MPI_T_pvar_handle bad = MPI_T_PVAR_HANDLE_NULL;
  MPI_T_pvar_handle length = Open("p2p.unexpected.length", MPI_T_PVAR_CLASS_LEVEL, NULL);
  MPI_T_pvar_handle bytes = Open("p2p.unexpected.bytes", MPI_T_PVAR_CLASS_LEVEL, NULL);
  MPI_T_pvar_handle most = Open("p2p.unexpected.length_max", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL);
  MPI_T_pvar_handle here = Open("p2p.unexpected.length_comm", MPI_T_PVAR_CLASS_LEVEL, &comm);
  MPI_T_pvar_handle there = Open("p2p.unexpected.length_comm", MPI_T_PVAR_CLASS_LEVEL, &other);
  MPI_T_pvar_handle messages = Open("p2p.unexpected.messages", MPI_T_PVAR_CLASS_COUNTER, NULL);
  HOLDS(MPI_T_pvar_start(session, most) == MPI_SUCCESS);
  HOLDS(MPI_T_pvar_start(session, messages) == MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD); /* all ranks count */
  for (int i = 0; i < kShort; ++i) MPI_Send(&value, 8, MPI_BYTE, next, i, comm);
  MPI_Probe(before, kShort - 1, comm, MPI_STATUS_IGNORE);
  HOLDS(Read(length) >= kShort);
  HOLDS(Read(bytes) >= kShort * 8);
  HOLDS(Read(here) == kShort);
  HOLDS(Read(there) == 0);
  HOLDS(Read(messages) >= kShort);
  for (int i = 0; i < kShort; ++i)
    MPI_Recv(&value, 8, MPI_BYTE, before, i, comm, MPI_STATUS_IGNORE);
  HOLDS(Read(here) == 0);
  HOLDS(Read(most) >= kShort);
  MPI_T_pvar_get_index("p2p.unexpected.length_comm", MPI_T_PVAR_CLASS_LEVEL, &index);
  HOLDS(MPI_T_pvar_handle_alloc(session, index, &none, &bad, &count) == MPI_T_ERR_INVALID_HANDLE);
  HOLDS(MPI_T_pvar_handle_alloc(session, index, NULL, &bad, &count) == MPI_T_ERR_INVALID);
}

static void Posted(int rank, int ranks, MPI_Comm comm) {
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  MPI_Request requests[kShort];
  char in[kShort][8];
  unsigned long long value = 7;
  MPI_T_pvar_handle all = Open("p2p.posted.length", MPI_T_PVAR_CLASS_LEVEL, NULL);
  MPI_T_pvar_handle here = Open("p2p.posted.length_comm", MPI_T_PVAR_CLASS_LEVEL, &comm);
  MPI_T_pvar_handle live = Open("core.request.live", MPI_T_PVAR_CLASS_LEVEL, NULL);
  const unsigned long long live_before = Read(live);
  for (int i = 0; i < kShort; ++i) MPI_Irecv(in[i], 8, MPI_BYTE, before, i, comm, &requests[i]);
  HOLDS(Read(all) >= kShort);
  HOLDS(Read(here) == kShort);
  HOLDS(Read(live) == live_before + kShort);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kShort; ++i) MPI_Send(&value, 8, MPI_BYTE, next, i, comm);
  MPI_Waitall(kShort, requests, MPI_STATUSES_IGNORE);
  HOLDS(Read(here) == 0);
  HOLDS(Read(live) == live_before);
}

static void Protocols(int rank, int ranks, MPI_Comm comm) {
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  const char* names[] = {"p2p.sent.eager", "p2p.sent.rendezvous", "p2p.received.eager",
                         "p2p.received.rendezvous"};
  MPI_T_pvar_handle messages[4], bytes[4];
  char* out = calloc(1, kLongBytes);
  char* in = malloc(kLongBytes);
  MPI_Request request;
  for (int i = 0; i < 4; ++i) {
    char name[64];
    snprintf(name, sizeof name, "%s.messages", names[i]);
    messages[i] = Open(name, MPI_T_PVAR_CLASS_COUNTER, NULL);
    snprintf(name, sizeof name, "%s.bytes", names[i]);
    bytes[i] = Open(name, MPI_T_PVAR_CLASS_AGGREGATE, NULL);
    HOLDS(MPI_T_pvar_start(session, messages[i]) == MPI_SUCCESS);
    HOLDS(MPI_T_pvar_start(session, bytes[i]) == MPI_SUCCESS);
  }
  for (int i = 0; i < 3; ++i) {
    const int size = i == 2 ? kLongBytes : 100;
    MPI_Irecv(in, size, MPI_BYTE, before, i, comm, &request);
    MPI_Send(out, size, MPI_BYTE, next, i, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < 4; i += 2) {
    HOLDS_FOR(names[i], Read(messages[i]) == 2);
    HOLDS_FOR(names[i], Read(bytes[i]) == 200);
    HOLDS_FOR(names[i + 1], Read(messages[i + 1]) == 1);
    HOLDS_FOR(names[i + 1], Read(bytes[i + 1]) == kLongBytes);
  }
  unsigned long long value = 0;
  HOLDS(MPI_T_pvar_readreset(session, messages[0], &value) == MPI_SUCCESS && value == 2);
  HOLDS(Read(messages[0]) == 0);
  HOLDS(MPI_T_pvar_stop(session, messages[0]) == MPI_SUCCESS);
  MPI_Sendrecv(out, 8, MPI_BYTE, next, 9, in, 8, MPI_BYTE, before, 9, comm, MPI_STATUS_IGNORE);
  HOLDS(Read(messages[0]) == 0);
  value = 40;
  HOLDS(MPI_T_pvar_write(session, messages[0], &value) == MPI_SUCCESS);
  HOLDS(MPI_T_pvar_start(session, messages[0]) == MPI_SUCCESS);
  MPI_Sendrecv(out, 8, MPI_BYTE, next, 9, in, 8, MPI_BYTE, before, 9, comm, MPI_STATUS_IGNORE);
  HOLDS(Read(messages[0]) == 41);
  free(in);
  free(out);
}

static void Others(int ranks) {
  MPI_T_pvar_handle state = Open("core.process.state", MPI_T_PVAR_CLASS_STATE, NULL);
  MPI_T_pvar_handle size = Open("p2p.peer.processes", MPI_T_PVAR_CLASS_SIZE, NULL);
  MPI_T_pvar_handle connected = Open("p2p.peer.connected", MPI_T_PVAR_CLASS_LEVEL, NULL);
  MPI_T_pvar_handle slept = Open("p2p.wait.slept", MPI_T_PVAR_CLASS_TIMER, NULL);
  MPI_T_pvar_handle polls = Open("p2p.wait.polls", MPI_T_PVAR_CLASS_COUNTER, NULL);
  MPI_T_pvar_handle hits = Open("collective.plan.hits", MPI_T_PVAR_CLASS_COUNTER, NULL);
  MPI_T_pvar_handle misses = Open("collective.plan.misses", MPI_T_PVAR_CLASS_COUNTER, NULL);
  double seconds = -1;
  int number = -1, flag, sum;
  MPI_Comm twin;
  MPI_Request request;
  HOLDS(MPI_T_pvar_read(session, state, &number) == MPI_SUCCESS && number == 1);
  HOLDS(Read(size) == (unsigned long long)ranks);
  HOLDS(Read(connected) >= 1 && Read(connected) <= (unsigned long long)ranks);
  MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES);
  HOLDS(MPI_T_pvar_read(session, slept, &seconds) == MPI_SUCCESS && seconds == 0);
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  HOLDS(Read(polls) >= 1);
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  for (int i = 0; i < 3; ++i) { /* non-blocking ones are always planned */
    MPI_Iallreduce(&number, &sum, 1, MPI_INT, MPI_SUM, twin, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (ranks > 1) HOLDS(Read(misses) >= 1 && Read(hits) >= 2);
  MPI_Comm_free(&twin);
}

/* Accesses are counted by the way to their target, with their bytes. On one node none of them needs
 * a message; across nodes the target counts what it has served. */
static void Accesses(int rank, int ranks) {
  const char* paths[] = {"rma.mapped", "rma.copied", "rma.framed"};
  MPI_T_pvar_handle accesses[3], bytes[3];
  MPI_T_pvar_handle served = Open("rma.served.requests", MPI_T_PVAR_CLASS_COUNTER, NULL);
  const int next = (rank + 1) % ranks;
  unsigned long long all = 0, all_bytes = 0;
  char *base, data[100] = {0};
  MPI_Win win;
  for (int i = 0; i < 3; ++i) {
    char name[64];
    snprintf(name, sizeof name, "%s.accesses", paths[i]);
    accesses[i] = Open(name, MPI_T_PVAR_CLASS_COUNTER, NULL);
    snprintf(name, sizeof name, "%s.bytes", paths[i]);
    bytes[i] = Open(name, MPI_T_PVAR_CLASS_AGGREGATE, NULL);
  }
  MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES);
  MPI_Win_allocate(sizeof data, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < kShort; ++i) MPI_Put(data, 100, MPI_BYTE, next, 0, 100, MPI_BYTE, win);
  MPI_Get(data, 50, MPI_BYTE, next, 0, 50, MPI_BYTE, win);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) {
    all += Read(accesses[i]);
    all_bytes += Read(bytes[i]);
  }
  HOLDS(all == kShort + 1);
  HOLDS(all_bytes == kShort * 100 + 50);
  HOLDS(Read(accesses[2]) == 0 || Read(served) > kShort);
  HOLDS(ranks > 1 || Read(accesses[0]) == kShort + 1);
  MPI_Win_free(&win);
}

/* Rank 0 holds a lock until another rank has found it taken. */
static void LockWaits(int rank, int ranks) {
  MPI_T_pvar_handle waits = Open("rma.lock.waits", MPI_T_PVAR_CLASS_COUNTER, NULL);
  int waited = ranks == 1;
  void* base;
  MPI_Win win;
  MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_T_pvar_start(session, waits);
  for (double hold = 1e-3; !waited; hold *= 2) {
    if (rank == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    for (const double end = MPI_Wtime() + hold; rank == 0 && MPI_Wtime() < end;) {
    }
    MPI_Win_unlock(0, win);
    waited = rank != 0 && Read(waits) > 0;
    MPI_Allreduce(MPI_IN_PLACE, &waited, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    HOLDS(rank != 0 || Read(waits) == 0);
  }
  MPI_Win_free(&win);
}

/* Every second int of a file is written: alone, so that what lies between is written back, and then
 * by all ranks together, whose data one of them collects. */
static void Files(int rank, int ranks) {
  MPI_T_pvar_handle reads = Open("file.read.accesses", MPI_T_PVAR_CLASS_COUNTER, NULL);
  MPI_T_pvar_handle read_bytes = Open("file.read.bytes", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
  MPI_T_pvar_handle writes = Open("file.written.accesses", MPI_T_PVAR_CLASS_COUNTER, NULL);
  MPI_T_pvar_handle written_bytes = Open("file.written.bytes", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
  MPI_T_pvar_handle exchanges = Open("file.written.exchanges", MPI_T_PVAR_CLASS_COUNTER, NULL);
  MPI_T_pvar_handle windows = Open("file.written.windows", MPI_T_PVAR_CLASS_COUNTER, NULL);
  MPI_T_pvar_handle patches = Open("file.written.patches", MPI_T_PVAR_CLASS_COUNTER, NULL);
  const char* where = getenv("TEST_TMPDIR");
  char path[300];
  int data[100] = {0}, pid = (int)getpid();
  unsigned long long all_windows;
  MPI_Datatype every;
  MPI_Info info;
  MPI_File file;
  MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
  snprintf(path, sizeof path, "%s/traffic.%d", where != NULL ? where : "/tmp", pid);
  MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)((size_t)(ranks + 1) * sizeof(int)), &every);
  MPI_Type_commit(&every);
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_cb_write", "enable");
  MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES);
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  MPI_File_set_view(file, (MPI_Offset)((size_t)rank * sizeof(int)), MPI_INT, every, "native", info);
  MPI_File_write_at(file, 0, data, 100, MPI_INT, MPI_STATUS_IGNORE);
  HOLDS(Read(writes) == 1 && Read(written_bytes) == sizeof data);
  HOLDS(Read(patches) == 1 && Read(exchanges) == 0);
  MPI_File_write_at_all(file, 0, data, 100, MPI_INT, MPI_STATUS_IGNORE);
  HOLDS(Read(writes) == 2 && Read(written_bytes) == 2 * sizeof data);
  HOLDS(Read(exchanges) == (ranks > 1));
  all_windows = Read(windows);
  MPI_Allreduce(MPI_IN_PLACE, &all_windows, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  HOLDS((all_windows > 0) == (ranks > 1));
  MPI_File_read_at(file, 0, data, 50, MPI_INT, MPI_STATUS_IGNORE);
  HOLDS(Read(reads) == 1 && Read(read_bytes) == 50 * sizeof(int));
  MPI_File_close(&file);
  MPI_Info_free(&info);
  MPI_Type_free(&every);
}

int main(int argc, char** argv) {
  int provided, rank, ranks;
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_T_pvar_session_create(&session);
  Unexpected(rank, ranks, comm);
  MPI_Barrier(MPI_COMM_WORLD);
  Posted(rank, ranks, comm);
  MPI_Barrier(MPI_COMM_WORLD);
  Protocols(rank, ranks, comm);
  MPI_Barrier(MPI_COMM_WORLD);
  Others(ranks);
  Accesses(rank, ranks);
  LockWaits(rank, ranks);
  Files(rank, ranks);
  MPI_T_pvar_session_free(&session);
  MPI_T_finalize();
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return Ended();
}
