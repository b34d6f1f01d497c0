/* SPDX-License-Identifier: BSD-3-Clause
 * Programs that never call MPI_Init include this: EXPECT without MPI_COMM_WORLD, and what all of
 * them do.
 */
#ifndef LAMINA_TEST_MPI_SESSION_H
#define LAMINA_TEST_MPI_SESSION_H

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

static inline void Expect(int holds, const char* file, int line, const char* expression) {
  if (holds) return;
  ++failures;
  fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, expression);
}
#define EXPECT(expression) Expect((expression) ? 1 : 0, __FILE__, __LINE__, #expression)

static inline int ClassOf(int code) {
  int error_class = -1;
  MPI_Error_class(code, &error_class);
  return error_class;
}
static inline int SizeOf(MPI_Comm comm) {
  int value;
  MPI_Comm_size(comm, &value);
  return value;
}
static inline int RankIn(MPI_Comm comm) {
  int value;
  MPI_Comm_rank(comm, &value);
  return value;
}
/* Every member adds one. */
static inline int Sum(MPI_Comm comm) {
  int one = 1, sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}
static inline MPI_Session Open(void) {
  MPI_Session session = MPI_SESSION_NULL;
  EXPECT(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
  return session;
}
static inline MPI_Comm CommOf(MPI_Session session, const char* set, const char* tag) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  EXPECT(MPI_Group_from_session_pset(session, set, &group) == MPI_SUCCESS);
  EXPECT(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) ==
         MPI_SUCCESS);
  MPI_Group_free(&group);
  return comm;
}

#endif
