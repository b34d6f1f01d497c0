// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>
#include <stddef.h>

struct particle {
  double place[3];
  int charge;
};

// The datatype of a particle, such that an array of them can be sent.
static MPI_Datatype ParticleType(void) {
  const int lengths[2] = {3, 1};
  const MPI_Aint places[2] = {offsetof(struct particle, place), offsetof(struct particle, charge)};
  const MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT};
  MPI_Datatype members, particle;
  MPI_Type_create_struct(2, lengths, places, types, &members);
  MPI_Type_create_resized(members, 0, sizeof(struct particle), &particle);
  MPI_Type_commit(&particle);
  MPI_Type_free(&members);
  return particle;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  struct particle particles[10] = {{{0}, 0}};
  MPI_Datatype type = ParticleType();
  MPI_Bcast(particles, 10, type, 0, MPI_COMM_WORLD);
  MPI_Type_free(&type);
  return MPI_Finalize();
}
