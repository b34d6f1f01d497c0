! SPDX-License-Identifier: BSD-3-Clause
! Goal:   a program in C and Fortran shares its handles, statuses, attributes, operations and error
!         handlers (MPI-5.0, section 19.3).
! Method: what one language makes the other uses, in both directions; interop.c has the other half.
module recorded
  implicit none
  integer :: errors = 0
end module

program interop
  use mpi
  use check
  use recorded
  implicit none
  external :: add, handler
  ! These functions of interop.c are declared so because C knows no LOGICAL.
  integer, external :: handles_in_c, status_in_c, attribute_in_c, reduce_in_c, error_in_c, sizes_in_c
  integer, external :: ignored_in_c, ignored_f08
  integer :: ierror, comm, newtype, op, info, request, status(MPI_STATUS_SIZE), received, keyval
  integer :: type_size, errhandler, got(2)
  integer(kind=MPI_ADDRESS_KIND) :: value, address
  logical :: flag

  call MPI_Init(ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  call MPI_Type_contiguous(3, MPI_REAL, newtype, ierror)
  call MPI_Op_create(add, .true., op, ierror)
  call MPI_Info_create(info, ierror)
  call MPI_Info_set(info, 'key', 'value', ierror)
  call expect(handles_in_c(comm, newtype, op, info) == 1, 'handles of Fortran in C')
  call expect(handles_in_c(comm, newtype, MPI_SUM, info) == 1, 'predefined handles in C')
  call expect(reduce_in_c(op) == 1, 'operation of Fortran in C')
  call expect(sizes_in_c() == 1, 'sizes of types')

  call MPI_Comm_create_errhandler(handler, errhandler, ierror)
  call MPI_Comm_set_errhandler(comm, errhandler, ierror)
  call expect(error_in_c(comm) == 1 .and. errors == 1, 'error handler of Fortran in C')

  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, keyval, &
                              0_MPI_ADDRESS_KIND, ierror)
  call MPI_Comm_set_attr(comm, keyval, 123456789012345_MPI_ADDRESS_KIND, ierror)
  call expect(attribute_in_c(comm, keyval) == 1, 'attribute of Fortran in C')
  call attribute_from_c(comm, keyval, address)
  call MPI_Comm_get_attr(comm, keyval, value, flag, ierror)
  call expect(flag .and. value == address, 'attribute of C in Fortran')
  call MPI_Type_free(newtype, ierror)
  call MPI_Op_free(op, ierror)
  call MPI_Info_free(info, ierror)
  call MPI_Comm_free(comm, ierror)

  received = 0
  call handles_from_c(comm, newtype, request, received)
  call MPI_Type_size(newtype, type_size, ierror)
  call expect(type_size == 20, 'datatype of C in Fortran')
  call MPI_Send(6, 1, MPI_INTEGER, 0, 3, comm, ierror)
  call MPI_Wait(request, status, ierror)
  call expect(received == 6 .and. status(MPI_TAG) == 3, 'request of C in Fortran')
  call MPI_Sendrecv([1, 2], 2, MPI_INTEGER, 0, 11, got, 2, MPI_INTEGER, 0, 11, comm, status, ierror)
  call expect(status_in_c(status) == 1, 'status of Fortran in C')
  call expect(ignored_in_c(MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE, status) == 1, 'ignored status in C')
  call expect(ignored_f08() == 1, 'ignored status of mpi_f08 in C')
  call MPI_Comm_free(comm, ierror)
  call MPI_Finalize(ierror)
  call passed()
end program

integer function ignored_f08()
  use mpi_f08, only: MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE
  implicit none
  integer, external :: ignored_f08_in_c
  ignored_f08 = ignored_f08_in_c(MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE)
end function

subroutine add(invec, inoutvec, length, datatype)
  implicit none
  integer :: length, datatype
  integer :: invec(length), inoutvec(length)
  if (datatype /= -1) inoutvec = invec + inoutvec
end subroutine

subroutine handler(comm, code)
  use recorded
  implicit none
  integer :: comm, code
  if (comm /= code) errors = errors + 1
end subroutine
