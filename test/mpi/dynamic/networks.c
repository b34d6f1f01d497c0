/* SPDX-License-Identifier: BSD-3-Clause
 * The program of networks_test.sh. Two ranks meet at a port that one of them opens, and spawn two
 * more; argv[1], if there is one, says where the port is to be (lamina_listen).
 */
#include "test/mpi/talk.h"

static void Meet(int rank, const char* where) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter;
  MPI_Info info;
  MPI_Info_create(&info);
  if (where != NULL) MPI_Info_set(info, "lamina_listen", where);
  if (rank == 0) MPI_Open_port(info, port);
  MPI_Info_free(&info);
  MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank == 0)
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
  else
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
  Talk(inter, rank);
  MPI_Comm_disconnect(&inter);
  if (rank == 0) MPI_Close_port(port);
}

int main(int argc, char** argv) {
  MPI_Comm parent, inter;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    Talk(parent, 1);
    MPI_Comm_disconnect(&parent);
    return Passed();
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Meet(rank, argc > 1 ? argv[1] : NULL);
  MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                 MPI_ERRCODES_IGNORE);
  Talk(inter, 0);
  MPI_Comm_disconnect(&inter);
  return Passed();
}
