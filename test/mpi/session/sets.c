/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: a session tells its process sets, mpi://WORLD and mpi://SELF among them, gives groups of
 * them, and what it was granted (MPI-5.0, sections 11.3.1, 11.3.2 and 7.3.2).
 */
#include "test/mpi/session/session.h"

static int SizeOfSet(MPI_Session session, const char* name) {
  MPI_Info info;
  char value[20] = "";
  int length = sizeof value, flag = 0, size = -1;
  if (MPI_Session_get_pset_info(session, name, &info) != MPI_SUCCESS) return -1;
  MPI_Info_get_string(info, "mpi_size", &length, value, &flag);
  EXPECT(flag);
  sscanf(value, "%d", &size);
  MPI_Info_free(&info);
  return size;
}

static int Named(MPI_Info info, const char* key, const char* wanted) {
  char value[100] = "";
  int length = sizeof value, flag = 0;
  MPI_Info_get_string(info, key, &length, value, &flag);
  return flag && strcmp(value, wanted) == 0;
}

int main(void) {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Group group;
  MPI_Info info, granted;
  MPI_Comm world;
  int sets = 0, i, length, size, rank, worlds = 0, selves = 0, flag;
  char name[MPI_MAX_PSET_NAME_LEN], cut[6];

  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level", "MPI_THREAD_SERIALIZED");
  EXPECT(MPI_Session_init(info, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
  MPI_Info_free(&info);
  MPI_Initialized(&flag);
  EXPECT(!flag);
  MPI_Session_get_info(session, &granted);
  EXPECT(Named(granted, "thread_level", "MPI_THREAD_SERIALIZED") ||
         Named(granted, "thread_level", "MPI_THREAD_MULTIPLE"));
  MPI_Info_free(&granted);

  EXPECT(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets) == MPI_SUCCESS);
  EXPECT(sets >= 2);
  for (i = 0; i < sets; ++i) {
    length = 0;
    name[0] = 'x';
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
    EXPECT(length > 1 && length <= MPI_MAX_PSET_NAME_LEN && name[0] == 'x');
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
    EXPECT((int)strlen(name) == length - 1);
    if (strcmp(name, "mpi://WORLD") == 0) ++worlds;
    if (strcmp(name, "mpi://SELF") == 0) ++selves;
    MPI_Group_from_session_pset(session, name, &group);
    MPI_Group_size(group, &size);
    EXPECT(size == SizeOfSet(session, name));
    MPI_Group_free(&group);
    length = sizeof cut;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, cut);
    EXPECT(strlen(cut) == 5 && strncmp(cut, name, 5) == 0 && length == (int)strlen(name) + 1);
  }
  EXPECT(worlds == 1 && selves == 1);
  EXPECT(SizeOfSet(session, "mpi://SELF") == 1);
  MPI_Group_from_session_pset(session, "mpi://SELF", &group);
  MPI_Group_rank(group, &rank);
  EXPECT(rank == 0);
  MPI_Group_free(&group);

  world = CommOf(session, "mpi://WORLD", "sets");
  EXPECT(SizeOf(world) == SizeOfSet(session, "mpi://WORLD"));
  EXPECT(Sum(world) == SizeOf(world));
  MPI_Comm_free(&world);
  EXPECT(MPI_Session_finalize(&session) == MPI_SUCCESS);
  EXPECT(session == MPI_SESSION_NULL);
  return failures != 0;
}
