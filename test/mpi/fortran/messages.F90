! SPDX-License-Identifier: BSD-3-Clause
! Goal:   messages, requests, statuses and reductions through mpif.h and through module mpi
!         (MPI-5.0, sections 3.2, 3.5, 3.7, 6.9, 19.1.3, 19.1.4).
! Method: what travels round a ring is known; statuses name source, tag and count; the completion
!         calls count indices from 1; the constants that are addresses do what they say.
program messages
#ifndef MPIF
  use mpi
#endif
  use check
  implicit none
#ifdef MPIF
  include 'mpif.h'
#define MPI_F_sync_reg touch
  external :: touch
#endif
  integer :: rank, ranks, ahead, behind, ierror, version, subversion
  logical :: flag

  call MPI_Initialized(flag, ierror)
  call expect(.not. flag, 'not initialised yet')
  call MPI_Init(ierror)
  call expect(ierror == MPI_SUCCESS, 'MPI_Init succeeds')
  call MPI_Initialized(flag, ierror)
  call expect(flag, 'initialised now')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  ahead = mod(rank + 1, ranks)
  behind = mod(rank + ranks - 1, ranks)
  call MPI_Get_version(version, subversion, ierror)
  call expect(version == MPI_VERSION .and. subversion == MPI_SUBVERSION, 'the version')
  call expect(MPI_WTIME() >= 0d0 .and. MPI_WTICK() > 0d0, 'the clock')

  call ring
  call requests
  call indices
  call absolute_addresses
  call in_place
  call logicals
  call matched_probe
  call persistent
  call groups
  call topology

  call MPI_Finalize(ierror)
  call MPI_Finalized(flag, ierror)
  call expect(flag, 'finalised')
  call passed()
contains

  subroutine ring
    double precision :: mine(4), theirs(8)
    integer :: status(MPI_STATUS_SIZE), count
    mine = rank
    theirs = -1
    call MPI_Sendrecv(mine, 4, MPI_DOUBLE_PRECISION, ahead, 17, theirs, 8, MPI_DOUBLE_PRECISION, &
                      behind, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierror)
    call expect(all(theirs(1:4) == behind) .and. all(theirs(5:) == -1), 'the ring')
    call expect(status(MPI_SOURCE) == behind, 'status source')
    call expect(status(MPI_TAG) == 17, 'status tag')
    call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count, ierror)
    call expect(count == 4, 'status count')
    call MPI_Get_count(status, MPI_INTEGER, count, ierror)
    call expect(count == 8, 'count in another unit')
    call MPI_Test_cancelled(status, flag, ierror)
    call expect(.not. flag, 'not cancelled')
    call MPI_Sendrecv(mine, 4, MPI_DOUBLE_PRECISION, ahead, 17, theirs, 8, MPI_DOUBLE_PRECISION, &
                      behind, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call MPI_Recv(theirs, 8, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 3, MPI_COMM_WORLD, status, ierror)
    call expect(status(MPI_SOURCE) == MPI_PROC_NULL .and. status(MPI_TAG) == MPI_ANY_TAG, &
                'status of nothing')
  end subroutine

  subroutine requests
    integer :: request(4), statuses(MPI_STATUS_SIZE, 4), in(2), out(2), i
    out = [rank, rank + 100]
    do i = 1, 2
      call MPI_Irecv(in(i), 1, MPI_INTEGER, behind, i, MPI_COMM_WORLD, request(i), ierror)
    end do
    do i = 1, 2
      call MPI_Isend(out(i), 1, MPI_INTEGER, ahead, i, MPI_COMM_WORLD, request(2 + i), ierror)
    end do
    call MPI_Waitall(4, request, statuses, ierror)
    call MPI_F_sync_reg(in)
    call expect(all(request == MPI_REQUEST_NULL), 'requests are null afterwards')
    call expect(all(in == [behind, behind + 100]), 'both arrived')
    call expect(statuses(MPI_TAG, 1) == 1 .and. statuses(MPI_TAG, 2) == 2, 'statuses in order')
    call expect(statuses(MPI_SOURCE, 2) == behind, 'source in an array of statuses')
    call MPI_Isend(out, 2, MPI_INTEGER, ahead, 5, MPI_COMM_WORLD, request(1), ierror)
    call MPI_Irecv(in, 2, MPI_INTEGER, behind, 5, MPI_COMM_WORLD, request(2), ierror)
    call MPI_Waitall(2, request, MPI_STATUSES_IGNORE, ierror)
    call expect(ierror == MPI_SUCCESS, 'statuses ignored')
  end subroutine

  subroutine indices
    integer :: request(3), found, statuses(MPI_STATUS_SIZE, 3), which(3), count, got(3), i
    do i = 1, 3
      request(i) = MPI_REQUEST_NULL
    end do
    call MPI_Irecv(got(3), 1, MPI_INTEGER, behind, 3, MPI_COMM_WORLD, request(3), ierror)
    call MPI_Send(rank, 1, MPI_INTEGER, ahead, 3, MPI_COMM_WORLD, ierror)
    call MPI_Waitany(3, request, found, statuses(:, 1), ierror)
    call expect(found == 3, 'MPI_Waitany counts from 1')
    call MPI_Waitany(3, request, found, MPI_STATUS_IGNORE, ierror)
    call expect(found == MPI_UNDEFINED, 'MPI_Waitany of null requests')
    call MPI_Irecv(got(2), 1, MPI_INTEGER, behind, 2, MPI_COMM_WORLD, request(2), ierror)
    call MPI_Send(rank, 1, MPI_INTEGER, ahead, 2, MPI_COMM_WORLD, ierror)
    call MPI_Waitsome(3, request, count, which, statuses, ierror)
    call expect(count == 1 .and. which(1) == 2, 'MPI_Waitsome counts from 1')
    call expect(statuses(MPI_SOURCE, 1) == behind, 'status of MPI_Waitsome')
    call MPI_Waitsome(3, request, count, which, statuses, ierror)
    call expect(count == MPI_UNDEFINED, 'MPI_Waitsome of null requests')
    call MPI_Testany(3, request, found, flag, MPI_STATUS_IGNORE, ierror)
    call expect(flag .and. found == MPI_UNDEFINED, 'MPI_Testany of null requests')
    call MPI_Irecv(got(1), 1, MPI_INTEGER, behind, 1, MPI_COMM_WORLD, request(1), ierror)
    call MPI_Send(rank, 1, MPI_INTEGER, ahead, 1, MPI_COMM_WORLD, ierror)
    flag = .false.
    do while (.not. flag)
      call MPI_Testany(3, request, found, flag, MPI_STATUS_IGNORE, ierror)
    end do
    call expect(found == 1 .and. got(1) == behind, 'MPI_Testany counts from 1')
    ! The request that failed is named, too.
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
    call MPI_Irecv(got(2), 0, MPI_INTEGER, behind, 4, MPI_COMM_WORLD, request(2), ierror)
    call MPI_Send(rank, 1, MPI_INTEGER, ahead, 4, MPI_COMM_WORLD, ierror)
    call MPI_Waitany(3, request, found, MPI_STATUS_IGNORE, ierror)
    call expect(ierror == MPI_ERR_TRUNCATE .and. found == 2, 'MPI_Waitany of one that failed')
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierror)
    found = 77
    call MPI_Waitany(-1, request, found, MPI_STATUS_IGNORE, ierror)
    call expect(ierror /= MPI_SUCCESS .and. found == 77, 'MPI_Waitany of no request')
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL, ierror)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierror)
  end subroutine

  ! A datatype of absolute addresses goes with MPI_BOTTOM (section 5.1.12).
  subroutine absolute_addresses
    integer :: numbers(3), newtype
    real :: value
    integer(kind=MPI_ADDRESS_KIND) :: displacements(2), lower, extent, low
    integer :: status(MPI_STATUS_SIZE), type_size
    numbers = 0
    value = 0
    call MPI_Get_address(numbers, displacements(1), ierror)
    call MPI_Get_address(value, displacements(2), ierror)
#ifndef MPIF
    call expect(MPI_AINT_DIFF(displacements(2), displacements(1)) == &
                displacements(2) - displacements(1), 'MPI_AINT_DIFF')
    low = MPI_AINT_ADD(displacements(1), 4_MPI_ADDRESS_KIND)
    call expect(low == displacements(1) + 4, 'MPI_AINT_ADD')
#endif
    call MPI_Type_create_struct(2, [3, 1], displacements, [MPI_INTEGER, MPI_REAL], newtype, ierror)
    call MPI_Type_commit(newtype, ierror)
    call MPI_Type_size(newtype, type_size, ierror)
    call expect(type_size == 16, 'size of a structure')
    if (rank == 0) then
      numbers = [1, 2, 3]
      value = 0.5
    end if
    call MPI_Bcast(MPI_BOTTOM, 1, newtype, 0, MPI_COMM_WORLD, ierror)
    call MPI_F_sync_reg(numbers)
    call MPI_F_sync_reg(value)
    call expect(all(numbers == [1, 2, 3]) .and. value == 0.5, 'MPI_BOTTOM')
    call MPI_Type_get_extent(newtype, lower, extent, ierror)
    call expect(lower == minval(displacements), 'lower bound')
    call MPI_Type_free(newtype, ierror)
    call expect(newtype == MPI_DATATYPE_NULL, 'freed type is null')
    status = 0
  end subroutine

  subroutine in_place
    integer :: sums(2), all_ranks(0:ranks - 1), i
    sums = [rank, 1]
    call MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call expect(sums(1) == ranks * (ranks - 1) / 2 .and. sums(2) == ranks, 'MPI_IN_PLACE')
    all_ranks = -1
    all_ranks(rank) = rank
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all_ranks, 1, MPI_INTEGER, &
                       MPI_COMM_WORLD, ierror)
    call expect(all(all_ranks == [(i, i=0, ranks - 1)]), 'MPI_Allgather in place')
  end subroutine

  subroutine logicals
    logical :: mine, any_of_us, all_of_us
    double precision :: pair(2), best(2)
    mine = rank == 0
    call MPI_Allreduce(mine, any_of_us, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierror)
    call MPI_Allreduce(mine, all_of_us, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierror)
    call expect(any_of_us .and. (all_of_us .eqv. ranks == 1), 'logical reductions')
    pair = [dble(mod(rank + 1, ranks)), dble(rank)]
    call MPI_Allreduce(pair, best, 1, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, MPI_COMM_WORLD, ierror)
    call expect(best(1) == ranks - 1 .and. best(2) == max(ranks - 2, 0), 'MPI_MAXLOC of pairs')
  end subroutine

  subroutine matched_probe
    integer :: message, status(MPI_STATUS_SIZE), count, got(3), request
    call MPI_Isend([rank, 2, 3], 3, MPI_INTEGER, ahead, 9, MPI_COMM_WORLD, request, ierror)
    call MPI_Mprobe(behind, 9, MPI_COMM_WORLD, message, status, ierror)
    call MPI_Get_count(status, MPI_INTEGER, count, ierror)
    call expect(count == 3, 'count of a probed message')
    call MPI_Mrecv(got, 3, MPI_INTEGER, message, MPI_STATUS_IGNORE, ierror)
    call expect(message == MPI_MESSAGE_NULL .and. all(got == [behind, 2, 3]), 'matched receive')
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  end subroutine

  subroutine persistent
    integer :: request(2), out, in, round
    call MPI_Send_init(out, 1, MPI_INTEGER, ahead, 4, MPI_COMM_WORLD, request(1), ierror)
    call MPI_Recv_init(in, 1, MPI_INTEGER, behind, 4, MPI_COMM_WORLD, request(2), ierror)
    do round = 1, 3
      out = rank * round
      call MPI_F_sync_reg(out)
      call MPI_Startall(2, request, ierror)
      call MPI_Waitall(2, request, MPI_STATUSES_IGNORE, ierror)
      call MPI_F_sync_reg(in)
      call expect(in == behind * round, 'persistent request')
    end do
    call expect(all(request /= MPI_REQUEST_NULL), 'persistent requests stay')
    call MPI_Request_free(request(1), ierror)
    call MPI_Request_free(request(2), ierror)
    call expect(all(request == MPI_REQUEST_NULL), 'freed requests are null')
  end subroutine

  subroutine groups
    integer :: world, evens, comm, translated(1), ranges(3, 1), size, result
    call MPI_Comm_group(MPI_COMM_WORLD, world, ierror)
    ranges(:, 1) = [0, ranks - 1, 2]
    call MPI_Group_range_incl(world, 1, ranges, evens, ierror)
    call MPI_Group_size(evens, size, ierror)
    call expect(size == (ranks + 1) / 2, 'range of ranks')
    call MPI_Group_translate_ranks(evens, 1, [size - 1], world, translated, ierror)
    call expect(translated(1) == 2 * (size - 1), 'translated rank')
    call MPI_Comm_create(MPI_COMM_WORLD, evens, comm, ierror)
    call expect((comm == MPI_COMM_NULL) .eqv. (mod(rank, 2) == 1), 'communicator of a group')
    if (comm /= MPI_COMM_NULL) call MPI_Comm_free(comm, ierror)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
    call MPI_Comm_compare(MPI_COMM_WORLD, comm, result, ierror)
    call expect(result == MPI_CONGRUENT, 'duplicate is congruent')
    call MPI_Comm_free(comm, ierror)
    call expect(comm == MPI_COMM_NULL, 'freed communicator is null')
    call MPI_Group_free(evens, ierror)
    call MPI_Group_free(world, ierror)
  end subroutine

  ! Logical arrays go in and come out (section 8.5).
  subroutine topology
    integer :: cart, dims(2), coordinates(2), rank_in, source, dest
    logical :: periods(2), kept(2)
    dims = 0
    call MPI_Dims_create(ranks, 2, dims, ierror)
    call expect(product(dims) == ranks, 'dimensions')
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., cart, ierror)
    kept = .false.
    dims = 0
    call MPI_Cart_get(cart, 2, dims, kept, coordinates, ierror)
    periods = [.true., .false.]
    call expect(all(kept .eqv. periods), 'periods')
    call MPI_Cart_rank(cart, coordinates, rank_in, ierror)
    call expect(rank_in == rank, 'rank of the own coordinates')
    call MPI_Cart_shift(cart, 0, 1, source, dest, ierror)
    call expect(source >= 0 .and. dest >= 0, 'periodic neighbours')
    call MPI_Comm_free(cart, ierror)
  end subroutine
end program
