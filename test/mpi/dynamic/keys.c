/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   what the info keys of MPI_Comm_spawn and its file say is what the children find; several
 *         programs become one world in the order of the array; a soft number gets what there is.
 * Method: the program spawns itself. Child 0 says how many children there are, and each says what
 * it finds: its program's number, arguments, directory, variables.
 */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/mpi/check.h"

enum { kText = 512 };

struct Finding {
  int appnum;
  int argc;
  int returns; /* errors do not end the job */
  char last[kText];
  char directory[kText];
  char variable[kText];
};

static char self[4096], program[64];
static int rank, is_old; /* an MPI before 4.0 does not know all keys */

static int Child(MPI_Comm parent, int argc, char** argv) {
  struct Finding found = {.argc = argc};
  MPI_Errhandler handler;
  int flag, *number;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag);
  found.appnum = flag ? *number : -1;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
  found.returns = handler == MPI_ERRORS_RETURN;
  snprintf(found.last, kText, "%s", argv[argc - 1]);
  if (getcwd(found.directory, kText) == NULL) found.directory[0] = '\0';
  snprintf(found.variable, kText, "%s", getenv("KEYS_TEST") != NULL ? getenv("KEYS_TEST") : "-");
  MPI_Send(&found, sizeof found, MPI_BYTE, 0, 0, parent);
  MPI_Comm_disconnect(&parent);
  return Passed();
}

/* Takes what the children say, and parts with them. Returns how many there are. */
static int Ask(MPI_Comm inter, struct Finding* found) {
  int remote;
  MPI_Comm_remote_size(inter, &remote);
  if (rank == 0)
    for (int i = 0; i < remote; ++i)
      MPI_Recv(&found[i], sizeof *found, MPI_BYTE, i, 0, inter, MPI_STATUS_IGNORE);
  MPI_Comm_disconnect(&inter);
  return remote;
}

/* Spawns with these keys; a null pointer ends them. */
static int With(char* command, int maxprocs, const char* const* keys, struct Finding* found) {
  char* words[] = {"a b", "last \"word\"", NULL};
  int codes[16];
  MPI_Info info;
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Info_create(&info);
  for (; *keys != NULL; keys += 2) MPI_Info_set(info, keys[0], keys[1]);
  for (int i = 0; i < maxprocs; ++i) codes[i] = -1;
  EXPECT(MPI_Comm_spawn(command, words, maxprocs, rank == 0 ? info : MPI_INFO_NULL, 0,
                        MPI_COMM_WORLD, &inter, codes) == MPI_SUCCESS);
  MPI_Info_free(&info);
  if (inter == MPI_COMM_NULL) return 0;
  const int remote = Ask(inter, found);
  int started = 0;
  for (int i = 0; i < maxprocs; ++i) started += codes[i] == MPI_SUCCESS;
  EXPECT(started == remote);
  return remote;
}
#define WITH(command, maxprocs, found, ...) \
  With(command, maxprocs, (const char* const[]){__VA_ARGS__, NULL}, found)

static void One(void) {
  struct Finding found[4];
  char here[kText];
  EXPECT(getcwd(here, kText) != NULL);
  EXPECT(WITH(self, 1, found, "nobody_knows_this_key", "x") == 1);
  if (rank == 0) {
    EXPECT(found[0].argc == 3 && strcmp(found[0].last, "last \"word\"") == 0);
    EXPECT(strcmp(found[0].directory, here) == 0 && found[0].appnum == 0 && !found[0].returns);
  }
  EXPECT(WITH(self, 2, found, "wdir", "/", "env", "KEYS_TEST=one two\nOTHER=3",
              "mpi_initial_errhandler", "MPI_ERRORS_RETURN") == 2);
  for (int i = 0; i < 2 && rank == 0; ++i) {
    EXPECT(strcmp(found[i].directory, "/") == 0 && strcmp(found[i].variable, "one two") == 0);
    EXPECT(found[i].returns || is_old);
  }
}

/* A command without a slash is looked for in these directories. */
static void Path(void) {
  struct Finding found[1];
  char folder[sizeof self] = "", up[sizeof self + kText], *at;
  snprintf(folder, sizeof folder, "%s", self);
  at = strrchr(folder, '/');
  snprintf(program, sizeof program, "%s", at + 1);
  *at = '\0';
  snprintf(up, sizeof up, "/no/such/directory:%s", folder);
  EXPECT(WITH(program, 1, found, "path", up) == 1);
}

/* With as many slots as somebody promised, the largest of the set that fits is taken. */
static void Soft(void) {
  struct Finding found[16];
  const char* const slots = "localhost:3";
  EXPECT(WITH(self, 8, found, "host", slots, "soft", "1:8", "oversubscribe", "no") == 3);
  EXPECT(WITH(self, 8, found, "host", slots, "soft", "8,2:7:5", "oversubscribe", "no") == 2);
  EXPECT(WITH(self, 8, found, "host", slots, "soft", "1:8:3", "oversubscribe", "yes") == 7);
  EXPECT(WITH(self, 8, found, "soft", "-3,4,900", "oversubscribe", "yes") == 4);
}

/* The root reads the file; the info's own keys win over it. */
static void Files(void) {
  struct Finding found[2];
  char name[] = "/tmp/keys_test.XXXXXX";
  if (rank == 0) {
    FILE* file = fdopen(mkstemp(name), "w");
    fprintf(file, "# of this test\nwdir = /\nenv=KEYS_TEST=filed\n");
    fclose(file);
  }
  EXPECT(WITH(self, 1, found, "file", name) == 1);
  if (rank == 0)
    EXPECT(strcmp(found[0].directory, "/") == 0 && strcmp(found[0].variable, "filed") == 0);
  EXPECT(WITH(self, 1, found, "file", name, "wdir", "/tmp") == 1);
  if (rank == 0) EXPECT(strcmp(found[0].directory, "/tmp") == 0);
  if (rank == 0) unlink(name);
}

static void Several(void) {
  struct Finding found[4];
  char *first[] = {"alpha", NULL}, *second[] = {"beta", "gamma", NULL};
  char **argvs[] = {first, NULL, second}, *commands[] = {self, self, self};
  int counts[] = {1, 2, 1}, codes[4] = {-1, -1, -1, -1};
  MPI_Info infos[3] = {MPI_INFO_NULL, MPI_INFO_NULL, MPI_INFO_NULL};
  MPI_Comm inter;
  if (rank == 0) MPI_Info_create(&infos[2]);
  if (rank == 0) MPI_Info_set(infos[2], "env", "KEYS_TEST=third");
  EXPECT(MPI_Comm_spawn_multiple(3, commands, argvs, counts, infos, 0, MPI_COMM_WORLD, &inter,
                                 codes) == MPI_SUCCESS);
  if (rank == 0) MPI_Info_free(&infos[2]);
  EXPECT(Ask(inter, found) == 4);
  for (int i = 0; i < 4; ++i) EXPECT(codes[i] == MPI_SUCCESS);
  for (int i = 0; i < 4 && rank == 0; ++i) {
    EXPECT(found[i].appnum == (i == 0 ? 0 : i == 3 ? 2 : 1));
    EXPECT(strcmp(found[i].variable, i == 3 ? "third" : "-") == 0);
  }
  if (rank == 0) {
    EXPECT(found[0].argc == 2 && strcmp(found[0].last, "alpha") == 0);
    EXPECT(found[1].argc == 1 && found[3].argc == 3 && strcmp(found[3].last, "gamma") == 0);
  }
  /* Nobody has arguments. */
  EXPECT(MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, counts, infos, 0, MPI_COMM_WORLD,
                                 &inter, MPI_ERRCODES_IGNORE) == MPI_SUCCESS);
  EXPECT(Ask(inter, found) == 3);
  if (rank == 0) EXPECT(found[0].argc == 1);
}

/* A process that is not there has its error in its own place. */
static void SoftAmongSeveral(void) {
  struct Finding found[6];
  char* commands[] = {self, self};
  int counts[] = {4, 2}, codes[6] = {-1, -1, -1, -1, -1, -1};
  MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
  MPI_Comm inter;
  MPI_Info_create(&infos[0]);
  MPI_Info_set(infos[0], "soft", "1,3");
  EXPECT(MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, counts, infos, 0, MPI_COMM_WORLD,
                                 &inter, codes) == MPI_SUCCESS);
  MPI_Info_free(&infos[0]);
  EXPECT(Ask(inter, found) == 5);
  for (int i = 0; i < 6; ++i) EXPECT(ClassOf(codes[i]) == (i == 3 ? MPI_ERR_SPAWN : MPI_SUCCESS));
}

/* D15: a program that is none of MPI's is started, and nobody waits for it in MPI_Init. */
static void NoMpi(void) {
  MPI_Comm inter = MPI_COMM_WORLD;
  MPI_Info info;
  int codes[2] = {-1, -1};
  MPI_Info_create(&info);
  MPI_Info_set(info, "lamina_non_mpi", "yes");
  EXPECT(MPI_Comm_spawn("true", MPI_ARGV_NULL, 2, info, 0, MPI_COMM_WORLD, &inter, codes) ==
         MPI_SUCCESS);
  EXPECT(inter == MPI_COMM_NULL && codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS);
  MPI_Info_free(&info);
}

int main(int argc, char** argv) {
  MPI_Comm parent;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) return Child(parent, argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  self[readlink("/proc/self/exe", self, sizeof self - 1)] = '\0';
  is_old = argc > 1;
  One();
  Several();
  if (is_old) return Passed();
  Path();
  Soft();
  SoftAmongSeveral();
  Files();
  NoMpi();
  return Passed();
}
