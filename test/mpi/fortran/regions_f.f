! SPDX-License-Identifier: BSD-3-Clause
! Goal:   lamina/region.inc may be included in the fixed source form, too.
! Method: as regions.F90, without a pause.
      program regions
      implicit none
      include 'mpif.h'
      include 'lamina/region.inc'
      integer ierror
      call MPI_Init(ierror)
      call lamina_region_begin('outer')
      call lamina_region_begin('inner')
      call MPI_Barrier(MPI_COMM_WORLD, ierror)
      call lamina_region_end('inner')
      call lamina_region_end('outer')
      call MPI_Finalize(ierror)
      end program
