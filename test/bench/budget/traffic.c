/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends a known number of messages with nothing else around them, so that tools can count.
 *
 * usage: mpiexec -n 2 traffic FOLDER CASE        CASE: send receive posted wait long peers code
 *
 * Rank 0 sends and rank 1 receives. They never wait for each other inside MPI while it counts: two
 * named pipes in FOLDER (`there` and `back`) tell when the other is done. So neither spins, sleeps
 * or polls in vain, and the counts do not depend on timing. Counting starts and stops by
 * callgrind's switch and by two impossible system calls, which are found in strace's output. This
 * program counts allocations itself, with a malloc in front of the C library's. It prints
 * `allocations N`. */
#include <fcntl.h>
#include <fnmatch.h>
#include <malloc.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

enum { kMessages = 32, kLongBytes = 1 << 16, kMarkerBegin = -77, kMarkerEnd = -78 };

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void*, size_t), *__libc_memalign(size_t, size_t);

static int counting;
static long allocations;
static long allocated_bytes; /* bytes asked for and not given back */

static void* Counted(void* block) {
  if (counting) ++allocations;
  if (block != NULL) allocated_bytes += (long)malloc_usable_size(block);
  return block;
}

__attribute__((visibility("default"))) void* malloc(size_t bytes) {
  return Counted(__libc_malloc(bytes));
}
__attribute__((visibility("default"))) void* calloc(size_t count, size_t bytes) {
  return Counted(__libc_calloc(count, bytes));
}
__attribute__((visibility("default"))) void* realloc(void* old, size_t bytes) {
  if (old != NULL) allocated_bytes -= (long)malloc_usable_size(old);
  return Counted(__libc_realloc(old, bytes));
}
__attribute__((visibility("default"))) void* aligned_alloc(size_t alignment, size_t bytes) {
  return Counted(__libc_memalign(alignment, bytes));
}
__attribute__((visibility("default"))) int posix_memalign(void** out, size_t alignment,
                                                          size_t bytes) {
  *out = Counted(__libc_memalign(alignment, bytes));
  return *out == NULL;
}
extern void __libc_free(void*);
__attribute__((visibility("default"))) void free(void* block) {
  if (block != NULL) allocated_bytes -= (long)malloc_usable_size(block);
  __libc_free(block);
}

static int rank, there, back;
static char buffers[kMessages][kLongBytes];

static void Tell(int pipe) {
  if (write(pipe, "x", 1) != 1) _exit(9);
}
static void Hear(int pipe) {
  char byte;
  if (read(pipe, &byte, 1) != 1) _exit(9);
}

static void Begin(void) {
  close(kMarkerBegin);
  counting = 1;
  CALLGRIND_TOGGLE_COLLECT;
}
static void End(void) {
  CALLGRIND_TOGGLE_COLLECT;
  counting = 0;
  close(kMarkerEnd);
}

static void SendAll(int bytes) {
  for (int i = 0; i < kMessages; ++i) MPI_Send(buffers[i], bytes, MPI_BYTE, 1, i, MPI_COMM_WORLD);
}

static void PostAll(int bytes, MPI_Request* requests) {
  for (int i = 0; i < kMessages; ++i) {
    MPI_Irecv(buffers[i], bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD, &requests[i]);
  }
}

static void ReceiveAll(int bytes) {
  for (int i = 0; i < kMessages; ++i) {
    MPI_Recv(buffers[i], bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* Sends one burst of short messages; `measured` says which side's part counts. */
static void Burst(const char* which, int measured) {
  MPI_Request requests[kMessages];
  const int early = strcmp(which, "receive") != 0 && strcmp(which, "send") != 0;
  if (rank == 0) {
    Hear(back);
    if (measured && strcmp(which, "send") == 0) {
      Begin();
      SendAll(8);
      End();
    } else {
      SendAll(8);
    }
    Tell(there);
    Hear(back);
    return;
  }
  if (measured && strcmp(which, "posted") == 0) {
    Begin();
    PostAll(8, requests);
    End();
  } else if (early) {
    PostAll(8, requests);
  }
  Tell(back);
  Hear(there);
  if (measured && strcmp(which, "wait") == 0) {
    Begin();
    MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE);
    End();
  } else if (early) {
    MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE);
  } else if (measured && strcmp(which, "receive") == 0) {
    Begin();
    ReceiveAll(8);
    End();
  } else {
    ReceiveAll(8);
  }
  Tell(back);
}

/* Long messages need both sides at once, so only their allocations are of use. */
static void Long(int measured) {
  if (measured) Begin();
  if (rank == 0) SendAll(kLongBytes);
  if (rank == 1) ReceiveAll(kLongBytes);
  if (measured) End();
}

/* Returns the resident bytes that this process maps with these permissions from a file of this
 * name. */
static long ResidentBytes(const char* pattern, const char* name) {
  char line[512];
  long sum = 0, kilobytes = 0;
  int wanted = 0;
  FILE* file = fopen("/proc/self/smaps", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    char permissions[8] = "";
    if (sscanf(line, "%*x-%*x %7s", permissions) == 1)
      wanted = fnmatch(pattern, permissions, 0) == 0 && strstr(line, name) != NULL;
    if (wanted && sscanf(line, "Rss: %ld kB", &kilobytes) == 1) sum += kilobytes * 1024;
  }
  if (file != NULL) fclose(file);
  return sum;
}

/* Returns the bytes that speaking to another rank for the first time costs, for each peer. */
static void Peers(int ranks) {
  const long shared_before = ResidentBytes("???s", "");
  const long heap_before = allocated_bytes;
  for (int peer = 0; peer < ranks; ++peer) {
    if (peer == rank) continue;
    MPI_Sendrecv(buffers[0], 8, MPI_BYTE, peer, 1, buffers[1], 8, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
  const long heap = allocated_bytes - heap_before;
  const long shared = ResidentBytes("???s", "") - shared_before;
  if (rank != 0) return;
  printf("heap_bytes_per_peer %ld\nshared_bytes_per_peer %ld\n", heap / (ranks - 1),
         shared / (ranks - 1));
}

int main(int argc, char** argv) {
  int ranks = 0;
  char path[4096];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 3 || ranks < 2) MPI_Abort(MPI_COMM_WORLD, 2);
  snprintf(path, sizeof path, "%s/there", argv[1]);
  there = open(path, O_RDWR);
  snprintf(path, sizeof path, "%s/back", argv[1]);
  back = open(path, O_RDWR);
  if (there < 0 || back < 0) MPI_Abort(MPI_COMM_WORLD, 3);

  if (strcmp(argv[2], "peers") == 0) {
    Peers(ranks);
  } else if (strcmp(argv[2], "code") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("code_bytes %ld\n", ResidentBytes("r-xp", "libmpi_abi"));
  } else {
    for (int turn = 0; turn < 3; ++turn) { /* two to warm up: connections, pools */
      if (strcmp(argv[2], "long") == 0) {
        Long(turn == 2);
      } else {
        Burst(argv[2], turn == 2);
      }
    }
    printf("allocations %ld\n", allocations);
  }
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
