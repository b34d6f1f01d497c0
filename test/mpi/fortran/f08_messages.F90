! SPDX-License-Identifier: BSD-3-Clause
! Goal:   module mpi_f08: handles and statuses have types, ierror may be left out, arguments may be
!         named, counts may be of either kind (MPI-5.0, sections 19.1.2, 19.2, 19.3.4, 19.3.5).
! Method: a ring, requests, datatypes, communicators, info, groups and attributes without ierror.
module own_procedures
  use mpi_f08
  implicit none
  integer :: copies = 0, deletions = 0, errors = 0, last_error = 0
  type(MPI_Comm) :: last_comm
contains
  subroutine add(invec, inoutvec, len, datatype)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: in(:), inout(:)
    call c_f_pointer(invec, in, [len])
    call c_f_pointer(inoutvec, inout, [len])
    if (datatype == MPI_INTEGER) inout = in + inout
  end subroutine

  subroutine copy(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, &
                  ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    copies = copies + 1
    attribute_val_out = attribute_val_in + extra_state
    flag = oldcomm == MPI_COMM_SELF
    ierror = MPI_SUCCESS
  end subroutine

  subroutine remove(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    deletions = deletions + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine handler(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    errors = errors + 1
    last_error = error_code
    last_comm = comm
  end subroutine
end module

program f08_messages
  use mpi_f08
  use check
  use own_procedures
  implicit none
  integer :: rank, ranks, ahead, behind, ierror

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(comm=MPI_COMM_WORLD, size=ranks, ierror=ierror)
  call expect(ierror == MPI_SUCCESS, 'ierror where it is asked for')
  ahead = mod(rank + 1, ranks)
  behind = mod(rank + ranks - 1, ranks)
  call handles
  call ring
  call requests
  call addresses
  call reductions
  call attributes
  call error_handlers
  call topology
  call memory
  call PMPI_Barrier(MPI_COMM_WORLD)
  call expect(MPI_Wtime() >= 0d0 .and. PMPI_Wtime() >= 0d0, 'the clock')
  call MPI_Finalize()
  call passed()
contains

  subroutine handles
    type(MPI_Comm) :: comm
    type(MPI_Group) :: group, other
    type(MPI_Info) :: info
    character(len=MPI_MAX_OBJECT_NAME) :: name
    character(len=30) :: value
    integer :: length, size
    logical :: flag
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    call expect(comm /= MPI_COMM_WORLD .and. .not. comm == MPI_COMM_NULL, 'comparison of handles')
    call expect(comm%MPI_VAL /= MPI_COMM_WORLD%MPI_VAL, 'the handle as an integer')
    call MPI_Comm_set_name(comm, 'typed')
    call MPI_Comm_get_name(comm, name, length)
    call expect(name == 'typed' .and. length == 5, 'name')
    call MPI_Comm_group(comm, group)
    call MPI_Group_incl(group, 1, [ranks - 1], other)
    call MPI_Group_size(other, size)
    call expect(size == 1 .and. group /= other, 'groups')
    call MPI_Group_free(group)
    call MPI_Group_free(other)
    call MPI_Comm_free(comm)
    call expect(comm == MPI_COMM_NULL, 'freed communicator is null')
    call MPI_Info_create(info)
    call MPI_Info_set(info, 'a', 'b c')
    call MPI_Info_get(info, 'a', len(value), value, flag)
    call expect(flag .and. value == 'b c', 'info')
    call MPI_Info_free(info)
    call expect(info == MPI_INFO_NULL, 'freed info is null')
  end subroutine

  subroutine ring
    real :: mine(3), theirs(3)
    type(MPI_Status) :: status
    integer :: f_status(MPI_STATUS_SIZE), count
    integer(kind=MPI_COUNT_KIND) :: elements
    character(len=5) :: word, got
    type(MPI_Message) :: message
    type(MPI_Request) :: request
    mine = rank
    call MPI_Sendrecv(mine, 3, MPI_REAL, ahead, 8, theirs, 3, MPI_REAL, behind, 8, &
                      MPI_COMM_WORLD, status)
    call expect(all(theirs == behind), 'the ring')
    call expect(status%MPI_SOURCE == behind .and. status%MPI_TAG == 8, 'status fields')
    call MPI_Get_count(status, MPI_REAL, count)
    call expect(count == 3, 'status count')
    call MPI_Get_elements_x(status, MPI_REAL, elements)
    call expect(elements == 3, 'elements')
    call MPI_Status_f082f(status, f_status)
    call expect(f_status(MPI_SOURCE) == behind .and. f_status(MPI_TAG) == 8, 'MPI_Status_f082f')
    f_status(MPI_TAG) = 9
    call MPI_Status_f2f08(f_status, status)
    call expect(status%MPI_TAG == 9 .and. status%MPI_SOURCE == behind, 'MPI_Status_f2f08')
    word = 'hello'
    call MPI_Isend(word, 5, MPI_CHARACTER, ahead, 1, MPI_COMM_WORLD, request)
    call MPI_Mprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, message, status)
    call MPI_Mrecv(got, 5, MPI_CHARACTER, message, MPI_STATUS_IGNORE)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call expect(got == 'hello' .and. message == MPI_MESSAGE_NULL, 'characters')
  end subroutine

  subroutine requests
    type(MPI_Request) :: request(4)
    type(MPI_Status) :: statuses(4)
    integer, asynchronous :: in(2)
    integer :: out(2), found, i
    logical :: flag
    out = [rank, rank + 10]
    request = MPI_REQUEST_NULL
    do i = 1, 2
      call MPI_Irecv(in(i), 1, MPI_INTEGER, behind, i, MPI_COMM_WORLD, request(i))
      call MPI_Isend(out(i), 1, MPI_INTEGER, ahead, i, MPI_COMM_WORLD, request(2 + i))
    end do
    call MPI_Waitall(4, request, statuses)
    call MPI_F_sync_reg(in)
    call expect(all(request == MPI_REQUEST_NULL), 'requests are null afterwards')
    call expect(all(in == [behind, behind + 10]), 'both arrived')
    call expect(statuses(2)%MPI_TAG == 2, 'statuses in order')
    call MPI_Waitany(4, request, found, MPI_STATUS_IGNORE)
    call expect(found == MPI_UNDEFINED, 'MPI_Waitany of null requests')
    call MPI_Irecv(in, 1, MPI_INTEGER, behind, 3, MPI_COMM_WORLD, request(4))
    call MPI_Send(rank, 1, MPI_INTEGER, ahead, 3, MPI_COMM_WORLD)
    call MPI_Waitany(4, request, found, statuses(1))
    call expect(found == 4, 'MPI_Waitany counts from 1')
    call MPI_Testall(4, request, flag, MPI_STATUSES_IGNORE)
    call expect(flag, 'MPI_Testall of null requests')
    call MPI_Isend(out, 2, MPI_INTEGER, ahead, 3, MPI_COMM_WORLD, request(1))
    call MPI_Recv(in, 2, MPI_INTEGER, behind, 3, MPI_COMM_WORLD, statuses(1), ierror)
    call MPI_Waitall(1, request, MPI_STATUSES_IGNORE)
  end subroutine

  subroutine addresses
    integer, target :: numbers(2)
    type(MPI_Datatype) :: newtype, types(2)
    integer(kind=MPI_ADDRESS_KIND) :: at(2), lower, extent
    integer :: sum_of_ranks
    numbers = 0
    if (rank == 0) numbers = [5, 6]
    call MPI_Get_address(numbers(1), at(1))
    call MPI_Get_address(numbers(2), at(2))
    call expect(MPI_Aint_diff(at(2), at(1)) == 4, 'addresses')
    types = MPI_INTEGER
    call MPI_Type_create_struct(2, [1, 1], at, types, newtype)
    call MPI_Type_commit(newtype)
    call MPI_Bcast(MPI_BOTTOM, 1, newtype, 0, MPI_COMM_WORLD)
    call MPI_F_sync_reg(numbers)
    call expect(all(numbers == [5, 6]), 'MPI_BOTTOM')
    call MPI_Type_get_extent(newtype, lower, extent)
    call expect(lower == at(1) .and. extent == 8, 'extent')
    call MPI_Type_free(newtype)
    sum_of_ranks = rank
    call MPI_Allreduce(MPI_IN_PLACE, sum_of_ranks, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call expect(sum_of_ranks == ranks * (ranks - 1) / 2, 'MPI_IN_PLACE')
  end subroutine

  subroutine reductions
    type(MPI_Op) :: op
    integer :: sums(3)
    logical :: commutes, any_of_us
    call MPI_Op_create(add, .true., op)
    call MPI_Op_commutative(op, commutes)
    call expect(commutes, 'commutative')
    call MPI_Allreduce([rank, 1, 2], sums, 3, MPI_INTEGER, op, MPI_COMM_WORLD)
    call expect(all(sums == [ranks * (ranks - 1) / 2, ranks, 2 * ranks]), 'own operation')
    call MPI_Op_free(op)
    call expect(op == MPI_OP_NULL, 'freed operation is null')
    call MPI_Allreduce(rank == 0, any_of_us, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD)
    call expect(any_of_us, 'MPI_LOR')
  end subroutine

  subroutine attributes
    type(MPI_Comm) :: comm
    integer :: keyval
    integer(kind=MPI_ADDRESS_KIND) :: value
    logical :: flag
    call MPI_Comm_create_keyval(copy, remove, keyval, 100_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, 11_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(MPI_COMM_SELF, comm)
    call MPI_Comm_get_attr(comm, keyval, value, flag)
    call expect(flag .and. value == 111 .and. copies == 1, 'copied attribute')
    call MPI_Comm_free(comm)
    call MPI_Comm_delete_attr(MPI_COMM_SELF, keyval)
    call expect(deletions == 2, 'deleted attributes')
    call MPI_Comm_free_keyval(keyval)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, &
                                0_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, 12_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(MPI_COMM_SELF, comm)
    call MPI_Comm_get_attr(comm, keyval, value, flag)
    call expect(flag .and. value == 12, 'MPI_COMM_DUP_FN')
    call MPI_Comm_free(comm)
    call MPI_Comm_free_keyval(keyval)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
    call expect(flag .and. value >= 32767 .and. value <= huge(1), 'MPI_TAG_UB')
  end subroutine

  subroutine error_handlers
    type(MPI_Errhandler) :: errhandler
    integer :: class, nothing
    call MPI_Comm_create_errhandler(handler, errhandler)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler)
    call MPI_Send(nothing, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD)
    call MPI_Error_class(last_error, class)
    call expect(errors == 1 .and. class == MPI_ERR_RANK, 'handler called')
    call expect(last_comm == MPI_COMM_WORLD, 'communicator in the handler')
    call MPI_Errhandler_free(errhandler)
    call expect(errhandler == MPI_ERRHANDLER_NULL, 'freed handler is null')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Send(nothing, 1, MPI_INTEGER, 0, -5, MPI_COMM_WORLD, ierror)
    call MPI_Error_class(ierror, class)
    call expect(class == MPI_ERR_TAG .and. errors == 1, 'error code returned')
  end subroutine

  subroutine topology
    type(MPI_Comm) :: cart, graph
    integer :: dims(1), coordinates(1), in, out, sources(1), destinations(1)
    integer :: source_weights(1), destination_weights(1)
    logical :: periods(1), weighted
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., cart)
    call MPI_Cart_get(cart, 1, dims, periods, coordinates)
    call expect(periods(1) .and. dims(1) == ranks .and. coordinates(1) == rank, 'cartesian')
    call MPI_Comm_free(cart)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [behind], MPI_UNWEIGHTED, 1, [ahead], &
                                        MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph)
    call MPI_Dist_graph_neighbors_count(graph, in, out, weighted)
    call expect(in == 1 .and. out == 1 .and. .not. weighted, 'MPI_UNWEIGHTED')
    call MPI_Dist_graph_neighbors(graph, 1, sources, MPI_UNWEIGHTED, 1, destinations, &
                                  MPI_UNWEIGHTED)
    call expect(sources(1) == behind .and. destinations(1) == ahead, 'neighbours')
    call MPI_Comm_free(graph)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [behind], [3], 1, [ahead], [4], &
                                        MPI_INFO_NULL, .false., graph)
    call MPI_Dist_graph_neighbors(graph, 1, sources, source_weights, 1, destinations, &
                                  destination_weights)
    call expect(source_weights(1) == 3 .and. destination_weights(1) == 4, 'weights')
    call MPI_Comm_free(graph)
  end subroutine

  subroutine memory
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr) :: base
    double precision, pointer :: numbers(:)
    integer :: bytes
    call MPI_Alloc_mem(80_MPI_ADDRESS_KIND, MPI_INFO_NULL, base)
    call c_f_pointer(base, numbers, [10])
    numbers = 1
    call expect(sum(numbers) == 10, 'allocated memory')
    call MPI_Free_mem(numbers)
    call MPI_Sizeof(1d0, bytes)
    call expect(bytes == 8, 'MPI_Sizeof')
  end subroutine
end program
