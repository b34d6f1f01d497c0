! SPDX-License-Identifier: BSD-3-Clause
! Goal:   a tool in Fortran stands between the program and MPI (MPI-5.0, sections 15.2 and 19.1.5).
! Method: MPI_SEND and, for module mpi_f08, MPI_Send_f08ts are defined here and call their PMPI
!         names; what is sent still arrives, and both were counted.
module counted
  implicit none
  integer :: sends = 0, f08_sends = 0
end module

subroutine MPI_SEND(buf, count, datatype, dest, tag, comm, ierror)
  use counted
  implicit none
  integer :: buf(*), count, datatype, dest, tag, comm, ierror
  external :: PMPI_SEND
  sends = sends + 1
  call PMPI_SEND(buf, count, datatype, dest, tag, comm, ierror)
end subroutine

subroutine tool_send(buf, count, datatype, dest, tag, comm, ierror) &
  bind(C, name='mpi_send_f08ts_')
  use mpi_f08
  use counted
  implicit none
  type(*), dimension(..), intent(in) :: buf
  integer, intent(in) :: count, dest, tag
  type(MPI_Datatype), intent(in) :: datatype
  type(MPI_Comm), intent(in) :: comm
  integer, optional, intent(out) :: ierror
  f08_sends = f08_sends + 1
  call PMPI_Send(buf, count, datatype, dest, tag, comm, ierror)
end subroutine

subroutine old_program
  use mpi
  use check
  use counted
  implicit none
  integer :: request, ierror, got
  call MPI_Irecv(got, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, request, ierror)
  call MPI_Send(7, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  call MPI_F_sync_reg(got)
  call expect(sends == 1 .and. got == 7, 'MPI_SEND intercepted')
end subroutine

program intercept
  use mpi_f08
  use check
  use counted
  implicit none
  type(MPI_Request) :: request
  integer, asynchronous :: got
  call MPI_Init()
  call old_program
  call MPI_Irecv(got, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, request)
  call MPI_Send(8, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_F_sync_reg(got)
  call expect(f08_sends == 1 .and. got == 8, 'MPI_Send of mpi_f08 intercepted')
  call expect(sends == 1, 'each binding by its own name')
  call MPI_Finalize()
  call passed()
end program
