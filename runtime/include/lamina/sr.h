/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending and receiving for run-time systems of languages: messages have a type, their memory
   belongs to the library until it is received, and all nodes leave together.

   A node is a rank of MPI_COMM_WORLD; node 0 is the host. Types are 0 to 31. Every function but
   lamina_sr_exit and lamina_sr_abort returns an MPI error class, MPI_SUCCESS if all went well, and
   calls no error handler. One thread of a node calls them at a time.

     lamina_sr_init(&config);
     char* buffer = lamina_sr_alloc(config.buffer_bytes);
     lamina_sr_send(buffer, 1, fill(buffer), kTask);
     lamina_sr_receive(LAMINA_SR_ALL, LAMINA_SR_WAIT, place, heap, &message);
     if (message.type == LAMINA_SR_EXIT) lamina_sr_exit(0);

   Without mpiexec, and in a program that has one node, all of it works with that node alone. */
#ifndef LAMINA_SR_H
#define LAMINA_SR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  LAMINA_SR_TYPES = 32,
  LAMINA_SR_NONE = -1, /* no message */
  LAMINA_SR_EXIT = 32  /* some node has called lamina_sr_exit, and this one is to call it, too */
};
#define LAMINA_SR_ALL 0xffffffffu

enum { LAMINA_SR_LOOK = 0, LAMINA_SR_WAIT = 1 };

typedef struct lamina_sr_config {
  /* What the caller says; where it is zero, the user may say it (lamina_sr_options). */
  size_t buffer_bytes;          /* of a usual message; becomes 4096 less what travels in front */
  int watches;                  /* a thread sets lamina_sr_arrived as soon as a message comes */
  double exit_seconds;          /* how long lamina_sr_exit waits for others; becomes 60 */
  void (*out_of_memory)(void);  /* must not allocate; null: the node says so and aborts */
  void (*ready)(void* context); /* called last, when messages can be sent */
  void* context;
  /* What lamina_sr_init says. */
  int nodes, my_id, host_id, is_host;
} lamina_sr_config;

typedef struct lamina_sr_message {
  int node; /* who sent it */
  int type; /* or LAMINA_SR_NONE, LAMINA_SR_EXIT */
  size_t bytes;
  void* data; /* what `place` returned */
} lamina_sr_message;

/* Returns where a message of so many bytes, which has come, is to go, or null if it is to stay. It
   must not call functions of this header. */
typedef void* (*lamina_sr_place)(void* context, size_t bytes);

/* All nodes call it, once. It starts MPI unless that is up. MPI_ERR_OTHER: it was called before, or
   MPI has no threads and `watches` is set. MPI_ERR_NO_MEM: the system gave no thread. MPI_ERR_ARG:
   the user has given a parameter sr.* a value that it cannot have. */
int lamina_sr_init(lamina_sr_config* config);

/* What the user may say of all this: with `mpiexec --param sr.exit_ms=5000`, in the environment or
   in a file, as of all parameters of Lamina (lamina info --params). */
typedef struct lamina_sr_option {
  const char* name;
  const char* help;
  const char* value; /* that it has in this process */
} lamina_sr_option;

/* Sets *options to a list that stays for ever, and returns how many they are. It may be called at
   any time. */
int lamina_sr_options(const lamina_sr_option** options);

/* Returns memory for a message, which lamina_sr_send or lamina_sr_free takes back. Up to
   config.buffer_bytes other nodes of this host copy a message out of there themselves, while the
   parameter sr.pool_bytes says there is room. */
void* lamina_sr_alloc(size_t bytes);
void lamina_sr_free(void* buffer);

/* Sends the first `bytes` bytes of a buffer of lamina_sr_alloc, and frees it, now or later. With a
   null buffer the message is empty. It never waits for the receiver. MPI_ERR_RANK, MPI_ERR_TAG (the
   type), MPI_ERR_COUNT (more bytes than the buffer has): nothing is sent, and the buffer is still
   the caller's. */
int lamina_sr_send(void* buffer, int node, size_t bytes, int type);

/* Receives the first message that has one of the types whose bits are set in `types`; others stay,
   in their order. The news of an exit always passes. `wait` is LAMINA_SR_LOOK or LAMINA_SR_WAIT.
   LAMINA_SR_NONE: there is no such message, or `place` returned null; message->bytes then says
   what it has, so that the caller can make room and call again. */
int lamina_sr_receive(unsigned types, int wait, lamina_sr_place place, void* context,
                      lamina_sr_message* message);

/* Is not 0 when a message may wait, or, with `watches`, when one does. It becomes 0 when a call of
   lamina_sr_receive finds nothing that it did not know. A program may look at it often instead of
   calling. */
int* lamina_sr_arrived(void);

/* Ends all nodes: each has to call it, whoever was first, and MPI with it. Messages on their way
   are dropped. All exit with the largest `code`. If a node does not come within exit_seconds, the
   job is aborted. */
void lamina_sr_exit(int code) __attribute__((noreturn));

/* Says why and ends the job at once. It allocates nothing and may be called in a signal handler. */
void lamina_sr_abort(const char* text) __attribute__((noreturn));

#ifdef __cplusplus
}

#include <memory>

namespace lamina::sr {
struct Free {
  void operator()(void* buffer) const { lamina_sr_free(buffer); }
};
/* Memory of a message; release() it into lamina_sr_send. */
using Buffer = std::unique_ptr<void, Free>;
inline Buffer Allocate(size_t bytes) { return Buffer(lamina_sr_alloc(bytes)); }
}  // namespace lamina::sr
#endif

#endif
