/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   every performance variable describes itself, its class and datatype go together, and
 *         sessions and handles are started, stopped, read, written and reset, alone and all at
 * once, with the codes for what cannot be (MPI-5.0, section 15.3.7). Method: all variables that
 * need no object or a communicator; nothing else is known about them.
 */
#include "test/mpi/tool/tool.h"

typedef struct {
  char name[256];
  int class, bind, readonly, continuous, atomic;
  MPI_Datatype type;
} Variable;

static int Fits(int class, MPI_Datatype type) {
  const int whole =
      type == MPI_UNSIGNED || type == MPI_UNSIGNED_LONG || type == MPI_UNSIGNED_LONG_LONG;
  switch (class) {
    case MPI_T_PVAR_CLASS_STATE:
      return type == MPI_INT;
    case MPI_T_PVAR_CLASS_COUNTER:
      return whole;
    case MPI_T_PVAR_CLASS_PERCENTAGE:
      return type == MPI_DOUBLE;
    case MPI_T_PVAR_CLASS_GENERIC:
      return 1;
    default:
      return whole || type == MPI_DOUBLE;
  }
}

static Variable Describe(int index) {
  Variable one;
  char description[1024] = "";
  int name_length = sizeof one.name, description_length = sizeof description, verbosity = -1;
  int found = -1;
  MPI_T_enum items = MPI_T_ENUM_NULL;
  memset(&one, 0, sizeof one);
  HOLDS(MPI_T_pvar_get_info(index, one.name, &name_length, &verbosity, &one.class, &one.type,
                            &items, description, &description_length, &one.bind, &one.readonly,
                            &one.continuous, &one.atomic) == MPI_SUCCESS);
  HOLDS(strlen(one.name) >= 1);
  HOLDS_FOR(one.name, Fits(one.class, one.type));
  HOLDS_FOR(one.name, verbosity >= MPI_T_VERBOSITY_USER_BASIC);
  HOLDS_FOR(one.name, (items == MPI_T_ENUM_NULL) || one.type == MPI_INT);
  HOLDS_FOR(one.name, MPI_T_pvar_get_index(one.name, one.class, &found) == MPI_SUCCESS);
  HOLDS_FOR(one.name, found == index);
  return one;
}

static void Verbs(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const Variable* one) {
  unsigned long long value[64];
  const int startstop = one->continuous ? MPI_T_ERR_PVAR_NO_STARTSTOP : MPI_SUCCESS;
  const int write = one->readonly ? MPI_T_ERR_PVAR_NO_WRITE : MPI_SUCCESS;
  HOLDS_FOR(one->name, MPI_T_pvar_start(session, handle) == startstop);
  HOLDS_FOR(one->name, MPI_T_pvar_read(session, handle, value) == MPI_SUCCESS);
  HOLDS_FOR(one->name, MPI_T_pvar_stop(session, handle) == startstop);
  HOLDS_FOR(one->name, MPI_T_pvar_reset(session, handle) == write);
  memset(value, 0, sizeof value);
  HOLDS_FOR(one->name, MPI_T_pvar_write(session, handle, value) == write);
  const int both = MPI_T_pvar_readreset(session, handle, value);
  HOLDS_FOR(one->name, both == MPI_SUCCESS
                           ? one->atomic && !one->readonly
                           : both == MPI_T_ERR_PVAR_NO_ATOMIC || both == MPI_T_ERR_PVAR_NO_WRITE);
}

static void Mistakes(int count, MPI_T_pvar_session session) {
  unsigned long long value[64];
  int number = 0;
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  MPI_T_pvar_session none = MPI_T_PVAR_SESSION_NULL;
  HOLDS(MPI_T_pvar_get_info(count, NULL, NULL, &number, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                            NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
  HOLDS(MPI_T_pvar_get_index("no such variable", MPI_T_PVAR_CLASS_LEVEL, &number) ==
        MPI_T_ERR_INVALID_NAME);
  HOLDS(MPI_T_pvar_handle_alloc(session, count, NULL, &handle, &number) == MPI_T_ERR_INVALID_INDEX);
  HOLDS(MPI_T_pvar_handle_alloc(none, 0, NULL, &handle, &number) == MPI_T_ERR_INVALID_SESSION);
  HOLDS(MPI_T_pvar_session_free(&none) == MPI_T_ERR_INVALID_SESSION);
  HOLDS(MPI_T_pvar_start(none, MPI_T_PVAR_ALL_HANDLES) == MPI_T_ERR_INVALID_SESSION);
  HOLDS(MPI_T_pvar_stop(session, MPI_T_PVAR_HANDLE_NULL) == MPI_T_ERR_INVALID_HANDLE);
  HOLDS(MPI_T_pvar_reset(session, MPI_T_PVAR_HANDLE_NULL) == MPI_T_ERR_INVALID_HANDLE);
  HOLDS(MPI_T_pvar_handle_free(session, &handle) == MPI_T_ERR_INVALID_HANDLE);
  /* These know no "all". */
  HOLDS(MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, value) == MPI_T_ERR_INVALID_HANDLE);
  HOLDS(MPI_T_pvar_write(session, MPI_T_PVAR_ALL_HANDLES, value) == MPI_T_ERR_INVALID_HANDLE);
  HOLDS(MPI_T_pvar_readreset(session, MPI_T_PVAR_ALL_HANDLES, value) == MPI_T_ERR_INVALID_HANDLE);
}

int main(int argc, char** argv) {
  int provided, count = 0;
  MPI_Comm world;
  MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL, other = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_handle last = MPI_T_PVAR_HANDLE_NULL;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_Init(&argc, &argv);
  world = MPI_COMM_WORLD;
  HOLDS(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
  HOLDS(MPI_T_pvar_session_create(&other) == MPI_SUCCESS);
  HOLDS(session != MPI_T_PVAR_SESSION_NULL && session != other);
  HOLDS(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS); /* none yet */
  HOLDS(MPI_T_pvar_get_num(&count) == MPI_SUCCESS);
  for (int i = 0; i < count; ++i) {
    const Variable one = Describe(i);
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int elements = 0;
    if (one.bind != MPI_T_BIND_NO_OBJECT && one.bind != MPI_T_BIND_MPI_COMM) continue;
    HOLDS_FOR(one.name,
              MPI_T_pvar_handle_alloc(session, i, &world, &handle, &elements) == MPI_SUCCESS);
    HOLDS_FOR(one.name, elements >= 1 && elements <= 64);
    Verbs(session, handle, &one);
    HOLDS_FOR(one.name, MPI_T_pvar_read(other, handle, &elements) == MPI_T_ERR_INVALID_HANDLE);
    if (i % 2 == 0) {
      HOLDS_FOR(one.name, MPI_T_pvar_handle_free(session, &handle) == MPI_SUCCESS);
      HOLDS_FOR(one.name, handle == MPI_T_PVAR_HANDLE_NULL);
    } else {
      last = handle;
    }
  }
  HOLDS(last != MPI_T_PVAR_HANDLE_NULL);
  HOLDS(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
  HOLDS(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
  HOLDS(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
  Mistakes(count, session);
  HOLDS(MPI_T_pvar_session_free(&session) == MPI_SUCCESS); /* with handles in it */
  HOLDS(session == MPI_T_PVAR_SESSION_NULL);
  HOLDS(MPI_T_pvar_session_free(&other) == MPI_SUCCESS);
  MPI_Finalize();
  MPI_T_finalize();
  return Ended();
}
