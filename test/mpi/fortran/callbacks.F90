! SPDX-License-Identifier: BSD-3-Clause
! Goal:   procedures of the program that MPI calls: reductions, attribute functions, error handlers,
!         generalized requests (MPI-5.0, sections 6.9.5, 7.7, 9.3, 13.2 and 19.3.7), through mpif.h
!         and module mpi.
! Method: each procedure records that it was called and with what; attributes come back as integers.
module recorded
  implicit none
  integer :: copies = 0, deletions = 0, errors = 0, last_error = 0, last_comm = 0
  integer :: queries = 0, frees = 0, cancels = 0
  logical :: was_complete = .true.
  integer :: seen_datatype = -1
end module

program callbacks
#ifndef MPIF
  use mpi
#endif
  use check
  use recorded
  implicit none
#ifdef MPIF
  include 'mpif.h'
#endif
  external :: add, copy, remove, handler, query, free_request, cancel
  integer :: rank, ranks, ierror

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call reductions
  call attributes
  call old_attributes
  call predefined_attributes
  call error_handlers
  call generalized_requests
  call MPI_Finalize(ierror)
  call passed()
contains

  subroutine reductions
    integer :: op, pair, sums(2), mine(2)
    logical :: commutes
    call MPI_Type_contiguous(2, MPI_INTEGER, pair, ierror)
    call MPI_Type_commit(pair, ierror)
    call MPI_Op_create(add, .true., op, ierror)
    call MPI_Op_commutative(op, commutes, ierror)
    call expect(commutes, 'commutative operation')
    mine = [rank, 1]
    sums = -1
    call MPI_Allreduce(mine, sums, 1, pair, op, MPI_COMM_WORLD, ierror)
    call expect(sums(1) == ranks * (ranks - 1) / 2 .and. sums(2) == ranks, 'own operation')
    seen_datatype = -1
    call MPI_Reduce_local(mine, sums, 1, pair, op, ierror)
    call expect(sums(2) == ranks + 1, 'MPI_Reduce_local')
    call expect(seen_datatype == pair, 'the datatype handle in the callback')
    call MPI_Op_free(op, ierror)
    call expect(op == MPI_OP_NULL, 'freed operation is null')
    call MPI_Type_free(pair, ierror)
  end subroutine

  subroutine attributes
    integer :: keyval, comm, newtype, copied_type
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    logical :: flag
    extra = 1000
    call MPI_Comm_create_keyval(copy, remove, keyval, extra, ierror)
    call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, -3_MPI_ADDRESS_KIND * 2_MPI_ADDRESS_KIND**40, &
                           ierror)
    call MPI_Comm_get_attr(MPI_COMM_SELF, keyval, value, flag, ierror)
    call expect(flag .and. value == -3_MPI_ADDRESS_KIND * 2_MPI_ADDRESS_KIND**40, 'attribute')
    copies = 0
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
    call expect(copies == 1, 'copy function called')
    call MPI_Comm_get_attr(comm, keyval, value, flag, ierror)
    call expect(flag .and. value == 1000 - 3_MPI_ADDRESS_KIND * 2_MPI_ADDRESS_KIND**40, &
                'attribute as copied, with extra_state')
    deletions = 0
    call MPI_Comm_free(comm, ierror)
    call expect(deletions == 1, 'delete function called')
    call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, 5_MPI_ADDRESS_KIND, ierror)
    call expect(deletions == 2, 'delete function called on replacement')
    call MPI_Comm_delete_attr(MPI_COMM_SELF, keyval, ierror)
    call expect(deletions == 3, 'delete function called on deletion')
    call MPI_Comm_get_attr(MPI_COMM_SELF, keyval, value, flag, ierror)
    call expect(.not. flag, 'deleted attribute is gone')
    call MPI_Comm_free_keyval(keyval, ierror)
    call expect(keyval == MPI_KEYVAL_INVALID, 'freed keyval is invalid')

    call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, keyval, extra, ierror)
    call MPI_Type_dup(MPI_INTEGER, newtype, ierror)
    call MPI_Type_set_attr(newtype, keyval, 77_MPI_ADDRESS_KIND, ierror)
    call MPI_Type_dup(newtype, copied_type, ierror)
    call MPI_Type_free(newtype, ierror)
    call MPI_Type_get_attr(copied_type, keyval, value, flag, ierror)
    call expect(flag .and. value == 77, 'MPI_TYPE_DUP_FN, and the original is gone')
    call MPI_Type_free(copied_type, ierror)
    call MPI_Type_free_keyval(keyval, ierror)

    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, keyval, extra, &
                                ierror)
    call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, 1_MPI_ADDRESS_KIND, ierror)
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
    call MPI_Comm_get_attr(comm, keyval, value, flag, ierror)
    call expect(.not. flag, 'MPI_COMM_NULL_COPY_FN copies nothing')
    call MPI_Comm_free(comm, ierror)
    call MPI_Comm_free_keyval(keyval, ierror)
  end subroutine

  ! MPI-2.0 deprecated these, whose attributes are of type INTEGER.
  subroutine old_attributes
    integer :: keyval, comm, value
    logical :: flag
    call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, keyval, 0, ierror)
    call MPI_Attr_put(MPI_COMM_SELF, keyval, -12, ierror)
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
    call MPI_Attr_get(comm, keyval, value, flag, ierror)
    call expect(flag .and. value == -12, 'MPI_DUP_FN')
    call MPI_Attr_delete(comm, keyval, ierror)
    call MPI_Attr_get(comm, keyval, value, flag, ierror)
    call expect(.not. flag, 'MPI_Attr_delete')
    call MPI_Comm_free(comm, ierror)
    call MPI_Keyval_free(keyval, ierror)
  end subroutine

  subroutine predefined_attributes
    integer(kind=MPI_ADDRESS_KIND) :: value
    integer :: old_value
    logical :: flag
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierror)
    call expect(flag .and. value >= 32767 .and. value <= huge(1), 'MPI_TAG_UB is a number')
    call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, old_value, flag, ierror)
    call expect(flag .and. old_value == value, 'MPI_TAG_UB through MPI_Attr_get')
  end subroutine

  subroutine error_handlers
    integer :: errhandler, code, class
    call MPI_Comm_create_errhandler(handler, errhandler, ierror)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler, ierror)
    errors = 0
    call MPI_Send(code, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD, ierror)
    call expect(errors == 1, 'handler called')
    call MPI_Error_class(last_error, class, ierror)
    call expect(class == MPI_ERR_RANK, 'error code in the handler')
    call expect(last_comm == MPI_COMM_WORLD, 'communicator in the handler')
    call MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER, ierror)
    call expect(errors == 2 .and. last_error == MPI_ERR_OTHER, 'handler called by hand')
    call MPI_Errhandler_free(errhandler, ierror)
    call expect(errhandler == MPI_ERRHANDLER_NULL, 'freed handler is null')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
    call MPI_Send(code, -1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, ierror)
    call MPI_Error_class(ierror, class, code)
    call expect(class == MPI_ERR_COUNT, 'error code returned')
    call expect(errors == 2, 'the handler is gone')
  end subroutine

  subroutine generalized_requests
    integer :: request, status(MPI_STATUS_SIZE), count
    logical :: flag
    call MPI_Grequest_start(query, free_request, cancel, 42_MPI_ADDRESS_KIND, request, ierror)
    call MPI_Test(request, flag, status, ierror)
    call expect(.not. flag, 'not complete yet')
    call MPI_Cancel(request, ierror)
    call expect(cancels == 1 .and. .not. was_complete, 'cancel function called')
    call MPI_Grequest_complete(request, ierror)
    call MPI_Wait(request, status, ierror)
    call expect(request == MPI_REQUEST_NULL .and. queries == 1 .and. frees == 1, &
                'query and free functions called')
    call MPI_Get_count(status, MPI_INTEGER, count, ierror)
    call expect(count == 42 .and. status(MPI_TAG) == 6, 'status from the query function')
  end subroutine
end program

subroutine add(invec, inoutvec, length, datatype)
  use recorded
  implicit none
  integer :: length, datatype
  integer :: invec(2, length), inoutvec(2, length)
  inoutvec = invec + inoutvec
  seen_datatype = datatype
end subroutine

subroutine copy(comm, keyval, extra_state, value_in, value_out, flag, ierror)
  use recorded
  use, intrinsic :: iso_c_binding, only: c_intptr_t
  implicit none
  integer :: comm, keyval, ierror
  integer(kind=c_intptr_t) :: extra_state, value_in, value_out
  logical :: flag
  copies = copies + 1
  value_out = value_in + extra_state
  flag = .true.
  ierror = 0
end subroutine

subroutine remove(comm, keyval, value, extra_state, ierror)
  use recorded
  use, intrinsic :: iso_c_binding, only: c_intptr_t
  implicit none
  integer :: comm, keyval, ierror
  integer(kind=c_intptr_t) :: value, extra_state
  deletions = deletions + 1
  ierror = 0
end subroutine

subroutine handler(comm, code)
  use recorded
  implicit none
  integer :: comm, code
  errors = errors + 1
  last_error = code
  last_comm = comm
end subroutine

subroutine query(extra_state, status, ierror)
#ifndef MPIF
  use mpi
#endif
  use recorded
  implicit none
#ifdef MPIF
  include 'mpif.h'
#endif
  integer(kind=MPI_ADDRESS_KIND) :: extra_state
  integer :: status(MPI_STATUS_SIZE), ierror
  queries = queries + 1
  status(MPI_SOURCE) = MPI_UNDEFINED
  status(MPI_TAG) = 6
  call MPI_Status_set_elements(status, MPI_INTEGER, int(extra_state), ierror)
  call MPI_Status_set_cancelled(status, .false., ierror)
end subroutine

subroutine free_request(extra_state, ierror)
  use recorded
  use, intrinsic :: iso_c_binding, only: c_intptr_t
  implicit none
  integer(kind=c_intptr_t) :: extra_state
  integer :: ierror
  if (extra_state == 42) frees = frees + 1
  ierror = 0
end subroutine

subroutine cancel(extra_state, complete, ierror)
  use recorded
  use, intrinsic :: iso_c_binding, only: c_intptr_t
  implicit none
  integer(kind=c_intptr_t) :: extra_state
  logical :: complete
  integer :: ierror
  if (extra_state == 42) cancels = cancels + 1
  was_complete = complete
  ierror = 0
end subroutine
