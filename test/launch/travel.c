/* SPDX-License-Identifier: BSD-3-Clause
 * The program of spawn_hosts_test.py, which has ranks on several hosts.
 *
 * spawn ROOT COUNT [KEY VALUE]...: rank ROOT (-1: the last) has COUNT children started with these
 * info keys, and says on which hosts they are.
 *
 * later ROOT COUNT [KEY VALUE]...: the same, once rank 0 has said so and has read a line.
 *
 * twice COUNT: parents and children together spawn a second job of as many, by a child.
 *
 * serve NAME, call NAME: two jobs meet by the name of a service.
 *
 * find NAME: says whether somebody has published the name.
 *
 * join: says at which TCP port it listens, and joins whoever connects there; join HOST PORT: the
 * one who connects.
 */
#define _DEFAULT_SOURCE
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test/mpi/check.h"

enum { kName = 64 };

/* Those of a job that share a host are found together, and nobody else. */
static void CheckNodes(MPI_Comm all) {
  char host[kName / 4] = "", job[kName / 2] = "", name[kName] = "", *names;
  int size, near, same = 0;
  MPI_Comm node;
  gethostname(host, sizeof host - 1);
  /* Hosts may number their processes alike. */
  snprintf(job, sizeof job, "%d on %s", (int)getpid(), host);
  MPI_Bcast(job, sizeof job, MPI_CHAR, 0, MPI_COMM_WORLD);
  snprintf(name, sizeof name, "%s, %s", job, host);
  MPI_Comm_size(all, &size);
  names = calloc(size, kName);
  MPI_Allgather(name, kName, MPI_CHAR, names, kName, MPI_CHAR, all);
  for (int i = 0; i < size; ++i) same += strcmp(names + i * kName, name) == 0;
  MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &near);
  EXPECT(near == same);
  MPI_Comm_free(&node);
  free(names);
}

/* Everybody talks to everybody, by messages and by collectives. */
static void Mingle(MPI_Comm inter, int is_high) {
  MPI_Comm all, grid;
  int rank, size, sum = 0, from, to, got = -1, dims[1] = {0}, periods[1] = {1};
  MPI_Intercomm_merge(inter, is_high, &all);
  MPI_Comm_rank(all, &rank);
  MPI_Comm_size(all, &size);
  int* numbers = malloc(size * sizeof *numbers);
  int* others = malloc(size * sizeof *others);
  for (int i = 0; i < size; ++i) numbers[i] = rank * size + i;
  MPI_Alltoall(numbers, 1, MPI_INT, others, 1, MPI_INT, all);
  for (int i = 0; i < size; ++i) EXPECT(others[i] == i * size + rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
  EXPECT(sum == size * (size - 1) / 2);
  MPI_Dims_create(size, 1, dims);
  MPI_Cart_create(all, 1, dims, periods, 1, &grid);
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_shift(grid, 0, 1, &from, &to);
  MPI_Sendrecv(&rank, 1, MPI_INT, to, 0, &got, 1, MPI_INT, from, 0, grid, MPI_STATUS_IGNORE);
  EXPECT(got == from);
  MPI_Comm_free(&grid);
  CheckNodes(all);
  MPI_Comm_disconnect(&all);
  free(numbers);
  free(others);
}

static int Child(MPI_Comm parent, int root) {
  char name[kName] = "", *names = NULL;
  int rank, size;
  gethostname(name, sizeof name - 1);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) names = calloc(size, kName);
  MPI_Gather(name, kName, MPI_CHAR, names, kName, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank == 0) MPI_Send(names, size * kName, MPI_CHAR, root, 0, parent);
  free(names);
  Mingle(parent, 1);
  MPI_Comm_disconnect(&parent);
  return Passed();
}

static int Spawn(char* program, int argc, char** argv) {
  int rank, size, root = atoi(argv[2]), count = atoi(argv[3]), error;
  char number[16], *words[] = {"child", number, NULL};
  MPI_Comm inter;
  MPI_Info info;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (root < 0) root = size - 1;
  snprintf(number, sizeof number, "%d", root);
  MPI_Info_create(&info);
  for (int i = 4; i + 1 < argc; i += 2) MPI_Info_set(info, argv[i], argv[i + 1]);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  error = MPI_Comm_spawn(program, words, count, info, root, MPI_COMM_WORLD, &inter,
                         MPI_ERRCODES_IGNORE);
  MPI_Info_free(&info);
  if (error != MPI_SUCCESS) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(error, text, &length);
    EXPECT(ClassOf(error) == MPI_ERR_SPAWN);
    if (rank == root) printf("refused: %s\n", text);
    return Passed();
  }
  if (rank == root) {
    char* names = calloc(count, kName);
    MPI_Recv(names, count * kName, MPI_CHAR, 0, 0, inter, MPI_STATUS_IGNORE);
    printf("children on");
    for (int i = 0; i < count; ++i) printf(" %s", names + i * kName);
    printf("\n");
    fflush(stdout);
    free(names);
  }
  Mingle(inter, 0);
  MPI_Comm_disconnect(&inter);
  return Passed();
}

static int Later(char* program, int argc, char** argv) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    printf("ready\n");
    fflush(stdout);
    EXPECT(getchar() == '\n');
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return Spawn(program, argc, argv);
}

/* Both the parents and the children of the first job go through this. */
static int SpawnAgain(char* program, MPI_Comm inter, int count, int is_high) {
  char* words[] = {"second", "0", NULL};
  int size;
  MPI_Comm all, further;
  MPI_Intercomm_merge(inter, is_high, &all);
  MPI_Comm_size(all, &size);
  MPI_Comm_spawn(program, words, count, MPI_INFO_NULL, size - 1, all, &further,
                 MPI_ERRCODES_IGNORE);
  Mingle(further, 0);
  CheckNodes(all);
  MPI_Comm_disconnect(&further);
  MPI_Comm_disconnect(&all);
  MPI_Comm_disconnect(&inter);
  return Passed();
}

static int SpawnTwice(char* program, char* count) {
  char* words[] = {"first", count, NULL};
  MPI_Comm inter;
  MPI_Comm_spawn(program, words, atoi(count), MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                 MPI_ERRCODES_IGNORE);
  return SpawnAgain(program, inter, atoi(count), 0);
}

static int Second(MPI_Comm parent) {
  Mingle(parent, 1);
  MPI_Comm_disconnect(&parent);
  return Passed();
}

static int Serve(const char* service) {
  char port[MPI_MAX_PORT_NAME] = "";
  int rank;
  MPI_Comm inter;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Publish_name(service, MPI_INFO_NULL, port);
    printf("open\n");
    fflush(stdout);
  }
  MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  Mingle(inter, 0);
  MPI_Comm_disconnect(&inter);
  return Passed(); /* the name and the port end with their process */
}

static int Call(const char* service) {
  char port[MPI_MAX_PORT_NAME] = "";
  int rank;
  MPI_Comm inter;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) MPI_Lookup_name(service, MPI_INFO_NULL, port);
  MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  Mingle(inter, 1);
  MPI_Comm_disconnect(&inter);
  return Passed();
}

static int Find(const char* service) {
  char port[MPI_MAX_PORT_NAME];
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const int error = MPI_Lookup_name(service, MPI_INFO_NULL, port);
  EXPECT(error == MPI_SUCCESS || ClassOf(error) == MPI_ERR_NAME);
  printf(error == MPI_SUCCESS ? "found\n" : "unknown\n");
  return Passed();
}

/* Returns a socket whose other end is the other process. */
static int Listen(void) {
  struct sockaddr_in address = {.sin_family = AF_INET};
  socklen_t bytes = sizeof address;
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  EXPECT(bind(listening, (struct sockaddr*)&address, bytes) == 0 && listen(listening, 1) == 0);
  EXPECT(getsockname(listening, (struct sockaddr*)&address, &bytes) == 0);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  const int guest = accept(listening, NULL, NULL);
  close(listening);
  return guest;
}

static int Reach(const char* host, const char* port) {
  struct addrinfo wanted = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found = NULL;
  EXPECT(getaddrinfo(host, port, &wanted, &found) == 0);
  const int made = socket(AF_INET, SOCK_STREAM, 0);
  EXPECT(found != NULL && connect(made, found->ai_addr, found->ai_addrlen) == 0);
  freeaddrinfo(found);
  return made;
}

/* Two processes that nobody has started together. The socket is theirs again afterwards. */
static int Join(const char* host, const char* port) {
  const int joined = host == NULL ? Listen() : Reach(host, port);
  int size, mine = host == NULL, theirs = -1;
  char letter = 'a';
  MPI_Comm inter;
  EXPECT(MPI_Comm_join(joined, &inter) == MPI_SUCCESS);
  MPI_Sendrecv(&mine, 1, MPI_INT, 0, 0, &theirs, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
  EXPECT(theirs == !mine);
  MPI_Comm_remote_size(inter, &size);
  EXPECT(size == 1);
  Mingle(inter, host == NULL);
  EXPECT(write(joined, &letter, 1) == 1);
  MPI_Comm_disconnect(&inter);
  letter = 0;
  EXPECT(read(joined, &letter, 1) == 1 && letter == 'a');
  EXPECT(shutdown(joined, SHUT_WR) == 0 && read(joined, &letter, 1) == 0);
  close(joined);
  return Passed();
}

int main(int argc, char** argv) {
  MPI_Comm parent;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    if (strcmp(argv[1], "first") == 0) return SpawnAgain(argv[0], parent, atoi(argv[2]), 1);
    if (strcmp(argv[1], "second") == 0) return Second(parent);
    return Child(parent, atoi(argv[2]));
  }
  if (strcmp(argv[1], "later") == 0) return Later(argv[0], argc, argv);
  if (strcmp(argv[1], "twice") == 0) return SpawnTwice(argv[0], argv[2]);
  if (strcmp(argv[1], "spawn") == 0) return Spawn(argv[0], argc, argv);
  if (strcmp(argv[1], "serve") == 0) return Serve(argv[2]);
  if (strcmp(argv[1], "call") == 0) return Call(argv[2]);
  if (strcmp(argv[1], "join") == 0)
    return Join(argc > 3 ? argv[2] : NULL, argc > 3 ? argv[3] : NULL);
  return Find(argv[2]);
}
