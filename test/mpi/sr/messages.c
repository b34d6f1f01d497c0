/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   messages of lamina/sr.h arrive whole and in order, the wanted types first; memory comes
 * from the caller; mistakes change nothing; all nodes leave with the largest code. Method: every
 * node sends to the next one, with one node to itself. Arguments: "watch" has a thread look for
 * messages; "started" starts MPI before; "exit N" has node N call for the exit, others while they
 * wait.
 */
#include <lamina/sr.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kTask, kAnswer, kLong, kRounds = 200, kLongBytes = 3 << 20 };

static int failures, id, nodes;
#define EXPECT(expression)                                                                       \
  do {                                                                                           \
    if (expression) break;                                                                       \
    ++failures;                                                                                  \
    fprintf(stderr, "%s:%d: node %d: does not hold: %s\n", __FILE__, __LINE__, id, #expression); \
  } while (0)

static char room[kLongBytes];
static size_t room_bytes = sizeof room;
static void* Place(void* context, size_t bytes) {
  ++*(int*)context;
  return bytes <= room_bytes ? room : NULL;
}
static int asked; /* how often Place was called */

static lamina_sr_message Get(unsigned types) {
  lamina_sr_message message;
  EXPECT(lamina_sr_receive(types, LAMINA_SR_WAIT, Place, &asked, &message) == MPI_SUCCESS);
  return message;
}

static void Put(int node, int type, int value) {
  int* const buffer = lamina_sr_alloc(100);
  *buffer = value;
  EXPECT(lamina_sr_send(buffer, node, sizeof value, type) == MPI_SUCCESS);
}

/* Types that are not wanted keep their order. */
static void Order(void) {
  const int next = (id + 1) % nodes;
  lamina_sr_message message;
  for (int i = 0; i < kRounds; ++i) Put(next, i % 2 ? kAnswer : kTask, i);
  for (int i = 1; i < kRounds; i += 2) {
    message = Get(1u << kAnswer);
    EXPECT(message.type == kAnswer && message.bytes == sizeof(int) && message.data == room);
    EXPECT(message.node == (id + nodes - 1) % nodes);
    EXPECT(memcmp(room, &i, sizeof i) == 0);
  }
  EXPECT(*lamina_sr_arrived() != 0);
  for (int i = 0; i < kRounds; i += 2) {
    message = Get(LAMINA_SR_ALL);
    EXPECT(message.type == kTask && memcmp(room, &i, sizeof i) == 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(lamina_sr_receive(LAMINA_SR_ALL, LAMINA_SR_LOOK, Place, &asked, &message) == MPI_SUCCESS);
  EXPECT(message.type == LAMINA_SR_NONE);
  EXPECT(*lamina_sr_arrived() == 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* An empty message, one without room at first, and a long one of which a part is used. */
static void Sizes(void) {
  const int next = (id + 1) % nodes;
  lamina_sr_message message;
  char* buffer = lamina_sr_alloc(kLongBytes + 100);
  int wrong = 0;
  EXPECT(lamina_sr_send(NULL, next, 0, kTask) == MPI_SUCCESS);
  message = Get(LAMINA_SR_ALL);
  EXPECT(message.type == kTask && message.bytes == 0);
  for (int i = 0; i < kLongBytes; ++i) buffer[i] = (char)(i * 7 + id);
  EXPECT(lamina_sr_send(buffer, next, kLongBytes, kLong) == MPI_SUCCESS);
  room_bytes = 10;
  asked = 0;
  message = Get(LAMINA_SR_ALL);
  EXPECT(message.type == LAMINA_SR_NONE && message.bytes == kLongBytes && asked == 1);
  room_bytes = sizeof room;
  message = Get(LAMINA_SR_ALL);
  EXPECT(message.type == kLong && message.bytes == kLongBytes && asked == 2);
  for (int i = 0; i < kLongBytes; ++i) wrong += room[i] != (char)(i * 7 + message.node);
  EXPECT(wrong == 0);
}

/* More than a pool has room for, of every size about the ones where another way begins; every
   second one is taken first. */
static void Flood(void) {
  static const size_t kSizes[] = {1, 40, 511, 512, 513, 4031, 4032, 4033, 4096, 4097, 70000};
  enum { kFlood = 600, kKinds = sizeof kSizes / sizeof kSizes[0] };
  const int next = (id + 1) % nodes;
  for (int i = 0; i < kFlood; ++i) {
    const size_t bytes = kSizes[i % kKinds];
    char* const buffer = lamina_sr_alloc(bytes);
    memset(buffer, i + id, bytes);
    EXPECT(lamina_sr_send(buffer, next, bytes, i % 2 ? kAnswer : kTask) == MPI_SUCCESS);
  }
  for (int turn = 0; turn < 2; ++turn)
    for (int i = 1 - turn; i < kFlood; i += 2) {
      const lamina_sr_message message = Get(1u << (turn ? kTask : kAnswer));
      const char first = (char)(i + message.node);
      EXPECT(message.bytes == kSizes[i % kKinds] && room[0] == first);
      EXPECT(memcmp(room, room + 1, message.bytes - 1) == 0);
    }
}

static void Mistakes(void) {
  char* const buffer = lamina_sr_alloc(8);
  lamina_sr_message message;
  lamina_sr_config again = {0};
  EXPECT(lamina_sr_send(buffer, nodes, 8, kTask) == MPI_ERR_RANK);
  EXPECT(lamina_sr_send(buffer, -1, 8, kTask) == MPI_ERR_RANK);
  EXPECT(lamina_sr_send(buffer, id, 8, LAMINA_SR_TYPES) == MPI_ERR_TAG);
  EXPECT(lamina_sr_send(buffer, id, 8, -1) == MPI_ERR_TAG);
  EXPECT(lamina_sr_send(buffer, id, 9, kTask) == MPI_ERR_COUNT);
  EXPECT(lamina_sr_send(NULL, id, 1, kTask) == MPI_ERR_COUNT);
  EXPECT(lamina_sr_receive(0, LAMINA_SR_LOOK, NULL, NULL, &message) == MPI_ERR_ARG);
  EXPECT(lamina_sr_receive(0, LAMINA_SR_LOOK, Place, NULL, NULL) == MPI_ERR_ARG);
  EXPECT(lamina_sr_init(&again) == MPI_ERR_OTHER);
  EXPECT(lamina_sr_init(NULL) == MPI_ERR_ARG);
  lamina_sr_free(buffer);
  lamina_sr_free(NULL);
}

/* A node that computes sees that a message has come. */
static void Arrival(void) {
  Put((id + 1) % nodes, kTask, 1);
  while (__atomic_load_n(lamina_sr_arrived(), __ATOMIC_ACQUIRE) == 0) {
  }
  EXPECT(Get(LAMINA_SR_ALL).type == kTask);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* The exit ends MPI as well, whoever has started it. */
static void IsFinalized(void) {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized) _exit(9);
}

static void Ready(void* context) { *(int*)context = 1; }

int main(int argc, char** argv) {
  int ready = 0, first = 0;
  lamina_sr_config config = {0};
  lamina_sr_message early;
  EXPECT(lamina_sr_receive(0, LAMINA_SR_LOOK, Place, NULL, &early) == MPI_ERR_OTHER);
  EXPECT(lamina_sr_send(NULL, 0, 0, 0) == MPI_ERR_OTHER);
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "watch") == 0) config.watches = 1;
    if (strcmp(argv[i], "started") == 0) MPI_Init(NULL, NULL);
    if (strcmp(argv[i], "exit") == 0) first = atoi(argv[++i]);
  }
  atexit(IsFinalized);
  config.ready = Ready;
  config.context = &ready;
  EXPECT(lamina_sr_init(&config) == MPI_SUCCESS);
  id = config.my_id;
  nodes = config.nodes;
  EXPECT(ready == 1 && config.is_host == (id == 0) && config.host_id == 0);
  EXPECT(config.buffer_bytes > 1000 && config.exit_seconds == 60);
  Order();
  Sizes();
  for (int i = 0; i < 3; ++i) Flood();
  Mistakes();
  if (config.watches) Arrival();
  if (failures > 0) lamina_sr_abort("something does not hold");
  /* The news of an exit always passes, so nobody may begin it while others want their messages. */
  MPI_Barrier(MPI_COMM_WORLD);
  /* Messages that nobody receives do not keep anybody. */
  lamina_sr_send(lamina_sr_alloc(kLongBytes), (id + 1) % nodes, kLongBytes, kLong);
  if (id == first % nodes) lamina_sr_exit(7);
  if (Get(0).type != LAMINA_SR_EXIT) lamina_sr_abort("this is not the exit");
  lamina_sr_exit(0);
}
