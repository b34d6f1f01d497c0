/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: errors of a session go to its error handler, wrong arguments are found
 * (MPI-5.0, sections 11.3 and 9.3.4).
 */
#include "test/mpi/session/session.h"

static int calls = 0, last = 0;
static MPI_Session seen = MPI_SESSION_NULL;
static void Handler(MPI_Session* session, int* code, ...) {
  ++calls;
  last = *code;
  seen = *session;
}
static int comm_calls = 0;
static void CommHandler(MPI_Comm* comm, int* code, ...) {
  comm_calls += *comm == MPI_COMM_NULL && ClassOf(*code) == MPI_ERR_ARG;
}

int main(void) {
  MPI_Session session = Open(), none = MPI_SESSION_NULL, copy;
  MPI_Errhandler mine, got, other;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Info info;
  MPI_Comm comm = MPI_COMM_NULL;
  int value = 0, length = 10;
  char name[10];

  /* Section 11.3.1: a value of a reserved key must be one that the standard has. */
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level", "MPI_THREAD_PLENTY");
  EXPECT(ClassOf(MPI_Session_init(info, MPI_ERRORS_RETURN, &copy)) == MPI_ERR_INFO_VALUE);
  MPI_Info_free(&info);

  MPI_Session_get_errhandler(session, &got);
  EXPECT(got == MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&got);
  EXPECT(ClassOf(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 1000, &length, name)) ==
         MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, -1, &length, name)) ==
         MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Session_get_pset_info(session, "no://such", &info)) == MPI_ERR_ARG);
  EXPECT(MPI_Group_from_session_pset(session, "no://such", &group) == MPI_SUCCESS);
  EXPECT(group == MPI_GROUP_NULL);
  EXPECT(ClassOf(MPI_Session_get_num_psets(session, MPI_INFO_NULL, NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Session_get_info(session, NULL)) == MPI_ERR_ARG);

  MPI_Session_create_errhandler(Handler, &mine);
  EXPECT(MPI_Session_set_errhandler(session, mine) == MPI_SUCCESS);
  MPI_Session_get_errhandler(session, &got);
  EXPECT(got == mine);
  MPI_Errhandler_free(&got);
  MPI_Errhandler_free(&mine);
  EXPECT(mine == MPI_ERRHANDLER_NULL);
  MPI_Session_get_pset_info(session, "no://such", &info);
  EXPECT(calls == 1 && seen == session && ClassOf(last) == MPI_ERR_ARG);
  EXPECT(MPI_Session_call_errhandler(session, MPI_ERR_OTHER) == MPI_SUCCESS);
  EXPECT(calls == 2 && last == MPI_ERR_OTHER);
  MPI_Comm_create_errhandler(CommHandler, &other);
  EXPECT(ClassOf(MPI_Session_set_errhandler(session, other)) == MPI_ERR_ERRHANDLER);
  MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);

  /* Without an object the initial handler is called, which returns here. */
  EXPECT(ClassOf(MPI_Session_get_info(none, &info)) == MPI_ERR_SESSION);
  EXPECT(ClassOf(MPI_Session_finalize(&none)) == MPI_ERR_SESSION);
  EXPECT(ClassOf(MPI_Session_get_num_psets(none, MPI_INFO_NULL, &value)) == MPI_ERR_SESSION);
  EXPECT(ClassOf(MPI_Session_get_nth_pset(none, MPI_INFO_NULL, 0, &length, name)) ==
         MPI_ERR_SESSION);
  EXPECT(ClassOf(MPI_Session_set_errhandler(none, MPI_ERRORS_RETURN)) == MPI_ERR_SESSION);
  EXPECT(ClassOf(MPI_Session_get_errhandler(none, &got)) == MPI_ERR_SESSION);
  EXPECT(ClassOf(MPI_Session_call_errhandler(none, MPI_ERR_OTHER)) == MPI_ERR_SESSION);
  EXPECT(ClassOf(MPI_Group_from_session_pset(none, "mpi://WORLD", &group)) == MPI_ERR_SESSION);
  EXPECT(ClassOf(MPI_Session_init(MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &none)) ==
         MPI_ERR_ERRHANDLER);
  EXPECT(ClassOf(MPI_Comm_create_from_group(MPI_GROUP_NULL, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                            &comm)) == MPI_ERR_GROUP);
  EXPECT(ClassOf(MPI_Intercomm_create_from_groups(MPI_GROUP_NULL, 0, MPI_GROUP_EMPTY, 0, "x",
                                                  MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm)) ==
         MPI_ERR_GROUP);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  EXPECT(ClassOf(MPI_Comm_create_from_group(group, NULL, MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                            &comm)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Comm_create_from_group(group, "x", MPI_INFO_NULL, MPI_ERRHANDLER_NULL,
                                            &comm)) == MPI_ERR_ERRHANDLER);
  EXPECT(ClassOf(MPI_Comm_create_from_group(group, NULL, MPI_INFO_NULL, other, &comm)) ==
             MPI_ERR_ARG &&
         comm_calls == 1);
  EXPECT(ClassOf(MPI_Intercomm_create_from_groups(group, 0, group, 0, NULL, MPI_INFO_NULL, other,
                                                  &comm)) == MPI_ERR_ARG &&
         comm_calls == 2);
  MPI_Errhandler_free(&other);
  EXPECT(comm == MPI_COMM_NULL);
  MPI_Group_free(&group);
  EXPECT(ClassOf(MPI_Comm_size(MPI_COMM_WORLD, &value)) == MPI_ERR_COMM);

  copy = session;
  MPI_Session_finalize(&session);
  EXPECT(session == MPI_SESSION_NULL);
  EXPECT(ClassOf(MPI_Session_get_info(copy, &info)) == MPI_ERR_SESSION);
  return failures != 0;
}
