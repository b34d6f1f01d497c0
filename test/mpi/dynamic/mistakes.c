/* SPDX-License-Identifier: BSD-3-Clause
 * Goal:   each mistake that MPI_Comm_spawn and its kin can find raises the class that is written
 * down for it, at every member of the communicator, also if only the root was given nonsense.
 * Method: errors are returned; arguments that count at the root alone are good at all other ranks.
 */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test/mpi/check.h"

static int rank, size;
static char self[4096];

/* The error, and its class, of a spawn from MPI_COMM_WORLD with root 0. */
static int Spawn(char* command, char** argv, int maxprocs, MPI_Info info) {
  MPI_Comm inter;
  const int error =
      MPI_Comm_spawn(command, argv, maxprocs, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
  EXPECT(error != MPI_SUCCESS);
  return error;
}

static int Says(int error, const char* words) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(error, text, &length);
  if (strstr(text, words) != NULL) return 1;
  fprintf(stderr, "rank %d: \"%s\" does not say \"%s\"\n", rank, text, words);
  return 0;
}

static void Communicators(void) {
  MPI_Comm inter, dup, newcomm, halves[2];
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN);
  const MPI_Comm freed = dup;
  MPI_Comm_free(&dup);
  EXPECT(ClassOf(MPI_Comm_spawn(self, NULL, 1, MPI_INFO_NULL, 0, freed, &newcomm, NULL)) ==
         MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_accept("x", MPI_INFO_NULL, 0, freed, &newcomm)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_connect("x", MPI_INFO_NULL, 0, MPI_COMM_NULL, &newcomm)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_spawn(self, NULL, 1, MPI_INFO_NULL, size, MPI_COMM_WORLD, &newcomm,
                                NULL)) == MPI_ERR_ROOT);
  EXPECT(ClassOf(MPI_Comm_accept("x", MPI_INFO_NULL, -1, MPI_COMM_WORLD, &newcomm)) ==
         MPI_ERR_ROOT);
  EXPECT(ClassOf(MPI_Comm_connect("x", MPI_INFO_NULL, size, MPI_COMM_WORLD, &newcomm)) ==
         MPI_ERR_ROOT);
  EXPECT(ClassOf(MPI_Comm_disconnect(&(MPI_Comm){MPI_COMM_WORLD})) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_disconnect(&(MPI_Comm){MPI_COMM_SELF})) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_disconnect(&(MPI_Comm){freed})) == MPI_ERR_COMM);
  if (size < 2) return;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &halves[0]);
  MPI_Intercomm_create(halves[0], 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &inter);
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  EXPECT(ClassOf(MPI_Comm_spawn(self, NULL, 1, MPI_INFO_NULL, 0, inter, &newcomm, NULL)) ==
         MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_connect("x", MPI_INFO_NULL, 0, inter, &newcomm)) == MPI_ERR_COMM);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&halves[0]);
}

static void Sessions(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm, newcomm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "mistakes", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  EXPECT(ClassOf(MPI_Comm_spawn(self, NULL, 1, MPI_INFO_NULL, 0, comm, &newcomm, NULL)) ==
         MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_accept("x", MPI_INFO_NULL, 0, comm, &newcomm)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_connect("x", MPI_INFO_NULL, 0, comm, &newcomm)) == MPI_ERR_COMM);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
}

/* Whether a program can be started is found by the root. */
static void Programs(void) {
  MPI_Comm inter;
  MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
  char* commands[] = {self, rank == 0 ? NULL : self};
  int counts[] = {1, 1}, codes[3] = {-1, -1, -1}, error;
  EXPECT(ClassOf(Spawn(rank == 0 ? NULL : self, NULL, 1, MPI_INFO_NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(Spawn(rank == 0 ? "" : self, NULL, 1, MPI_INFO_NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(Spawn(self, NULL, rank == 0 ? -1 : 1, MPI_INFO_NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Comm_spawn_multiple(rank == 0 ? -2 : 2, commands, MPI_ARGVS_NULL, counts,
                                         infos, 0, MPI_COMM_WORLD, &inter, NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, counts, infos, 0,
                                         MPI_COMM_WORLD, &inter, NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Comm_spawn_multiple(1, rank == 0 ? NULL : commands, MPI_ARGVS_NULL, counts,
                                         infos, 0, MPI_COMM_WORLD, &inter, NULL)) == MPI_ERR_ARG);
  /* D12: a program that is not there, and one that may not be run, at every parent, for each child.
   */
  for (int i = 0; i < 2; ++i) {
    error = MPI_Comm_spawn(i == 0 ? "./no/such/program" : "/etc/passwd", NULL, 3, MPI_INFO_NULL, 0,
                           MPI_COMM_WORLD, &inter, codes);
    EXPECT(ClassOf(error) == MPI_ERR_SPAWN);
    EXPECT(Says(error, i == 0 ? "no/such/program" : "/etc/passwd"));
    for (int child = 0; child < 3; ++child) EXPECT(codes[child] == MPI_ERR_SPAWN);
  }
  EXPECT(ClassOf(MPI_Comm_spawn(self, NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, NULL, NULL)) ==
         MPI_ERR_ARG);
}

/* What a key is given that it cannot have is named. */
static void Keys(void) {
  static const char* const kBad[][3] = {
      {"soft", "1:x", "1:x"},
      {"soft", "8:1", "8:1"},
      {"host", "no-such-host.invalid", "no-such-host.invalid"},
      {"hostfile", "/no/such/file", "/no/such/file"},
      {"file", "/no/such/file", "/no/such/file"},
      {"arch", "pdp11", "pdp11"},
      {"mpi_initial_errhandler", "mpi_errors_ignore", "mpi_initial_errhandler"},
      {"map_by", "moon", "moon"},
      {"bind_to", "mast", "mast"},
      {"npernode", "many", "many"},
      {"wdir", "/no/such/directory", "/no/such/directory"}};
  MPI_Info info, freed;
  MPI_Comm newcomm;
  char port[MPI_MAX_PORT_NAME];
  for (size_t i = 0; i < sizeof kBad / sizeof *kBad; ++i) {
    MPI_Info_create(&info);
    MPI_Info_set(info, kBad[i][0], kBad[i][1]);
    const int error = Spawn(self, NULL, 1, rank == 0 ? info : MPI_INFO_NULL);
    EXPECT(ClassOf(error) == MPI_ERR_SPAWN);
    EXPECT(Says(error, kBad[i][2]));
    MPI_Info_free(&info);
  }
  MPI_Info_create(&info);
  freed = info;
  MPI_Info_free(&info);
  EXPECT(ClassOf(Spawn(self, NULL, 1, rank == 0 ? freed : MPI_INFO_NULL)) == MPI_ERR_INFO);
  EXPECT(ClassOf(MPI_Comm_accept("x", freed, 0, MPI_COMM_WORLD, &newcomm)) == MPI_ERR_INFO);
  EXPECT(ClassOf(MPI_Comm_connect("x", freed, 0, MPI_COMM_WORLD, &newcomm)) == MPI_ERR_INFO);
  EXPECT(ClassOf(MPI_Open_port(freed, port)) == MPI_ERR_INFO);
  EXPECT(ClassOf(MPI_Publish_name("mistakes", freed, "x")) == MPI_ERR_INFO);
  EXPECT(ClassOf(MPI_Lookup_name("mistakes", freed, port)) == MPI_ERR_INFO);
  EXPECT(ClassOf(MPI_Unpublish_name("mistakes", freed, "x")) == MPI_ERR_INFO);
}

static void Names(void) {
  char port[MPI_MAX_PORT_NAME], service[64], *longer = malloc(2 * MPI_MAX_PORT_NAME);
  memset(longer, 'x', 2 * MPI_MAX_PORT_NAME);
  longer[2 * MPI_MAX_PORT_NAME - 1] = '\0';
  snprintf(service, sizeof service, "mistakes %d", (int)getpid());
  EXPECT(ClassOf(MPI_Publish_name(NULL, MPI_INFO_NULL, "x")) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Publish_name("", MPI_INFO_NULL, "x")) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Publish_name(service, MPI_INFO_NULL, NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Publish_name(longer, MPI_INFO_NULL, "x")) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Publish_name(service, MPI_INFO_NULL, longer)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Lookup_name(longer, MPI_INFO_NULL, port)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Lookup_name(service, MPI_INFO_NULL, NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Unpublish_name("", MPI_INFO_NULL, "x")) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Unpublish_name(service, MPI_INFO_NULL, "x")) == MPI_ERR_SERVICE);
  EXPECT(ClassOf(MPI_Lookup_name(service, MPI_INFO_NULL, port)) == MPI_ERR_NAME);
  EXPECT(MPI_Publish_name(service, MPI_INFO_NULL, "x") == MPI_SUCCESS);
  EXPECT(ClassOf(MPI_Publish_name(service, MPI_INFO_NULL, "y")) == MPI_ERR_SERVICE);
  EXPECT(MPI_Unpublish_name(service, MPI_INFO_NULL, "x") == MPI_SUCCESS);
  EXPECT(ClassOf(MPI_Unpublish_name(service, MPI_INFO_NULL, "x")) == MPI_ERR_SERVICE);
  free(longer);
}

/* The text says what is wrong with a port. */
static void Ports(void) {
  char port[MPI_MAX_PORT_NAME] = "", changed[MPI_MAX_PORT_NAME];
  MPI_Comm inter;
  MPI_Info info;
  int error;
  EXPECT(ClassOf(MPI_Open_port(MPI_INFO_NULL, NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Close_port(NULL)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Close_port("of somebody else")) == MPI_ERR_PORT);
  if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
  EXPECT(strlen(port) < 400);
  for (const char* const* bad =
           (const char* const[]){"", "tcp://10.0.0.7:4711", "lamina1", "lamina1-@", NULL};
       *bad != NULL; ++bad) {
    error = MPI_Comm_connect(rank == 0 ? *bad : "x", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    EXPECT(ClassOf(error) == MPI_ERR_PORT);
  }
  /* One letter is another one, whichever it is. */
  for (size_t i = 0; i < 80 && i < strlen(port); i += 7) {
    strcpy(changed, port);
    changed[i] = changed[i] == '1' ? '2' : '1';
    error = MPI_Comm_connect(changed, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    EXPECT(ClassOf(error) == MPI_ERR_PORT);
    EXPECT(Says(error, i < 7 ? "no name that MPI_Open_port" : "damaged"));
  }
  error = MPI_Comm_connect(rank == 0 ? NULL : "x", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  EXPECT(ClassOf(error) == MPI_ERR_ARG);
  error = MPI_Comm_accept(rank == 0 ? NULL : "x", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  EXPECT(ClassOf(error) == MPI_ERR_ARG);
  error = MPI_Comm_accept("of somebody else", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  EXPECT(ClassOf(error) == MPI_ERR_PORT);
  MPI_Info_create(&info);
  MPI_Info_set(info, "timeout", "1");
  error = MPI_Comm_accept(port, info, 0, MPI_COMM_WORLD, &inter);
  EXPECT(ClassOf(error) == MPI_ERR_PORT && Says(error, "in time"));
  error = MPI_Comm_connect(port, info, 0, MPI_COMM_WORLD, &inter);
  EXPECT(ClassOf(error) == MPI_ERR_PORT && Says(error, "in time"));
  if (rank == 0) EXPECT(MPI_Close_port(port) == MPI_SUCCESS);
  error = MPI_Comm_connect(port, info, 0, MPI_COMM_WORLD, &inter);
  EXPECT(ClassOf(error) == MPI_ERR_PORT && Says(error, "nobody listens"));
  error = MPI_Comm_accept(port, info, 0, MPI_COMM_WORLD, &inter);
  EXPECT(ClassOf(error) == MPI_ERR_PORT);
  MPI_Info_set(info, "lamina_listen", "the moon");
  EXPECT(ClassOf(MPI_Open_port(info, port)) == MPI_ERR_PORT);
  MPI_Info_free(&info);
  MPI_Info_create(&info);
  for (const char* const* bad = (const char* const[]){"", "moon", "-1", "65536", NULL}; *bad;
       ++bad) {
    MPI_Info_set(info, "ip_port", *bad);
    error = MPI_Open_port(info, port);
    EXPECT(ClassOf(error) == MPI_ERR_INFO && Says(error, "ip_port"));
  }
  MPI_Info_free(&info);
}

static void Join(void) {
  MPI_Comm inter;
  int ends[2];
  EXPECT(ClassOf(MPI_Comm_join(-1, &inter)) == MPI_ERR_ARG);
  EXPECT(ClassOf(MPI_Comm_join(0, NULL)) == MPI_ERR_ARG);
  EXPECT(pipe(ends) == 0);
  EXPECT(ClassOf(MPI_Comm_join(ends[0], &inter)) == MPI_ERR_ARG);
  EXPECT(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
  EXPECT(ClassOf(MPI_Comm_join(ends[0], &inter)) == MPI_ERR_ARG);
  const int useless = socket(AF_INET, SOCK_STREAM, 0);
  int error = MPI_Comm_join(useless, &inter);
  EXPECT(ClassOf(error) == MPI_ERR_ARG && Says(error, "not connected"));
  EXPECT(listen(useless, 1) == 0);
  error = MPI_Comm_join(useless, &inter);
  EXPECT(ClassOf(error) == MPI_ERR_ARG && Says(error, "listens"));
  close(useless);
  EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  close(ends[1]);
  EXPECT(ClassOf(MPI_Comm_join(ends[0], &inter)) == MPI_ERR_OTHER);
}

int main(int argc, char** argv) {
  MPI_Comm parent;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT(ClassOf(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)) == MPI_SUCCESS);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_get_parent(&parent);
  EXPECT(parent == MPI_COMM_NULL);
  EXPECT(ClassOf(MPI_Comm_get_parent(NULL)) == MPI_ERR_ARG);
  self[readlink("/proc/self/exe", self, sizeof self - 1)] = '\0';
  Communicators();
  Sessions();
  Programs();
  Keys();
  Names();
  Ports();
  Join();
  return Passed();
}
