/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures what the machine itself takes, without any MPI. `run` does so before, between and after
 * its rounds, so that a table can be judged. Each LINE that is asked for is answered by
 * `LINE VALUE`. The value is in microseconds, that of fork in milliseconds, and -1 if there is none
 * on this machine.
 *
 * usage: floor [hosts NETWORK NETWORK ADDRESS] LINE...
 *        LINE: line post:BYTES copy:BYTES add order socket:BYTES hosts:BYTES fork meet:PROCESSES
 *              tell:PROCESSES[:BYTES] alltoall:PROCESSES:BYTES allgather:PROCESSES:BYTES
 *              ask:PROCESSES ask-busy:PROCESSES
 * With `hosts`, sockets lie between two network namespaces, which are given by their files; ADDRESS
 * belongs to the first of them. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "line.h"

enum {
  kRounds = 7,
  kPings = 50000,
  kForks = 20,
  kSocketPings = 2000,
  kPostBytesMax = 16384,
  kCrowdMax = 16,
  kSaid = 8,
  kShortBytesMax = 1024,
  kCrowdCalls = 20000,
  kCrowdFirstCalls = 10,
  kBlocksBytes = 256 << 20, /* what each of two processes moves in all */
  kPieceBytes = 256 << 10,
  kHugeBytes = 2 << 20,
  kAskedMax = 256,
  kQuestions = 6
};
extern char** environ;

static int ByValue(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double Median(double (*sample)(size_t), size_t argument) {
  double values[kRounds];
  for (int i = 0; i < kRounds; ++i) values[i] = sample(argument);
  qsort(values, kRounds, sizeof values[0], ByValue);
  return values[kRounds / 2];
}

/* Binds this thread to the n-th processor that the process may use. */
static void Pin(int n) {
  cpu_set_t all, one;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &all) || n-- > 0) continue;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    return;
  }
}

static struct Line line;
static _Alignas(4096) char posts[2][kPostBytesMax]; /* one for each side that writes */
static size_t post_bytes;

static void TakePost(atomic_int* word, int turn, const char* post, char* to) {
  Await(word, turn);
  memcpy(to, post, post_bytes);
}

/* Returns the microseconds that a cache line takes one way, behind post_bytes that its sender
 * copies into shared memory and its receiver copies out of it. No message that is copied twice
 * takes less. */
static double PlayPost(int side) {
  char *from = calloc(1, kPostBytesMax), *to = calloc(1, kPostBytesMax);
  const double start = Now();
  for (int turn = 1; turn <= kPings; ++turn) {
    if (side == 1) TakePost(&line.ping, turn, posts[0], to);
    memcpy(posts[side], from, post_bytes);
    atomic_store_explicit(side == 0 ? &line.ping : &line.pong, turn, memory_order_release);
    if (side == 0) TakePost(&line.pong, turn, posts[1], to);
  }
  const double took = (Now() - start) / kPings / 2 * 1e6;
  free(from);
  free(to);
  return took;
}

static double Play(int side) {
  int played = 0;
  return post_bytes > 0 ? PlayPost(side) : PlayLine(&line, side, kPings, &played);
}

static void* Answer(void* unused) {
  Pin(1);
  Play(1);
  return unused;
}

/* Returns the time of a cache line one way between two processors, behind so many bytes. */
static double LineUs(size_t bytes) {
  pthread_t thread;
  post_bytes = bytes;
  atomic_store(&line.ping, 0);
  atomic_store(&line.pong, 0);
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  if (pthread_create(&thread, NULL, Answer, NULL) != 0) return -1;
  Pin(0);
  const double took = Play(0);
  pthread_join(thread, NULL);
  sched_setaffinity(0, sizeof before, &before);
  return took;
}

static double CopyUs(size_t bytes) {
  char *from = malloc(bytes), *to = malloc(bytes);
  memset(from, 1, bytes);
  memset(to, 1, bytes);
  const int copies = (int)((64 << 20) / bytes);
  const double start = Now();
  for (int i = 0; i < copies; ++i) {
    memcpy(to, from, bytes);
    __asm__ volatile("" ::"r"(to) : "memory");
  }
  const double took = Now() - start;
  free(from);
  free(to);
  return took / copies * 1e6;
}

/* An atomic add to a word that nobody else touches, or else a store that later loads come after. */
static double WordUs(size_t adds) {
  enum { kTimes = 1 << 22 };
  static atomic_long word;
  const double start = Now();
  for (int i = 0; i < kTimes; ++i) {
    if (adds) {
      atomic_fetch_add(&word, 1);
    } else {
      atomic_store_explicit(&word, i, memory_order_relaxed);
      atomic_thread_fence(memory_order_seq_cst);
    }
  }
  return (Now() - start) / kTimes * 1e6;
}

/* Memory of processes that share processors, and yield while they wait. */
struct Crowd {
  _Alignas(64) atomic_int said[kSaid]; /* the number of the last call that was said here */
  _Alignas(64) char words[kSaid][kShortBytesMax]; /* what was said in that call */
  _Alignas(64) atomic_int come;
  _Alignas(64) atomic_int met;
  struct {
    _Alignas(64) atomic_int call; /* the last call whose word this process has used */
    int of_all;                   /* the last call whose word all are known to have used */
  } used[kCrowdMax];
  _Alignas(64) char rows[]; /* short blocks: a row for each process, two calls taking turns */
};

static void YieldUntil(atomic_int* word, int value) {
  while (atomic_load_explicit(word, memory_order_acquire) < value) sched_yield();
}

/* A barrier: all wait for all. */
static void Meet(struct Crowd* crowd, int call, int processes) {
  if (atomic_fetch_add(&crowd->come, 1) + 1 == call * processes)
    atomic_store_explicit(&crowd->met, call, memory_order_release);
  YieldUntil(&crowd->met, call);
}

static size_t told_bytes;

static size_t block_bytes;
static size_t block_stride;          /* of the blocks to send; 0: the same one for all */
static char *blocks_out, *blocks_in; /* each process's own, at the same place in all */

/* Each process copies its row of short blocks into shared memory, all meet, and each takes its own
 * blocks from all rows. A process that comes to the next meeting has taken them, so two calls'
 * worth of rows is enough. */
static void ByRows(struct Crowd* crowd, int call, int processes, int self) {
  const size_t row = block_stride == 0 ? block_bytes : block_stride * (size_t)processes;
  char* const rows = crowd->rows + (size_t)(call % 2) * row * (size_t)processes;
  memcpy(rows + (size_t)self * row, blocks_out, row);
  Meet(crowd, call, processes);
  for (size_t other = 0; other < (size_t)processes; ++other)
    memcpy(blocks_in + other * block_bytes, rows + other * row + (size_t)self * block_stride,
           block_bytes);
}

/* Waits until all have used what was said in `call`. */
static void AwaitUsed(struct Crowd* crowd, int call, int processes, int self) {
  int least = INT_MAX;
  if (crowd->used[self].of_all >= call) return;
  for (int other = 0; other < processes; ++other) {
    if (other == self) continue;
    YieldUntil(&crowd->used[other].call, call);
    const int used = atomic_load_explicit(&crowd->used[other].call, memory_order_acquire);
    if (used < least) least = used;
  }
  crowd->used[self].of_all = least;
}

/* A broadcast whose root moves on: all wait for one, and the next call has the next one. */
static void Tell(struct Crowd* crowd, int call, int processes, int self) {
  static char own[kShortBytesMax];
  atomic_int* const said = &crowd->said[call % kSaid];
  char* const words = crowd->words[call % kSaid];
  if (call % processes == self) {
    AwaitUsed(crowd, call - kSaid, processes, self);
    memcpy(words, own, told_bytes);
    atomic_store_explicit(said, call, memory_order_release);
  } else {
    YieldUntil(said, call);
    memcpy(own, words, told_bytes);
  }
  atomic_store_explicit(&crowd->used[self].call, call, memory_order_release);
}

enum Play { kMeet, kTell, kBlocks };
static enum Play crowd_play;

static void PlayCall(struct Crowd* crowd, int call, int processes, int self) {
  switch (crowd_play) {
    case kMeet:
      return Meet(crowd, call, processes);
    case kTell:
      return Tell(crowd, call, processes, self);
    case kBlocks:
      return ByRows(crowd, call, processes, self);
  }
}

/* Returns the microseconds of a call among so many processes, wherever the scheduler puts them.
 * They start in random order, as ranks come from work of their own, and the processors' queues keep
 * that order from then on. */
static double CrowdUs(size_t processes) {
  if (processes < 2 || processes > kCrowdMax) return -1;
  const size_t data_bytes = block_bytes * processes;
  const size_t bytes = sizeof(struct Crowd) + 2 * data_bytes * processes;
  struct Crowd* crowd =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int self = 0;
  blocks_out = aligned_alloc(4096, 2 * data_bytes);
  blocks_in = blocks_out + data_bytes;
  for (int child = 1; child < (int)processes && self == 0; ++child)
    if (fork() == 0) self = child;
  memset(blocks_out, self, 2 * data_bytes);
  unsigned seed = (unsigned)getpid();
  usleep((unsigned)rand_r(&seed) % 20000); /* tidy: sleep: it makes the order random */
  for (int call = 1; call <= kCrowdFirstCalls; ++call) PlayCall(crowd, call, (int)processes, self);
  const double start = Now();
  for (int call = kCrowdFirstCalls + 1; call <= kCrowdCalls + kCrowdFirstCalls; ++call)
    PlayCall(crowd, call, (int)processes, self);
  const double took = (Now() - start) / kCrowdCalls * 1e6;
  if (self != 0) _exit(0);
  while (wait(NULL) > 0) continue;
  free(blocks_out);
  munmap(crowd, bytes);
  return took;
}

/* Memory of two processes, bound to a processor each, that play the even and the odd ranks. */
struct Two {
  struct Line line;
  _Alignas(64) atomic_int denied; /* the kernel refuses to copy from one to the other */
  pid_t pids[2];
};
static struct Two* two;
static size_t block_ranks;

/* Copies the block that rank `from` has for rank `to`. */
static void Give(size_t from, size_t to, int from_end) {
  const size_t out_row = block_stride > 0 ? block_stride * block_ranks : block_bytes;
  char* const block = blocks_out + from / 2 * out_row + to * block_stride;
  char* const place = blocks_in + (to / 2 * block_ranks + from) * block_bytes;
  if (from == to) {
    memcpy(place, block, block_bytes);
    return;
  }
  const size_t piece = from_end && block_bytes > kPieceBytes ? kPieceBytes : block_bytes;
  for (size_t rest = block_bytes; rest >= piece; rest -= piece) { /* both are powers of two */
    const struct iovec here = {block + rest - piece, piece}, there = {place + rest - piece, piece};
    if (process_vm_writev(two->pids[to % 2], &here, 1, &there, 1, 0) < 0)
      atomic_store(&two->denied, 1);
  }
}

/* Every second call goes in the opposite order, so that it begins with what the cache still has. */
static void GiveAll(size_t self, int from_end) {
  for (size_t i = 0; i < block_ranks / 2; ++i) {
    const size_t from = 2 * (from_end ? block_ranks / 2 - 1 - i : i) + self;
    for (size_t j = 0; j < block_ranks; ++j) {
      const size_t step = from_end ? block_ranks - 1 - j : j;
      Give(from, (from + step) % block_ranks, from_end);
    }
  }
}

/* Returns the microseconds that the long blocks of all ranks take if no process waits for another
 * or for a processor. The kernel copies each block once, and the own one is a memcpy. Buffers lie
 * in huge pages if there are any. */
static double BlocksUs(size_t ranks) {
  if (ranks < 2 || ranks % 2 != 0) return -1;
  const size_t bytes = block_bytes * ranks * (ranks / 2);
  const size_t calls = kBlocksBytes / bytes < 8 ? 8 : kBlocksBytes / bytes;
  int met = 0;
  block_ranks = ranks;
  two = mmap(NULL, sizeof *two, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const size_t room = (2 * bytes + kHugeBytes - 1) / kHugeBytes * kHugeBytes;
  blocks_out = aligned_alloc(kHugeBytes, room);
  madvise(blocks_out, room, MADV_HUGEPAGE);
  blocks_in = blocks_out + bytes;
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  const int self = fork() == 0;
  two->pids[self] = getpid();
  Pin(self);
  memset(blocks_out, self, 2 * bytes);
  PlayLine(&two->line, self, 1, &met);
  for (int call = 0; call < 2; ++call) GiveAll((size_t)self, call);
  const double start = Now();
  for (size_t call = 0; call < calls; ++call) GiveAll((size_t)self, call % 2 != 0);
  const double took = (Now() - start) / (double)calls * 1e6;
  PlayLine(&two->line, self, 1, &met); /* the other may write to this process until here */
  if (self != 0) _exit(0);
  wait(NULL);
  sched_setaffinity(0, sizeof before, &before);
  const int denied = atomic_load(&two->denied);
  free(blocks_out);
  munmap(two, sizeof *two);
  return denied ? -1 : took;
}

/* Each rank has a block of `bytes` for each other rank, or the same block for all. */
static double BlocksMedian(int ranks, size_t bytes, int same) {
  crowd_play = kBlocks;
  block_bytes = bytes;
  block_stride = same ? 0 : bytes;
  return Median(bytes <= kShortBytesMax ? CrowdUs : BlocksUs, (size_t)ranks);
}

static double CrowdMedian(enum Play play, int processes, size_t bytes) {
  crowd_play = play;
  block_bytes = 0;
  told_bytes = bytes;
  return Median(CrowdUs, (size_t)processes);
}

static double ForkMs(size_t unused) {
  (void)unused;
  const double start = Now();
  for (int i = 0; i < kForks; ++i) {
    char* const argv[] = {"true", NULL};
    pid_t child = 0;
    int status = 0;
    if (posix_spawnp(&child, "true", NULL, NULL, argv, environ) != 0) return -1;
    waitpid(child, &status, 0);
  }
  return (Now() - start) / kForks * 1e3;
}

static int sockets[2];
static size_t socket_bytes;

/* Moves all bytes, however many calls that takes. */
static void Pass(int fd, char* bytes, size_t count, ssize_t (*call)(int, char*, size_t)) {
  while (count > 0) {
    const ssize_t moved = call(fd, bytes, count);
    if (moved <= 0) exit(1);
    bytes += moved;
    count -= (size_t)moved;
  }
}
static ssize_t Put(int fd, char* bytes, size_t count) { return send(fd, bytes, count, 0); }
/* Polls and does not sleep, as an MPI does. */
static ssize_t Take(int fd, char* bytes, size_t count) {
  ssize_t got;
  do got = recv(fd, bytes, count, MSG_DONTWAIT);
  while (got < 0 && errno == EAGAIN);
  return got;
}

static void* Echo(void* unused) {
  Pin(1);
  char* bytes = malloc(socket_bytes);
  for (int i = 0; i < kSocketPings; ++i) {
    Pass(sockets[1], bytes, socket_bytes, Take);
    Pass(sockets[1], bytes, socket_bytes, Put);
  }
  free(bytes);
  return unused;
}

static const char* networks[2]; /* null stands for this process's own network */
static const char* socket_address = "127.0.0.1";

/* Makes the sockets that this thread opens from now on belong to network `n`. */
static void Enter(int n) {
  if (networks[n] == NULL) return;
  const int network = open(networks[n], O_RDONLY | O_CLOEXEC);
  if (network < 0 || setns(network, CLONE_NEWNET) != 0) {
    perror(networks[n]);
    exit(1);
  }
  close(network);
}

/* Returns the time of one way over TCP, on the loopback device or between two networks. */
static double SocketUs(size_t bytes) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_addr.s_addr = inet_addr(socket_address)};
  socklen_t address_bytes = sizeof address;
  Enter(0);
  const int one = 1, door = socket(AF_INET, SOCK_STREAM, 0);
  Enter(1);
  sockets[0] = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(door, (struct sockaddr*)&address, sizeof address) != 0 || listen(door, 1) != 0 ||
      getsockname(door, (struct sockaddr*)&address, &address_bytes) != 0 ||
      connect(sockets[0], (struct sockaddr*)&address, sizeof address) != 0)
    return -1;
  sockets[1] = accept(door, NULL, NULL);
  for (int i = 0; i < 2; ++i) setsockopt(sockets[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  socket_bytes = bytes;
  pthread_t thread;
  if (pthread_create(&thread, NULL, Echo, NULL) != 0) return -1;
  Pin(0);
  char* buffer = calloc(1, bytes);
  const double start = Now();
  for (int i = 0; i < kSocketPings; ++i) {
    Pass(sockets[0], buffer, bytes, Put);
    Pass(sockets[0], buffer, bytes, Take);
  }
  const double took = Now() - start;
  pthread_join(thread, NULL);
  sched_setaffinity(0, sizeof before, &before);
  free(buffer);
  close(sockets[0]);
  close(sockets[1]);
  close(door);
  return took / kSocketPings / 2 * 1e6;
}

static void* Compute(void* unused) {
  while (Now() > 0) continue;
  return unused;
}

static int asked_are_busy;

/* Returns the microseconds of six rounds in which this process asks so many others by a byte
 * through a pipe, and each answers by one. They wait asleep, or compute in another thread
 * meanwhile. */
static double AskUs(size_t processes) {
  int asks[kAskedMax][2], answers[2];
  char byte = 0;
  if (processes < 1 || processes > kAskedMax || pipe(answers) != 0) return -1;
  for (size_t i = 0; i < processes; ++i) {
    pthread_t thread;
    if (pipe(asks[i]) != 0) return -1;
    const pid_t child = fork();
    if (child < 0) exit(1);
    if (child > 0) {
      close(asks[i][0]);
      continue;
    }
    for (size_t earlier = 0; earlier <= i; ++earlier) close(asks[earlier][1]);
    if (asked_are_busy && pthread_create(&thread, NULL, Compute, NULL) != 0) _exit(1);
    while (read(asks[i][0], &byte, 1) == 1 && write(answers[1], &byte, 1) == 1) continue;
    _exit(0);
  }
  double start = 0;
  for (int question = 0; question <= kQuestions; ++question) {
    if (question == 1) start = Now(); /* all have been started */
    for (size_t i = 0; i < processes; ++i)
      if (write(asks[i][1], &byte, 1) != 1) exit(1);
    for (size_t i = 0; i < processes; ++i)
      if (read(answers[0], &byte, 1) != 1) exit(1);
  }
  const double took = Now() - start;
  for (size_t i = 0; i < processes; ++i) close(asks[i][1]);
  while (wait(NULL) > 0) continue;
  close(answers[0]);
  close(answers[1]);
  return took * 1e6;
}

/* Returns the value of a line, or -1 if there is no such line or this machine cannot measure it. */
static double Measure(const char* line) {
  char what[16] = "";
  int processes = 0;
  size_t bytes = 0;
  if (sscanf(line, "tell:%d:%zu", &processes, &bytes) >= 1)
    return bytes <= kShortBytesMax ? CrowdMedian(kTell, processes, bytes) : -1;
  if (sscanf(line, "meet:%d", &processes) == 1) return CrowdMedian(kMeet, processes, 0);
  if (sscanf(line, "alltoall:%d:%zu", &processes, &bytes) == 2)
    return BlocksMedian(processes, bytes, 0);
  if (sscanf(line, "allgather:%d:%zu", &processes, &bytes) == 2)
    return BlocksMedian(processes, bytes, 1);
  asked_are_busy = strncmp(line, "ask-busy:", 9) == 0;
  if (sscanf(line, "ask:%zu", &bytes) == 1 || sscanf(line, "ask-busy:%zu", &bytes) == 1)
    return Median(AskUs, bytes);
  sscanf(line, "%15[^:]:%zu", what, &bytes);
  if (strcmp(what, "line") == 0) return Median(LineUs, 0);
  if (strcmp(what, "post") == 0 && bytes <= kPostBytesMax) return Median(LineUs, bytes);
  if (strcmp(what, "copy") == 0 && bytes > 0) return Median(CopyUs, bytes);
  if (strcmp(what, "add") == 0) return Median(WordUs, 1);
  if (strcmp(what, "order") == 0) return Median(WordUs, 0);
  if (strcmp(what, "socket") == 0 || strcmp(what, "hosts") == 0) return Median(SocketUs, bytes);
  if (strcmp(what, "fork") == 0) return Median(ForkMs, 0);
  return -1;
}

int main(int argc, char** argv) {
  int first = 1;
  if (argc > 4 && strcmp(argv[1], "hosts") == 0) {
    networks[0] = argv[2];
    networks[1] = argv[3];
    socket_address = argv[4];
    first = 5;
  }
  for (int i = first; i < argc; ++i) printf("%s %.4g\n", argv[i], Measure(argv[i]));
  return 0;
}
