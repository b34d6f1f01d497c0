! SPDX-License-Identifier: BSD-3-Clause
! Goal:   in module mpi_f08 counts of kind MPI_COUNT_KIND go by the same names, and reach the large
!         count functions of C (MPI-5.0, sections 2.5.8 and 19.2).
! Method: messages, datatypes and statuses with large counts; a tool in C counts MPI_Send_c.
module large_operation
  use mpi_f08
  implicit none
contains
  subroutine add(invec, inoutvec, len, datatype)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: invec, inoutvec
    integer(kind=MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: in(:), inout(:)
    call c_f_pointer(invec, in, [len])
    call c_f_pointer(inoutvec, inout, [len])
    if (datatype == MPI_INTEGER) inout = in + inout
  end subroutine
end module

program f08_large
  use, intrinsic :: iso_c_binding, only: c_int
  use mpi_f08
  use check
  use large_operation
  implicit none
  interface
    integer(c_int) function sends_seen() bind(C)
      import
    end function
  end interface
  integer, parameter :: big = MPI_COUNT_KIND
  integer(kind=MPI_COUNT_KIND) :: count, lower, extent, size, addresses(1), counts(1)
  integer(kind=MPI_COUNT_KIND) :: num_integers, num_addresses, num_counts, num_datatypes
  integer :: combiner, small, integers(1)
  integer, asynchronous :: got(4)
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  type(MPI_Datatype) :: huge_type, contents(1)
  type(MPI_Op) :: op
  integer :: sums(2)

  call MPI_Init()
  call MPI_Irecv(got, 4_big, MPI_INTEGER, 0, 1, MPI_COMM_SELF, request)
  call MPI_Send([1, 2, 3], 3_big, MPI_INTEGER, 0, 1, MPI_COMM_SELF)
  call MPI_Wait(request, status)
  call MPI_F_sync_reg(got)
  call expect(all(got(1:3) == [1, 2, 3]), 'a message with large counts')
  call expect(sends_seen() == 1, 'MPI_Send_c was called')
  call MPI_Get_count(status, MPI_INTEGER, count)
  call MPI_Get_count(status, MPI_INTEGER, small)
  call expect(count == 3 .and. small == 3, 'MPI_Get_count of both kinds')

  call MPI_Type_contiguous(3_big * 2_big**30, MPI_INTEGER, huge_type)
  call MPI_Type_size(huge_type, size)
  call expect(size == 12_big * 2_big**30, 'size above 4 GiB')
  call MPI_Type_size(huge_type, small)
  call expect(small == MPI_UNDEFINED, 'a size that does not fit')
  call MPI_Type_get_extent(huge_type, lower, extent)
  call expect(lower == 0 .and. extent == 12_big * 2_big**30, 'extent above 4 GiB')
  call MPI_Type_get_envelope(huge_type, num_integers, num_addresses, num_counts, num_datatypes, &
                             combiner)
  call expect(num_counts == 1 .and. num_datatypes == 1 .and. combiner == MPI_COMBINER_CONTIGUOUS, &
              'envelope with large counts')
  call MPI_Type_get_contents(huge_type, num_integers, num_addresses, num_counts, num_datatypes, &
                             integers, addresses, counts, contents)
  call expect(counts(1) == 3_big * 2_big**30 .and. contents(1) == MPI_INTEGER, &
              'contents with large counts')
  call MPI_Type_free(huge_type)

  call MPI_Op_create_c(add, .true., op)
  sums = [10, 20]
  call MPI_Reduce_local([1, 2], sums, 2_big, MPI_INTEGER, op)
  call expect(all(sums == [11, 22]), 'operation with a large count')
  call MPI_Reduce_local([1, 2], sums, 2, MPI_INTEGER, op)
  call expect(all(sums == [12, 24]), 'the same operation with a small one')
  call MPI_Op_free(op)
  call MPI_Finalize()
  call passed()
end program
