/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   no function follows a null pointer: it says MPI_ERR_ARG, or MPI_T_ERR_INVALID in the tool
 *         interface (MPI-5.0, sections 9.4 and 15.3.10).
 * Method: null_pointers.py makes a call for each pointer of each function, from the ABI's table.
 *         Each runs in a child of its own, so a crash or a call that waits is seen and named.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct Case {
  const char* function;
  const char* argument;
  int (*call)(void);
  int may_succeed;
};

/* Arguments that make sense. */
static MPI_Comm comm, cart, graph, dist_graph, comms[2];
static MPI_Group group, groups[2];
static MPI_Session session;
static MPI_Info info, infos[2];
static MPI_Request request, requests[4];
static MPI_Message message = MPI_MESSAGE_NO_PROC, messages[2];
static MPI_Datatype types[2], new_type;
static MPI_Op op;
static MPI_Status statuses[4];
static MPI_Win win;
static MPI_File file;
static MPI_T_cvar_handle cvar;
static MPI_T_pvar_handle pvar;
static MPI_T_pvar_session pvar_session;
static MPI_T_event_registration registration;
static MPI_T_event_instance instance;
static int comm_keyval, type_keyval, win_keyval, zeros[64], ones[64];
static char text[8192] = "text";
static char* texts[2] = {text, NULL};
static long long room[64], into[64];

static void any_function(void) {}

#include "test/mpi/abi/null_cases.h"

/* The file has no name any more when this returns, so nothing is left behind. */
static void OpenFile(void) {
  const char* folder = getenv("TEST_TMPDIR");
  char path[4096];
  snprintf(path, sizeof path, "%s/null_pointers.%d", folder != NULL ? folder : "/tmp",
           (int)getpid());
  MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  unlink(path);
}

static void MakeArguments(void) {
  int i, count = 0, level, periods = 0, dims = 1;
  for (i = 0; i < 64; ++i) ones[i] = 1;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Cart_create(comm, 1, &dims, &periods, 0, &cart);
  MPI_Graph_create(comm, 1, ones, zeros, 0, &graph);
  MPI_Dist_graph_create_adjacent(comm, 1, zeros, MPI_UNWEIGHTED, 1, zeros, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &dist_graph);
  MPI_Comm_group(comm, &group);
  MPI_Info_create(&info);
  MPI_Info_set(info, "text", "1");
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_keyval, NULL);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_keyval, NULL);
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &win_keyval, NULL);
  MPI_Win_create(room, sizeof room, 1, MPI_INFO_NULL, comm, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_lock_all(0, win);
  OpenFile();
  MPI_Send_init(zeros, 1, MPI_INT, 0, 0, comm, &request);
  for (i = 0; i < 4; ++i) MPI_Isend(zeros, 1, MPI_INT, 0, 0, comm, &requests[i]);
  for (i = 0; i < 2; ++i) {
    types[i] = MPI_INT;
    comms[i] = comm;
    groups[i] = group;
    infos[i] = MPI_INFO_NULL;
    messages[i] = message;
  }
  MPI_Type_contiguous(2, MPI_INT, &new_type);
  MPI_Op_create((MPI_User_function*)any_function, 1, &op);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
  MPI_T_cvar_handle_alloc(0, NULL, &cvar, &count);
  MPI_T_pvar_session_create(&pvar_session);
  MPI_T_pvar_handle_alloc(pvar_session, 0, NULL, &pvar, &count);
}

static void CallInChild(const struct Case* one, int* class) {
  int code;
  alarm(10);
  code = one->call();
  *class = code;
  if (strncmp(one->function, "MPI_T_", 6) != 0) MPI_Error_class(code, class);
  _exit(0);
}

/* Returns true if all is well. */
static int Try(const struct Case* one, int* class) {
  const int is_tool = strncmp(one->function, "MPI_T_", 6) == 0;
  const int wanted = is_tool ? MPI_T_ERR_INVALID : MPI_ERR_ARG;
  char name[MPI_MAX_ERROR_STRING] = "";
  int status = 0, length;
  pid_t child;
  *class = -1;
  child = fork();
  if (child == 0) CallInChild(one, class);
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && *class == wanted) return 1;
  if (WIFEXITED(status) && one->may_succeed && *class == MPI_SUCCESS) return 1;
  if (WIFEXITED(status) && *class == MPI_ERR_UNSUPPORTED_OPERATION) return 1;
  if (WIFEXITED(status)) MPI_Error_string(*class, name, &length);
  fprintf(stderr, "%s with a null %s: %s %s\n", one->function, one->argument,
          WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "said", name);
  return 0;
}

int main(int argc, char** argv) {
  const int count = (int)(sizeof cases / sizeof *cases);
  int i, failed = 0;
  int* class = mmap(NULL, sizeof *class, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  MPI_Init(&argc, &argv);
  MakeArguments();
  for (i = 0; i < count; ++i) failed += !Try(&cases[i], class);
  if (failed != 0) fprintf(stderr, "%d of %d cases failed\n", failed, count);
  MPI_Finalize();
  return failed != 0 || count < 500;
}
