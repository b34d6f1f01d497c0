/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a parameter written before MPI_Init is obeyed by it; afterwards the answer is "not now",
 *         for a constant "never", for a value out of range "invalid" (MPI-5.0, section 15.3.6).
 *         (Names and ranges are ours.)
 * Method: the parameter that turns argument checks off: with it a negative tag passes unseen on a
 *         message to MPI_PROC_NULL, which checks nothing else.
 */
#include "test/mpi/tool/tool.h"

static MPI_T_cvar_handle Open(const char* name) {
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int index = -1, count = 0;
  HOLDS_FOR(name, MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS);
  HOLDS_FOR(name, MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS);
  return handle;
}

int main(int argc, char** argv) {
  int provided, check = -1;
  unsigned polls = 0;
  char text[1024] = "";
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_T_cvar_handle checks = Open("api.check_arguments");
  MPI_T_cvar_handle events = Open("p2p.engine.poll_events_max");
  MPI_T_cvar_handle version = Open("library.version");
  MPI_T_cvar_handle include = Open("transport.include");

  MPI_T_cvar_read(checks, &check);
  HOLDS(check == 1);
  check = 2;
  HOLDS(MPI_T_cvar_write(checks, &check) == MPI_T_ERR_INVALID); /* no item of its enumeration */
  check = 0;
  HOLDS(MPI_T_cvar_write(checks, &check) == MPI_SUCCESS);
  check = -1;
  MPI_T_cvar_read(checks, &check);
  HOLDS(check == 0);
  polls = 0;
  HOLDS(MPI_T_cvar_write(events, &polls) == MPI_T_ERR_INVALID); /* 1 to 4096 */
  polls = 5;
  HOLDS(MPI_T_cvar_write(events, &polls) == MPI_SUCCESS);
  HOLDS(MPI_T_cvar_read(version, text) == MPI_SUCCESS && strchr(text, '.') != NULL);
  HOLDS(MPI_T_cvar_write(version, text) == MPI_T_ERR_CVAR_SET_NEVER);
  strcpy(text, "self,shm");
  HOLDS(MPI_T_cvar_write(include, text) == MPI_SUCCESS);

  MPI_Init(&argc, &argv);
  polls = 0;
  HOLDS(MPI_T_cvar_read(events, &polls) == MPI_SUCCESS && polls == 5);
  HOLDS(MPI_T_cvar_write(events, &polls) == MPI_T_ERR_CVAR_SET_NOT_NOW);
  MPI_T_cvar_read(include, text);
  HOLDS(strcmp(text, "self,shm") == 0);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  HOLDS(MPI_Send(&check, 1, MPI_INT, MPI_PROC_NULL, -5, MPI_COMM_WORLD) == MPI_SUCCESS);
  MPI_Finalize();

  HOLDS(MPI_T_cvar_write(events, &polls) == MPI_SUCCESS);
  MPI_T_finalize();
  return Ended();
}
