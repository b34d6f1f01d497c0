/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   a run has each name once, whichever of its jobs has published it, and every job finds it;
 *         it ends with its job.
 * Method: rank 0 and a child that it spawns publish the same names in turn.
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <unistd.h>

#include "test/mpi/check.h"

static char self[4096], mine[64], theirs[64], found[MPI_MAX_PORT_NAME];
static MPI_Info run, nonsense;

static int Find(const char* name, MPI_Info info, const char* port) {
  const int error = MPI_Lookup_name(name, info, found);
  if (port == NULL) return ClassOf(error) == MPI_ERR_NAME;
  return error == MPI_SUCCESS && strcmp(found, port) == 0;
}

static void Child(MPI_Comm parent) {
  char port[] = "the port of the child";
  EXPECT(ClassOf(MPI_Publish_name(mine, MPI_INFO_NULL, port)) == MPI_ERR_SERVICE);
  EXPECT(ClassOf(MPI_Publish_name(mine, run, port)) == MPI_ERR_SERVICE);
  EXPECT(Find(mine, MPI_INFO_NULL, "the port of the parent"));
  EXPECT(Find(mine, run, "the port of the parent"));
  EXPECT(ClassOf(MPI_Unpublish_name(mine, MPI_INFO_NULL, port)) == MPI_ERR_SERVICE);
  EXPECT(MPI_Publish_name(theirs, run, port) == MPI_SUCCESS);
  MPI_Barrier(parent);
  MPI_Barrier(parent); /* the parent looks */
  EXPECT(MPI_Unpublish_name(theirs, MPI_INFO_NULL, port) == MPI_SUCCESS);
  MPI_Barrier(parent);
  MPI_Barrier(parent); /* the parent publishes it and takes it back */
  EXPECT(Find(theirs, MPI_INFO_NULL, NULL));
  EXPECT(MPI_Publish_name(theirs, MPI_INFO_NULL, port) == MPI_SUCCESS);
  MPI_Barrier(parent);
  MPI_Comm_disconnect(&parent);
}

static void Parent(void) {
  char port[] = "the port of the parent";
  MPI_Comm inter;
  char* words[] = {mine, theirs, NULL};
  EXPECT(MPI_Publish_name(mine, MPI_INFO_NULL, port) == MPI_SUCCESS);
  EXPECT(ClassOf(MPI_Publish_name(mine, nonsense, port)) == MPI_ERR_INFO);
  MPI_Comm_spawn(self, words, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
  MPI_Barrier(inter);
  EXPECT(Find(theirs, run, "the port of the child"));
  EXPECT(Find(theirs, MPI_INFO_NULL, "the port of the child"));
  EXPECT(ClassOf(MPI_Publish_name(theirs, MPI_INFO_NULL, port)) == MPI_ERR_SERVICE);
  MPI_Barrier(inter);
  MPI_Barrier(inter); /* the child takes it back */
  EXPECT(Find(theirs, run, NULL));
  EXPECT(MPI_Publish_name(theirs, MPI_INFO_NULL, port) == MPI_SUCCESS);
  EXPECT(MPI_Unpublish_name(theirs, MPI_INFO_NULL, port) == MPI_SUCCESS);
  MPI_Barrier(inter);
  MPI_Barrier(inter); /* the child publishes it, and ends */
  MPI_Comm_disconnect(&inter);
  while (!Find(theirs, run, NULL)) continue;
}

int main(int argc, char** argv) {
  MPI_Comm parent;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_get_parent(&parent);
  self[readlink("/proc/self/exe", self, sizeof self - 1)] = '\0';
  MPI_Info_create(&run);
  MPI_Info_set(run, "lamina_scope", "run");
  MPI_Info_create(&nonsense);
  MPI_Info_set(nonsense, "lamina_scope", "everybody");
  if (parent != MPI_COMM_NULL) {
    snprintf(mine, sizeof mine, "%s", argv[1]);
    snprintf(theirs, sizeof theirs, "%s", argv[2]);
    Child(parent);
  } else if (rank == 0) {
    snprintf(mine, sizeof mine, "mine of %d", (int)getpid());
    snprintf(theirs, sizeof theirs, "theirs of %d", (int)getpid());
    Parent();
  }
  MPI_Info_free(&run);
  MPI_Info_free(&nonsense);
  return Passed();
}
