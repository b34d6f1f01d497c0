! SPDX-License-Identifier: BSD-3-Clause
! Goal:   the regions of lamina/region.inc and MPI_Pcontrol work in every binding, and do nothing in a
!         job that is not profiled.
! Method: a region within another one, and a barrier that a pause hides; regions_test.py reads what
!         the profile says of them.
program regions
#if defined(F08)
  use mpi_f08
#elif !defined(MPIF)
  use mpi
#endif
  use check
  implicit none
#ifdef MPIF
  include 'mpif.h'
#endif
  include 'lamina/region.inc'
  character(len=20) :: name
  integer :: ierror

  name = 'outer'
  call MPI_Init(ierror)
  call lamina_region_begin(name)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call lamina_region_begin('inner')
  call lamina_region_end('inner')
  call MPI_Pcontrol(0)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Pcontrol(1)
  call lamina_region_end('outer')
  call expect(ierror == MPI_SUCCESS, 'a barrier')
  call MPI_Finalize(ierror)
  call passed()
end program
