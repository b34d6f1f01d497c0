// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a program that is saved while it runs goes on as if nothing had happened.
// Method: ranks communicate in one way, checked in every turn, until somebody makes a file; whoever
//         runs this saves the job meanwhile.
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kLong = 300000, kFew = 20, kThreads = 4 };

static int rank, ranks;
static const char* stop_file;

static void Check(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 9);
}

// Says as well what was found instead.
static void CheckIs(long found, long wanted, const char* what) {
  if (found == wanted) return;
  fprintf(stderr, "rank %d: %s is %ld and should be %ld\n", rank, what, found, wanted);
  Check(0, what);
}

// The test waits for this line, which says that every rank has begun.
static void Begun(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("begun\n"), fflush(stdout);
}

static int IsOver(void) { return access(stop_file, F_OK) == 0; }

// Spends no time in the library.
static void ComputeUntilOver(void) {
  while (!IsOver()) continue;
}

static void Ring(MPI_Comm comm, int turn, int ints, int* out, int* in) {
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  for (int i = 0; i < ints; i += 97) out[i] = turn + rank + i;
  MPI_Sendrecv(out, ints, MPI_INT, next, 1, in, ints, MPI_INT, previous, 1, comm,
               MPI_STATUS_IGNORE);
  for (int i = 0; i < ints; i += 97) CheckIs(in[i], turn + previous + i, "ring");
}

static void AnySource(int turn) {
  int received = 0, values[kFew];
  MPI_Request sends[kFew];
  for (int i = 0; i < kFew; ++i) {
    values[i] = turn + i;
    if (i % 2 == 0)
      MPI_Issend(&values[i], 1, MPI_INT, (rank + i) % ranks, 2, MPI_COMM_WORLD, &sends[i]);
    else
      MPI_Isend(&values[i], 1, MPI_INT, (rank + i) % ranks, 2, MPI_COMM_WORLD, &sends[i]);
  }
  for (int i = 0; i < kFew; ++i) {
    MPI_Status status;
    MPI_Message message;
    int value = 0;
    MPI_Mprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
    Check(value >= turn && value < turn + kFew, "any source");
    received += value - turn;
  }
  MPI_Waitall(kFew, sends, MPI_STATUSES_IGNORE);
  int sum = 0;
  MPI_Allreduce(&received, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CheckIs(sum, ranks * kFew * (kFew - 1) / 2, "any source, sum");
}

static void Collectives(int turn) {
  int* const out = malloc((size_t)ranks * sizeof *out);
  int* const in = malloc((size_t)ranks * sizeof *in);
  for (int i = 0; i < ranks; ++i) out[i] = turn + rank * ranks + i;
  MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) CheckIs(in[i], turn + i * ranks + rank, "alltoall");
  int root = turn % ranks, value = rank == root ? turn : -1;
  MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
  CheckIs(value, turn, "bcast");
  MPI_Request request;
  int sum = 0;
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CheckIs(sum, ranks * (ranks - 1) / 2, "iallreduce");
  MPI_Barrier(MPI_COMM_WORLD);
  free(out);
  free(in);
}

static int AgreeThatOver(void) {
  int over = rank == 0 ? IsOver() : 0;
  MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return over;
}

static void Traffic(void) {
  static int out[kLong], in[kLong];
  for (int turn = 0; !AgreeThatOver(); ++turn) {
    Ring(MPI_COMM_WORLD, turn, 1, out, in);
    Ring(MPI_COMM_WORLD, turn, kLong, out, in);
    AnySource(turn);
    Collectives(turn);
  }
}

// Says after every turn what has come of it: rank 0 by standard output, the last rank by standard
// error, whose lines it leaves open for a while. It ends after so many turns, or when it is over.
static void Course(int turns) {
  static int out[kLong], in[kLong];
  double value = 1, sum = 0;
  for (int turn = 0; turns > 0 ? turn < turns : !AgreeThatOver(); ++turn) {
    if (rank == ranks - 1) fprintf(stderr, "turn %d", turn), fflush(stderr);
    Ring(MPI_COMM_WORLD, turn, kLong, out, in);
    AnySource(turn);
    Collectives(turn);
    const double own = value / (rank + 3) + turn * 1e-3;
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    value = sum / ranks;
    if (rank == 0) printf("turn %d value %a\n", turn, value), fflush(stdout);
    if (rank == ranks - 1) fprintf(stderr, " done\n");
  }
}

// Each rank writes a line a turn into a file of its own, and rank 0 says a line of standard input.
static void Filing(const char* path) {
  static char line[8192];
  static int out[2], in[2];
  snprintf(line, sizeof line, "%s.%d", path, rank);
  FILE* const file = fopen(line, "a");
  Check(file != NULL, "file");
  for (int turn = 0; !AgreeThatOver(); ++turn) {
    Ring(MPI_COMM_WORLD, turn, 1, out, in);
    fprintf(file, "turn %d of rank %d\n", turn, rank);
    fflush(file);
    if (rank == 0 && fgets(line, sizeof line, stdin) != NULL)
      printf("turn %d reads %ld\n", turn, strtol(line, NULL, 10)), fflush(stdout);
  }
  fclose(file);
}

// All ranks append to one file, line by line, and compute otherwise.
static void Logging(const char* path) {
  FILE* const file = fopen(path, "a");
  Check(file != NULL, "file");
  setvbuf(file, NULL, _IOLBF, 0);
  for (int line = 0; !IsOver(); ++line) {
    fprintf(file, "line %d of rank %d\n", line, rank);
    if (rank == 0 && line % 1000 == 0) printf("turn %d\n", line / 1000), fflush(stdout);
  }
  fclose(file);
  MPI_Barrier(MPI_COMM_WORLD);
}

// Every rank holds a shared lock of one file, and exclusive ones of a file of its own and of a byte
// of the first one.
static void Locks(const char* path) {
  char own[4096];
  struct flock byte = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = rank, .l_len = 1};
  snprintf(own, sizeof own, "%s.%d", path, rank);
  const int together = open(path, O_RDWR | O_CREAT, 0600);
  const int alone = open(own, O_RDWR | O_CREAT, 0600);
  Check(flock(together, LOCK_SH | LOCK_NB) == 0, "a shared lock");
  Check(flock(alone, LOCK_EX | LOCK_NB) == 0, "an exclusive lock");
  Check(fcntl(together, F_SETLK, &byte) == 0, "the lock of a byte");
  Begun();
  for (int turn = 0; !AgreeThatOver(); ++turn)
    if (rank == 0 && turn % 1000 == 0) printf("turn %d\n", turn / 1000), fflush(stdout);
  close(alone);
  close(together);
}

// Rank 0 has a child that cannot be saved: one that goes away from below it, one that is stopped,
// or one that is its copy.
static void Child(const char* kind) {
  const int daemon = strcmp(kind, "daemon") == 0, stopped = strcmp(kind, "stopped") == 0;
  int program[2];  // is at its end once the daemon runs another one
  char nothing;
  Check(pipe2(program, O_CLOEXEC) == 0, "pipe");
  const pid_t child = rank == 0 ? fork() : 1;
  if (child == 0 && daemon && fork() != 0) _exit(0);
  if (child == 0 && daemon) execlp("sleep", "sleep", "86432", NULL);
  if (child == 0 && stopped) execlp("sh", "sh", "-c", "kill -STOP $$", NULL);
  if (child == 0) pause(), _exit(0);
  close(program[1]);
  if (rank == 0 && daemon)
    Check(waitpid(child, NULL, 0) == child && read(program[0], &nothing, 1) == 0, "daemon");
  close(program[0]);
  if (rank == 0 && stopped) waitpid(child, NULL, WUNTRACED);
  if (rank == 0) printf("turn 0\n"), fflush(stdout);
  ComputeUntilOver();
}

// Rank 0 computes all the time, and the others wait for it in one call.
static void Blocked(const char* call) {
  int value = 42;
  MPI_Request request;
  if (rank == 0) {
    ComputeUntilOver();
    for (int to = 1; to < ranks; ++to)
      if (strcmp(call, "barrier") != 0) MPI_Send(&value, 1, MPI_INT, to, 3, MPI_COMM_WORLD);
  } else if (strcmp(call, "recv") == 0) {
    value = 0;
    MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(call, "wait") == 0) {
    value = 0;
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (strcmp(call, "test") == 0) {
    value = 0;
    MPI_Irecv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request);
    for (int done = 0; !done;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  } else if (strcmp(call, "probe") == 0) {
    value = 0;
    MPI_Probe(0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  Check(value == 42, call);
}

// Messages that nobody has received yet, short, synchronous and long, when the job is saved.
static void Unreceived(void) {
  static int out[kLong], in[kLong];
  MPI_Request requests[2];
  int value = rank + 5, got = 0;
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  for (int i = 0; i < kLong; ++i) out[i] = rank + i;
  MPI_Send(&value, 1, MPI_INT, next, 4, MPI_COMM_WORLD);
  MPI_Issend(&value, 1, MPI_INT, next, 5, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, kLong, MPI_INT, next, 6, MPI_COMM_WORLD, &requests[1]);
  MPI_Barrier(MPI_COMM_WORLD);
  ComputeUntilOver();
  MPI_Recv(in, kLong, MPI_INT, previous, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < kLong; ++i) Check(in[i] == previous + i, "long");
  MPI_Recv(&got, 1, MPI_INT, previous, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  Check(got == previous + 5, "synchronous");
  MPI_Recv(&got, 1, MPI_INT, previous, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  Check(got == previous + 5, "short");
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

// Rank 0 computes, and the others are in MPI_Finalize with messages that it has not received yet.
static void Owed(void) {
  static int out[kLong], in[kLong];
  if (rank != 0) {
    MPI_Request request;
    for (int i = 0; i < kLong; ++i) out[i] = rank + i;
    MPI_Isend(out, kLong, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    return;
  }
  ComputeUntilOver();
  for (int from = 1; from < ranks; ++from) {
    MPI_Recv(in, kLong, MPI_INT, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < kLong; ++i) Check(in[i] == from + i, "owed");
  }
}

static void SlowSum(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  ComputeUntilOver();
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

static void Reduction(void) {
  MPI_Op op;
  int sum = 0;
  MPI_Op_create(SlowSum, 1, &op);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
  Check(sum == ranks * (ranks - 1) / 2, "reduction");
  MPI_Op_free(&op);
}

enum { kWords = 5000 };

// Each rank changes what others have in four kinds of windows, and looks at what they have changed.
static void Windows(int says) {
  static long created[kWords], attached[kWords];
  long *allocated, *shared, *mine[4];
  MPI_Aint places[64], place;
  MPI_Win windows[4];
  MPI_Comm node;
  int node_rank, node_ranks;
  const MPI_Comm world = MPI_COMM_WORLD;
  MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &node_rank);
  MPI_Comm_size(node, &node_ranks);
  MPI_Win_create(created, sizeof created, sizeof(long), MPI_INFO_NULL, world, &windows[0]);
  MPI_Win_allocate(sizeof created, sizeof(long), MPI_INFO_NULL, world, &allocated, &windows[1]);
  MPI_Win_allocate_shared(sizeof created, sizeof(long), MPI_INFO_NULL, node, &shared, &windows[2]);
  MPI_Win_create_dynamic(MPI_INFO_NULL, world, &windows[3]);
  MPI_Win_attach(windows[3], attached, sizeof attached);
  MPI_Get_address(attached, &place);
  MPI_Allgather(&place, 1, MPI_AINT, places, 1, MPI_AINT, world);
  mine[0] = created, mine[1] = allocated, mine[2] = shared, mine[3] = attached;
  memset(allocated, 0, sizeof created);
  memset(shared, 0, sizeof created);
  for (int i = 0; i < 4; ++i) MPI_Win_fence(0, windows[i]);
  for (long turn = 1; !AgreeThatOver(); ++turn) {
    if (says && rank == 0) printf("turn %ld\n", turn), fflush(stdout);
    for (int i = 0; i < 4; ++i) {
      const int self = i == 2 ? node_rank : rank, all = i == 2 ? node_ranks : ranks;
      const int next = (self + 1) % all, previous = (self + all - 1) % all;
      const MPI_Aint base = i == 3 ? places[next] : 0, unit = i == 3 ? (MPI_Aint)sizeof(long) : 1;
      const long at = turn % (kWords - 1), value = turn * 1000 + self, one = 1;
      MPI_Win_fence(0, windows[i]);
      MPI_Put(&value, 1, MPI_LONG, next, base + at * unit, 1, MPI_LONG, windows[i]);
      MPI_Accumulate(&one, 1, MPI_LONG, next, base + (kWords - 1) * unit, 1, MPI_LONG, MPI_SUM,
                     windows[i]);
      MPI_Win_fence(MPI_MODE_NOSUCCEED, windows[i]);
      Check(mine[i][at] == turn * 1000 + previous, "put");
      Check(mine[i][(at + kWords - 2) % (kWords - 1)] ==
                (turn > 1 ? value - 1000 - self + previous : 0),
            "an earlier put");
      long seen = 0;
      MPI_Win_lock(MPI_LOCK_SHARED, next, 0, windows[i]);
      MPI_Get(&seen, 1, MPI_LONG, next, base + (kWords - 1) * unit, 1, MPI_LONG, windows[i]);
      MPI_Win_unlock(next, windows[i]);
      Check(seen == turn, "sum");
      MPI_Barrier(world);
    }
  }
  MPI_Win_detach(windows[3], attached);
  for (int i = 0; i < 4; ++i) MPI_Win_free(&windows[i]);
  MPI_Comm_free(&node);
}

// All ranks write a number a turn through the shared pointer of one file, and through the own
// pointers of another, in which each has every so manieth number; in the end they read all.
static void Files(const char* path) {
  const MPI_Comm world = MPI_COMM_WORLD;
  const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
  char other[4096];
  MPI_File together, apart;
  MPI_Datatype every;
  int turn = 0;
  snprintf(other, sizeof other, "%s.apart", path);
  Check(MPI_File_open(world, path, mode, MPI_INFO_NULL, &together) == MPI_SUCCESS, "open");
  Check(MPI_File_open(world, other, mode, MPI_INFO_NULL, &apart) == MPI_SUCCESS, "open");
  MPI_Type_create_resized(MPI_INT, 0, ranks * (MPI_Aint)sizeof(int), &every);
  MPI_Type_commit(&every);
  MPI_File_set_view(apart, rank * (MPI_Offset)sizeof(int), MPI_INT, every, "native", MPI_INFO_NULL);
  for (; !AgreeThatOver(); ++turn) {
    int number = turn * ranks + rank;
    if (rank == 0) printf("turn %d\n", turn), fflush(stdout);
    MPI_File_write_ordered(together, &number, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write(apart, &number, 1, MPI_INT, MPI_STATUS_IGNORE);
  }
  MPI_Offset bytes = 0;
  MPI_Barrier(world);
  MPI_File_get_size(together, &bytes);
  Check(bytes == (MPI_Offset)sizeof(int) * turn * ranks, "size");
  for (int at = 0; at < turn * ranks; ++at) {
    int number = -1;
    MPI_File_read_at(together, at * (MPI_Offset)sizeof(int), &number, 1, MPI_INT,
                     MPI_STATUS_IGNORE);
    Check(number == at, "shared pointer");
  }
  for (int at = 0; at < turn; ++at) {
    int number = -1;
    MPI_File_read_at(apart, at, &number, 1, MPI_INT, MPI_STATUS_IGNORE);
    Check(number == at * ranks + rank, "own pointer");
  }
  MPI_Type_free(&every);
  MPI_File_close(&together);
  MPI_File_close(&apart);
}

// Rank 0 computes while a file is written, of whose end it hears in its next call.
static void Writing(const char* path) {
  MPI_File file;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_File_iwrite_at(file, 0, &rank, 1, MPI_INT, &request);
    printf("begun\n"), fflush(stdout);
  }
  ComputeUntilOver();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
}

// Ranks share memory whose name is gone, or a pipe that has one.
static void Sharing(const char* way, const char* pipe) {
  char name[64];
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  MPI_Bcast(&now, sizeof now, MPI_BYTE, 0, MPI_COMM_WORLD);
  snprintf(name, sizeof name, "/lamina-test-%lld%09ld", (long long)now.tv_sec, now.tv_nsec);
  const int named = strcmp(way, "named") == 0;
  if (named && rank == 0) Check(mkfifo(pipe, 0600) == 0, "mkfifo");
  MPI_Barrier(MPI_COMM_WORLD);
  const int fd = named ? open(pipe, O_RDWR) : shm_open(name, O_CREAT | O_RDWR, 0600);
  Check(fd >= 0 && (named || ftruncate(fd, 4096) == 0), "open");
  _Atomic int* const shared =
      named ? NULL : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) named ? unlink(pipe) : shm_unlink(name);
  if (!named) close(fd);
  for (int turn = 0; !AgreeThatOver(); ++turn) {
    if (!named && rank == 0) *shared = turn;
    MPI_Barrier(MPI_COMM_WORLD);
    if (!named) CheckIs(*shared, turn, "shared memory");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("turn %d\n", turn), fflush(stdout);
  }
}

// Waits for a timer that goes off twice meanwhile.
static void Ticking(void) {
  const struct itimerspec often = {{0, 10000000}, {0, 10000000}};
  const struct timespec pause = {0, 20000000};
  const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  Check(timer >= 0 && timerfd_settime(timer, 0, &often, NULL) == 0, "timer");
  for (int turn = 0; !IsOver(); ++turn) {
    unsigned long long ticks = 0;
    nanosleep(&pause, NULL);  // tidy: sleep: the timer is to go off meanwhile
    Check(read(timer, &ticks, sizeof ticks) == sizeof ticks && ticks > 0, "ticks");
    printf("turn %d\n", turn), fflush(stdout);
  }
}

static MPI_Comm comms[kThreads];

static void* OneThread(void* argument) {
  const int number = (int)(size_t)argument;
  int* const out = malloc(1000 * sizeof *out);
  int* const in = malloc(1000 * sizeof *in);
  for (int turn = 0, over = 0; !over; ++turn) {
    Ring(comms[number], turn, number == 0 ? 1 : 1000, out, in);
    over = rank == 0 ? IsOver() : 0;
    MPI_Bcast(&over, 1, MPI_INT, 0, comms[number]);
  }
  free(out);
  free(in);
  return NULL;
}

static void Threads(void) {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, OneThread, (void*)(size_t)i);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_free(&comms[i]);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* const way = argv[1];
  stop_file = argv[2];
  if (strcmp(way, "late") == 0) ComputeUntilOver();
  int provided;
  const int threads = strcmp(way, "threads") == 0;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (strcmp(way, "writing") != 0) Begun();
  if (strcmp(way, "traffic") == 0)
    Traffic();
  else if (strcmp(way, "course") == 0)
    Course(argc > 3 ? atoi(argv[3]) : 0);
  else if (strcmp(way, "files") == 0)
    Files(argv[3]);
  else if (strcmp(way, "writing") == 0)
    Writing(argv[3]);
  else if (strcmp(way, "windows") == 0)
    Windows(argc > 3);
  else if (strcmp(way, "filing") == 0)
    Filing(argv[3]);
  else if (strcmp(way, "logging") == 0)
    Logging(argv[3]);
  else if (strcmp(way, "locks") == 0)
    Locks(argv[3]);
  else if (strcmp(way, "child") == 0)
    Child(argv[3]);
  else if (strcmp(way, "unreceived") == 0)
    Unreceived();
  else if (strcmp(way, "owed") == 0)
    Owed();
  else if (strcmp(way, "reduction") == 0)
    Reduction();
  else if (strcmp(way, "ticking") == 0)
    Ticking();
  else if (strcmp(way, "unlinked") == 0 || strcmp(way, "named") == 0)
    Sharing(way, argc > 3 ? argv[3] : NULL);
  else if (threads)
    Threads();
  else if (strcmp(way, "finalized") != 0 && strcmp(way, "late") != 0)
    Blocked(way);
  MPI_Finalize();
  if (strcmp(way, "finalized") == 0) ComputeUntilOver();
  if (rank == 0) printf("done\n");
  return 0;
}
