! SPDX-License-Identifier: BSD-3-Clause
! What ring.c does, in Fortran: a counter goes round once.
program ring
  use mpi_f08
  implicit none
  integer :: rank, ranks, counted
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  counted = 0
  if (rank > 0) call MPI_Recv(counted, 1, MPI_INTEGER, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  counted = counted + 1
  if (rank < ranks - 1) call MPI_Send(counted, 1, MPI_INTEGER, rank + 1, 0, MPI_COMM_WORLD)
  if (rank == ranks - 1) write (*, '(i0, a)') counted, ' ranks counted'
  call MPI_Finalize()
end program
