/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a tool is told of a message that arrives unexpected and of a rendezvous that starts: at
 *         once if its callback may run inside the library, after the MPI call if it may call all of
 *         MPI (MPI-5.0, section 15.3.8; names and elements of the events are ours).
 * Method: messages to itself and to the next rank; the callbacks read the event in every way there
 *         is, and one of them sends a message of its own.
 */
#include <stdlib.h>

#include "test/mpi/tool/tool.h"

enum { kLongBytes = 1 << 20, kTag = 17 };

typedef struct {
  int calls, peer, tag, source;
  MPI_Count bytes, time;
  MPI_T_cb_safety safety;
} Heard;

static int rank, ranks;
static MPI_T_event_instance last_instance;

static void OnMessage(MPI_T_event_instance instance, MPI_T_event_registration registration,
                      MPI_T_cb_safety safety, void* user_data) {
  Heard* heard = user_data;
  struct {
    int peer, tag;
    MPI_Count bytes, context;
  } whole;
  MPI_Count number = 0;
  (void)registration;
  MPI_T_event_read(instance, 1, &whole.tag);
  if (whole.tag != kTag) return; /* of a collective operation */
  HOLDS(MPI_T_event_read(instance, 0, &heard->peer) == MPI_SUCCESS);
  HOLDS(MPI_T_event_read(instance, 1, &heard->tag) == MPI_SUCCESS);
  HOLDS(MPI_T_event_read(instance, 2, &heard->bytes) == MPI_SUCCESS);
  HOLDS(MPI_T_event_read(instance, 4, &number) == MPI_T_ERR_INVALID_INDEX);
  HOLDS(MPI_T_event_read(instance, -1, &number) == MPI_T_ERR_INVALID_INDEX);
  HOLDS(MPI_T_event_copy(instance, &whole) == MPI_SUCCESS);
  HOLDS(whole.peer == heard->peer && whole.tag == heard->tag && whole.bytes == heard->bytes);
  HOLDS(MPI_T_event_get_source(instance, &heard->source) == MPI_SUCCESS);
  HOLDS(MPI_T_event_get_timestamp(instance, &number) == MPI_SUCCESS);
  HOLDS(number >= heard->time);
  heard->time = number;
  heard->safety = safety;
  ++heard->calls;
  last_instance = instance;
}

/* Calls all of MPI. */
static void OnMessageAnswer(MPI_T_event_instance instance, MPI_T_event_registration registration,
                            MPI_T_cb_safety safety, void* user_data) {
  int value = 5, back = 0;
  MPI_Request request;
  OnMessage(instance, registration, safety, user_data);
  MPI_Irecv(&back, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
  MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  HOLDS(back == 5);
}

static MPI_T_event_registration Register(const char* name, MPI_T_cb_safety safety, Heard* heard,
                                         MPI_T_event_cb_function function) {
  MPI_T_event_registration registration = NULL;
  int index = -1;
  HOLDS_FOR(name, MPI_T_event_get_index(name, &index) == MPI_SUCCESS);
  HOLDS_FOR(name,
            MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration) == MPI_SUCCESS);
  HOLDS_FOR(name, MPI_T_event_register_callback(registration, safety, MPI_INFO_NULL, heard,
                                                function) == MPI_SUCCESS);
  return registration;
}

static void Unexpected(MPI_Comm comm) {
  Heard inside, after;
  int value = 1;
  MPI_Count ticks;
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  memset(&inside, 0, sizeof inside);
  memset(&after, 0, sizeof after);
  MPI_T_event_registration at_once =
      Register("p2p.message.unexpected", MPI_T_CB_REQUIRE_MPI_RESTRICTED, &inside, OnMessage);
  MPI_T_event_registration later =
      Register("p2p.message.unexpected", MPI_T_CB_REQUIRE_NONE, &after, OnMessageAnswer);
  MPI_Barrier(comm); /* all ranks listen */
  MPI_Send(&value, 1, MPI_INT, next, kTag, comm);
  MPI_Probe(before, kTag, comm, MPI_STATUS_IGNORE);
  HOLDS(inside.calls == 1 && inside.safety == MPI_T_CB_REQUIRE_MPI_RESTRICTED);
  HOLDS(inside.peer == before && inside.tag == kTag && inside.bytes == sizeof value);
  HOLDS(inside.source == 0);
  HOLDS(after.calls == 1 && after.safety == MPI_T_CB_REQUIRE_NONE);
  HOLDS(after.peer == before && after.tag == kTag && after.bytes == sizeof value);
  HOLDS(MPI_T_event_get_timestamp(last_instance, &ticks) == MPI_T_ERR_INVALID_HANDLE); /* over */
  MPI_Recv(&value, 1, MPI_INT, before, kTag, comm, MPI_STATUS_IGNORE);
  HOLDS(MPI_T_event_handle_free(at_once, NULL, NULL) == MPI_SUCCESS);
  HOLDS(MPI_T_event_handle_free(later, NULL, NULL) == MPI_SUCCESS);
  MPI_Barrier(comm); /* no rank listens any more */
  MPI_Send(&value, 1, MPI_INT, next, kTag, comm);
  MPI_Recv(&value, 1, MPI_INT, before, kTag, comm, MPI_STATUS_IGNORE);
  HOLDS(inside.calls == 1 && after.calls == 1);
}

static void Rendezvous(MPI_Comm comm) {
  Heard heard;
  MPI_Request request;
  char* out = calloc(1, kLongBytes);
  char* in = malloc(kLongBytes);
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  memset(&heard, 0, sizeof heard);
  MPI_T_event_registration registration =
      Register("p2p.message.rendezvous_started", MPI_T_CB_REQUIRE_THREAD_SAFE, &heard, OnMessage);
  MPI_Irecv(in, kLongBytes, MPI_BYTE, before, kTag, comm, &request);
  MPI_Send(out, 4, MPI_BYTE, next, kTag + 1, comm); /* short: none */
  HOLDS(heard.calls == 0);
  MPI_Send(out, kLongBytes, MPI_BYTE, next, kTag, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Recv(in, 4, MPI_BYTE, before, kTag + 1, comm, MPI_STATUS_IGNORE);
  HOLDS(heard.calls == 1 && heard.safety == MPI_T_CB_REQUIRE_THREAD_SAFE);
  HOLDS(heard.peer == next && heard.tag == kTag && heard.bytes == kLongBytes);
  HOLDS(MPI_T_event_handle_free(registration, NULL, NULL) == MPI_SUCCESS);
  free(in);
  free(out);
}

int main(int argc, char** argv) {
  int provided;
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  Unexpected(comm);
  Rendezvous(comm);
  MPI_Comm_free(&comm);
  MPI_T_finalize();
  MPI_Finalize();
  return Ended();
}
