/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a process that has sessions alone cannot spawn, connect or publish, and is told so, by
 * the handler of its communicator if the call has one; a child that has sessions alone keeps its
 * parents waiting for no longer than it lives. Method: the program is both: a process with MPI_Init
 * spawns it with an argument.
 */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "test/mpi/check.h"

static void AreOfClassOther(const int* errors, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    int error_class = -1;
    MPI_Error_class(errors[i], &error_class);
    if (error_class == MPI_ERR_OTHER) continue;
    fprintf(stderr, "call %zu: the class is %d\n", i, error_class);
    ++failures;
  }
}

/* Nothing but the communicator says that errors return. */
static void OnItsCommunicator(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm, inter;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://SELF", &group);
  MPI_Comm_create_from_group(group, "own", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  const int errors[] = {MPI_Comm_spawn("true", NULL, 1, MPI_INFO_NULL, 0, comm, &inter, NULL),
                        MPI_Comm_spawn_multiple(1, NULL, NULL, NULL, NULL, 0, comm, &inter, NULL),
                        MPI_Comm_accept("x", MPI_INFO_NULL, 0, comm, &inter),
                        MPI_Comm_connect("x", MPI_INFO_NULL, 0, comm, &inter)};
  AreOfClassOther(errors, sizeof errors / sizeof *errors);
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}

static void Alone(void) {
  MPI_Session session;
  MPI_Comm inter;
  char port[MPI_MAX_PORT_NAME];
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  const int errors[] = {
      MPI_Comm_spawn("true", NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, NULL),
      MPI_Comm_accept("x", MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter),
      MPI_Comm_connect("x", MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter),
      MPI_Comm_join(0, &inter),
      MPI_Open_port(MPI_INFO_NULL, port),
      MPI_Publish_name("x", MPI_INFO_NULL, "x"),
      MPI_Lookup_name("x", MPI_INFO_NULL, port),
      MPI_Unpublish_name("x", MPI_INFO_NULL, "x")};
  AreOfClassOther(errors, sizeof errors / sizeof *errors);
  MPI_Session_finalize(&session);
}

/* D15: what the children find is no reason for their parents to wait. */
static void SpawnInVain(const char* self, char* word, MPI_Info info) {
  char *words[] = {word, NULL}, text[MPI_MAX_ERROR_STRING];
  MPI_Comm inter;
  int length;
  const int error =
      MPI_Comm_spawn(self, words, 2, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
  EXPECT(ClassOf(error) == MPI_ERR_SPAWN);
  MPI_Error_string(error, text, &length);
  EXPECT(strstr(text, "have not called MPI_Init") != NULL);
}

int main(int argc, char** argv) {
  char self[4096] = "";
  MPI_Info info;
  if (argc > 1) {
    if (strcmp(argv[1], "comm") == 0)
      OnItsCommunicator();
    else
      Alone();
    return failures;
  }
  MPI_Init(&argc, &argv);
  self[readlink("/proc/self/exe", self, sizeof self - 1)] = '\0';
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  /* Without MPI_COMM_SELF nothing but this key keeps errors of calls without a communicator from
   * being fatal. */
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_initial_errhandler", "mpi_errors_return");
  SpawnInVain(self, "child", info);
  MPI_Info_free(&info);
  SpawnInVain(self, "comm", MPI_INFO_NULL);
  return Passed();
}
