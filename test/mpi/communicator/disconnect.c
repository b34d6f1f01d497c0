/* SPDX-License-Identifier: BSD-3-Clause
 * Goal: MPI_Comm_disconnect gives a communicator back as MPI_Comm_free does, all its members
 * together and after what is on its way (MPI-5.0, section 11.10.4).
 */
#include "test/mpi/check.h"

static int deleted;

static int Deleted(MPI_Comm comm, int keyval, void* value, void* state) {
  (void)comm, (void)keyval, (void)value, (void)state;
  ++deleted;
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  MPI_Comm twin, between, half, world = MPI_COMM_WORLD, self = MPI_COMM_SELF, none = MPI_COMM_NULL;
  MPI_Request request;
  int rank, size, keyval, sent, seen = -1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  /* This one has an attribute and has carried a message. */
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, Deleted, &keyval, NULL);
  MPI_Comm_set_attr(twin, keyval, &deleted);
  sent = rank;
  MPI_Irecv(&seen, 1, MPI_INT, (rank + size - 1) % size, 3, twin, &request);
  MPI_Send(&sent, 1, MPI_INT, (rank + 1) % size, 3, twin);
  EXPECT(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  EXPECT(MPI_Comm_disconnect(&twin) == MPI_SUCCESS && twin == MPI_COMM_NULL);
  EXPECT(seen == (rank + size - 1) % size && deleted == 1);
  MPI_Comm_free_keyval(&keyval);

  if (size > 1) { /* between two groups */
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &between);
    EXPECT(MPI_Comm_disconnect(&between) == MPI_SUCCESS && between == MPI_COMM_NULL);
    EXPECT(MPI_Comm_disconnect(&half) == MPI_SUCCESS);
  }

#ifdef MPI_ABI_VERSION /* what other MPIs do not check */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  EXPECT(ClassOf(MPI_Comm_disconnect(&world)) == MPI_ERR_COMM && world == MPI_COMM_WORLD);
  EXPECT(ClassOf(MPI_Comm_disconnect(&self)) == MPI_ERR_COMM && self == MPI_COMM_SELF);
  EXPECT(ClassOf(MPI_Comm_disconnect(&none)) == MPI_ERR_COMM);
  EXPECT(ClassOf(MPI_Comm_disconnect(NULL)) == MPI_ERR_ARG);
#else
  (void)world, (void)self, (void)none;
#endif
  return Passed();
}
