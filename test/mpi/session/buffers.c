/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: a buffer attached to a session serves buffered sends in its communicators that have none of
 * their own; it is flushed, detached with what was attached, and checked (MPI-5.0, section 3.6.1).
 */
#include <stdlib.h>

#include "test/mpi/session/session.h"

#define MESSAGES 20
#define WORDS 20000 /* too long to go at once */

static int words[MESSAGES][WORDS], in[WORDS];

int main(void) {
  MPI_Session session = Open(), none = MPI_SESSION_NULL;
  MPI_Comm world = CommOf(session, "mpi://WORLD", "buffers"), twin;
  MPI_Request request;
  const int room = (int)(MESSAGES * (sizeof words[0] + MPI_BSEND_OVERHEAD));
  char* buffer = malloc((size_t)room);
  void* got = NULL;
  MPI_Count wide = 0;
  int size = 0, i, next = (RankIn(world) + 1) % SizeOf(world);
  int before = (RankIn(world) + SizeOf(world) - 1) % SizeOf(world);

  EXPECT(MPI_Session_attach_buffer(session, buffer, room) == MPI_SUCCESS);
  EXPECT(ClassOf(MPI_Session_attach_buffer(session, buffer, room)) == MPI_ERR_BUFFER);
  MPI_Comm_dup(world, &twin); /* belongs to the session, too */
  for (i = 0; i < MESSAGES; ++i) {
    words[i][0] = words[i][WORDS - 1] = i;
    EXPECT(MPI_Bsend(words[i], WORDS, MPI_INT, next, i, i % 2 ? world : twin) == MPI_SUCCESS);
    words[i][0] = words[i][WORDS - 1] = -1;
  }
  EXPECT(MPI_Session_iflush_buffer(session, &request) == MPI_SUCCESS);
  for (i = 0; i < MESSAGES; ++i) {
    MPI_Recv(in, WORDS, MPI_INT, before, i, i % 2 ? world : twin, MPI_STATUS_IGNORE);
    EXPECT(in[0] == i && in[WORDS - 1] == i);
  }
  EXPECT(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  EXPECT(MPI_Session_flush_buffer(session) == MPI_SUCCESS);
  EXPECT(MPI_Session_detach_buffer(session, &got, &size) == MPI_SUCCESS);
  EXPECT(got == buffer && size == room);
  EXPECT(MPI_Session_attach_buffer_c(session, buffer, room) == MPI_SUCCESS);
  EXPECT(MPI_Session_detach_buffer_c(session, &got, &wide) == MPI_SUCCESS);
  EXPECT(got == buffer && wide == room);
  EXPECT(MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, 0) == MPI_SUCCESS);
  words[0][0] = 77;
  EXPECT(MPI_Bsend(words[0], WORDS, MPI_INT, next, 0, world) == MPI_SUCCESS);
  MPI_Recv(in, WORDS, MPI_INT, before, 0, world, MPI_STATUS_IGNORE);
  EXPECT(in[0] == 77);
  EXPECT(MPI_Session_detach_buffer(session, &got, &size) == MPI_SUCCESS);
  EXPECT(got == MPI_BUFFER_AUTOMATIC);

  EXPECT(ClassOf(MPI_Session_attach_buffer(session, buffer, -1)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Session_attach_buffer_c(session, NULL, 5)) == MPI_ERR_BUFFER);
  EXPECT(ClassOf(MPI_Session_detach_buffer(session, NULL, &size)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Session_iflush_buffer(session, NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Session_attach_buffer(none, buffer, room)) == MPI_ERR_SESSION);
  EXPECT(ClassOf(MPI_Session_attach_buffer_c(none, buffer, room)) == MPI_ERR_SESSION);
  EXPECT(ClassOf(MPI_Session_detach_buffer(none, &got, &size)) == MPI_ERR_SESSION);
  EXPECT(ClassOf(MPI_Session_detach_buffer_c(none, &got, &wide)) == MPI_ERR_SESSION);
  EXPECT(ClassOf(MPI_Session_flush_buffer(none)) == MPI_ERR_SESSION);
  EXPECT(ClassOf(MPI_Session_iflush_buffer(none, &request)) == MPI_ERR_SESSION);
  MPI_Comm_free(&twin);
  MPI_Comm_free(&world);
  MPI_Session_finalize(&session);
  free(buffer);
  return failures != 0;
}
