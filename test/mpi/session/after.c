/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: sessions work after a world model that was alone in the process has ended, and MPI_Init
 * after sessions that have ended (MPI-5.0, section 11.3). With an argument the sessions are first.
 */
#include "test/mpi/session/session.h"

static void Sessions(void) {
  int round;
  for (round = 0; round < 3; ++round) {
    MPI_Session session = Open();
    MPI_Comm world = CommOf(session, "mpi://WORLD", "after");
    EXPECT(Sum(world) == SizeOf(world));
    MPI_Comm_free(&world);
    EXPECT(MPI_Session_finalize(&session) == MPI_SUCCESS);
  }
}

int main(int argc, char** argv) {
  int flag;
  if (argc > 1) Sessions();
  MPI_Init(&argc, &argv);
  EXPECT(Sum(MPI_COMM_WORLD) == SizeOf(MPI_COMM_WORLD));
  MPI_Finalize();
  MPI_Finalized(&flag);
  EXPECT(flag);
  if (argc == 1) Sessions();
  return failures != 0;
}
