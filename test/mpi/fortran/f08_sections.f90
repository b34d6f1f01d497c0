! SPDX-License-Identifier: BSD-3-Clause
! Goal:   where MPI_SUBARRAYS_SUPPORTED is .true., a section with gaps may be a buffer of any call,
!         also of those that return before the data moves (MPI-5.0, section 19.1.12).
! Method: rows of a matrix, every other element, planes backwards and parts of sections go through
!         blocking, nonblocking, persistent and collective calls; what lies in the gaps stays.
program f08_sections
  use mpi_f08
  use check
  implicit none
  integer, parameter :: n = 7
  integer :: rank, ranks, ahead, behind

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  ahead = mod(rank + 1, ranks)
  behind = mod(rank + ranks - 1, ranks)
  if (MPI_SUBARRAYS_SUPPORTED) then
    call blocking
    call nonblocking
    call persistent
    call parts
    call collective
    call nonblocking_collective
    call derived_types
    call persistent_collective
    call partitioned
  end if
  call MPI_Finalize()
  call passed()
contains

  pure function table(seed) result(matrix)
    integer, intent(in) :: seed
    integer :: matrix(n, n), i, j
    do j = 1, n
      do i = 1, n
        matrix(i, j) = 1000 * seed + 10 * i + j
      end do
    end do
  end function

  subroutine blocking
    integer :: mine(n, n), theirs(n, n), expected(n, n)
    mine = table(rank)
    expected = table(behind)
    theirs = -1
    call MPI_Sendrecv(mine(3, :), n, MPI_INTEGER, ahead, 1, theirs(5, :), n, MPI_INTEGER, behind, &
                      1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call expect(all(theirs(5, :) == expected(3, :)), 'a row')
    theirs(5, :) = -1
    call expect(all(theirs == -1), 'nothing else')
    call MPI_Bcast(mine(1:n:2, n:1:-3), 12, MPI_INTEGER, 0, MPI_COMM_WORLD)
    expected = table(rank)
    theirs = table(0)
    expected(1:n:2, n:1:-3) = theirs(1:n:2, n:1:-3)
    call expect(all(mine == expected), 'every other row, columns backwards')
  end subroutine

  subroutine nonblocking
    integer, asynchronous :: mine(n, n), theirs(n, n)
    integer :: expected(n, n), count
    type(MPI_Request) :: request(2)
    type(MPI_Status) :: statuses(2)
    mine = table(rank)
    expected = table(behind)
    theirs = -1
    call MPI_Irecv(theirs(2:n:2, 3:5), 9, MPI_INTEGER, behind, 2, MPI_COMM_WORLD, request(1))
    call MPI_Isend(mine(1:5:2, 1:n:3), 9, MPI_INTEGER, ahead, 2, MPI_COMM_WORLD, request(2))
    call MPI_Waitall(2, request, statuses)
    call MPI_F_sync_reg(theirs)
    call expect(all(theirs(2:n:2, 3:5) == expected(1:5:2, 1:n:3)), 'nonblocking sections')
    theirs(2:n:2, 3:5) = -1
    call expect(all(theirs == -1), 'nothing else, nonblocking')
    call MPI_Get_elements(statuses(1), MPI_INTEGER, count)
    call expect(count == 9, 'elements received into a section')
  end subroutine

  subroutine persistent
    integer, asynchronous :: mine(n, n), theirs(n, n)
    integer :: expected(n, n), round
    type(MPI_Request) :: request(2)
    call MPI_Recv_init(theirs(4, :), n, MPI_INTEGER, behind, 3, MPI_COMM_WORLD, request(1))
    call MPI_Send_init(mine(6, n:1:-1), n, MPI_INTEGER, ahead, 3, MPI_COMM_WORLD, request(2))
    do round = 1, 2
      mine = table(rank + round)
      expected = table(behind + round)
      theirs = 0
      call MPI_F_sync_reg(mine)
      call MPI_F_sync_reg(theirs)
      call MPI_Startall(2, request)
      call MPI_Waitall(2, request, MPI_STATUSES_IGNORE)
      call MPI_F_sync_reg(theirs)
      call expect(all(theirs(4, :) == expected(6, n:1:-1)), 'persistent sections')
    end do
    call MPI_Request_free(request(1))
    call MPI_Request_free(request(2))
  end subroutine

  ! These calls use fewer elements than the section has, or elements of another size than the datatype.
  subroutine parts
    double precision, asynchronous :: mine(n, 3), theirs(n, 3)
    double precision :: expected(n, 3)
    type(MPI_Request) :: request
    integer :: i
    mine = rank
    do i = 1, 3
      mine(:, i) = mine(:, i) + i * 0.25d0
    end do
    expected = -1
    expected(1, :) = behind + [0.25d0, 0.5d0, 0.75d0]
    expected(3, 1) = behind + 0.25d0
    theirs = -1
    call MPI_Irecv(theirs(1:3:2, :), 4, MPI_DOUBLE_PRECISION, behind, 4, MPI_COMM_WORLD, request)
    call MPI_Send(mine(2:4:2, :), 4, MPI_DOUBLE_PRECISION, ahead, 4, MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_F_sync_reg(theirs)
    expected = -1
    expected(1:3:2, 1) = behind + 0.25d0
    expected(1:3:2, 2) = behind + 0.5d0
    call expect(all(theirs == expected), 'a part of a section')
    theirs = -1
    call MPI_Irecv(theirs(1, :), 24, MPI_BYTE, behind, 5, MPI_COMM_WORLD, request)
    call MPI_Send(mine(2, :), 24, MPI_BYTE, ahead, 5, MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_F_sync_reg(theirs)
    call expect(all(theirs(1, :) == behind + [0.25d0, 0.5d0, 0.75d0]), 'bytes of a section')
  end subroutine

  subroutine collective
    integer :: mine(n, n), sums(n, n), all_of_us(2 * n, 0:ranks - 1), i
    mine = table(rank)
    sums = -1
    call MPI_Allreduce(mine(2, :), sums(:, 3), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call expect(all(sums(:, 3) == [(500 * ranks * (ranks - 1) + ranks * (20 + i), i=1, n)]), &
                'reduction of a row into a column')
    call MPI_Allreduce(MPI_IN_PLACE, mine(4, :), n, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    call expect(all(mine(4, :) == [(1000 * (ranks - 1) + 40 + i, i=1, n)]), 'in place')
    all_of_us = -1
    mine = table(rank)
    call MPI_Allgather(mine(3, :), n, MPI_INTEGER, all_of_us(1:2 * n:2, :), n, MPI_INTEGER, &
                       MPI_COMM_WORLD)
    do i = 0, ranks - 1
      mine = table(i)
      call expect(all(all_of_us(1::2, i) == mine(3, :)), 'gathered rows')
    end do
    call expect(all(all_of_us(2::2, :) == -1), 'nothing between them')
  end subroutine

  subroutine nonblocking_collective
    integer, asynchronous :: mine(n, n), sums(n, n)
    integer :: i
    logical :: flag
    type(MPI_Request) :: request
    mine = table(rank)
    sums = -1
    call MPI_Iallreduce(mine(2, :), sums(3, :), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_F_sync_reg(sums)
    call expect(all(sums(3, :) == [(500 * ranks * (ranks - 1) + ranks * (20 + i), i=1, n)]), &
                'nonblocking reduction of a row')
    sums(3, :) = -1
    call expect(all(sums == -1), 'nothing else, nonblocking reduction')
    call MPI_Ibcast(mine(1:n:3, 2), 3, MPI_INTEGER, ranks - 1, MPI_COMM_WORLD, request)
    flag = .false.
    do while (.not. flag)
      call MPI_Test(request, flag, MPI_STATUS_IGNORE)
    end do
    call MPI_F_sync_reg(mine)
    call expect(all(mine(1:n:3, 2) == 1000 * (ranks - 1) + [12, 42, 72]), 'nonblocking broadcast')
  end subroutine

  ! Each round sees what the section holds when it starts, and is started and completed by several
  ! of the calls that can.
  subroutine persistent_collective
    integer, asynchronous :: mine(n, n), sums(n, n)
    integer :: i, round, at, count, indices(2)
    logical :: flag
    type(MPI_Request) :: requests(2)
    call MPI_Allreduce_init(mine(2, :), sums(3, :), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, &
                            MPI_INFO_NULL, requests(1))
    call MPI_Bcast_init(mine(5, n:1:-1), n, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &
                        requests(2))
    do round = 1, 4
      mine = table(rank + round)
      sums = -1
      call MPI_F_sync_reg(mine)
      if (round == 1) then
        call MPI_Start(requests(1))
        call MPI_Start(requests(2))
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      else
        call MPI_Startall(2, requests)
        if (round == 2) then
          call MPI_Waitany(2, requests, at, MPI_STATUS_IGNORE)
          call MPI_Wait(requests(3 - at), MPI_STATUS_IGNORE)
        else if (round == 3) then
          flag = .false.
          do while (.not. flag)
            call MPI_Testall(2, requests, flag, MPI_STATUSES_IGNORE)
          end do
        else
          call MPI_Waitsome(2, requests, count, indices, MPI_STATUSES_IGNORE)
          do i = 1, 2
            call MPI_Wait(requests(i), MPI_STATUS_IGNORE)
          end do
        end if
      end if
      call MPI_F_sync_reg(sums)
      call MPI_F_sync_reg(mine)
      call expect(all(sums(3, :) == [(500 * ranks * (ranks - 1) + ranks * (1000 * round + 20 + i), &
                                      i=1, n)]), 'persistent reduction of a row')
      call expect(all(mine(5, :) == [(1000 * round + 50 + i, i=1, n)]), 'persistent broadcast')
      sums(3, :) = -1
      call expect(all(sums == -1), 'nothing else, persistent reduction')
      ! The request is inactive, so nothing comes back a second time.
      mine(5, :) = 7
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      call expect(all(mine(5, :) == 7), 'an inactive request touches nothing')
    end do
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
  end subroutine

  ! The message is rows of a matrix, with a partition for each two elements of every other row.
  subroutine partitioned
    integer, asynchronous :: mine(8, 6), theirs(8, 6)
    integer :: i, round
    logical :: flag
    type(MPI_Request) :: send, receive
    call MPI_Psend_init(mine(1:8:2, :), 12, 2_MPI_COUNT_KIND, MPI_INTEGER, ahead, 8, &
                        MPI_COMM_WORLD, MPI_INFO_NULL, send)
    call MPI_Precv_init(theirs(2:8:2, :), 6, 4_MPI_COUNT_KIND, MPI_INTEGER, behind, 8, &
                        MPI_COMM_WORLD, MPI_INFO_NULL, receive)
    do round = 1, 3
      theirs = -1
      mine = 0
      call MPI_Start(receive)
      call MPI_Start(send)
      do i = 1, 6
        mine(1:8:2, i) = 100 * rank + 10 * round + i
        if (round == 1) call MPI_Pready_range(2 * i - 2, 2 * i - 1, send)
        if (round == 2) call MPI_Pready_list(2, [2 * i - 1, 2 * i - 2], send)
        if (round == 3) call MPI_Pready(2 * i - 2, send)
        if (round == 3) call MPI_Pready(2 * i - 1, send)
      end do
      if (round == 2) then
        flag = .false.
        do while (.not. flag)
          call MPI_Parrived(receive, 5, flag)
        end do
        call MPI_F_sync_reg(theirs)
        call expect(all(theirs(2:8:2, 6) == 100 * behind + 26), 'a partition that has arrived')
      end if
      call MPI_Wait(send, MPI_STATUS_IGNORE)
      call MPI_Wait(receive, MPI_STATUS_IGNORE)
      call MPI_F_sync_reg(theirs)
      do i = 1, 6
        call expect(all(theirs(2:8:2, i) == 100 * behind + 10 * round + i), 'partitions')
      end do
      call expect(all(theirs(1:8:2, :) == -1), 'nothing between them, partitioned')
    end do
    call MPI_Request_free(send)
    call MPI_Request_free(receive)
  end subroutine

  ! A datatype with gaps is applied to a section with gaps, which is every other element of a row.
  subroutine derived_types
    integer, asynchronous :: mine(n, n), theirs(n, n)
    integer :: expected(n, n), count
    type(MPI_Datatype) :: every_other
    type(MPI_Request) :: request
    call MPI_Type_vector(3, 1, 2, MPI_INTEGER, every_other)
    call MPI_Type_commit(every_other)
    mine = table(rank)
    expected = table(behind)
    theirs = -1
    call MPI_Irecv(theirs(5, :), 1, every_other, behind, 6, MPI_COMM_WORLD, request)
    call MPI_Send(mine(2, :), 1, every_other, ahead, 6, MPI_COMM_WORLD)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_F_sync_reg(theirs)
    call expect(all(theirs(5, 1:5:2) == expected(2, 1:5:2)), 'every other element of a row')
    theirs(5, 1:5:2) = -1
    call expect(all(theirs == -1), 'nothing between them, with a datatype')
    call MPI_Recv_init(theirs(6, :), 1, every_other, behind, 7, MPI_COMM_WORLD, request)
    do count = 1, 2
      theirs = -1
      call MPI_Start(request)
      call MPI_Send(mine(count, :), 1, every_other, ahead, 7, MPI_COMM_WORLD)
      call MPI_Wait(request, MPI_STATUS_IGNORE)
      call MPI_F_sync_reg(theirs)
      call expect(all(theirs(6, 1:5:2) == expected(count, 1:5:2)), 'the same, persistent')
    end do
    call MPI_Request_free(request)
    call MPI_Type_free(every_other)
  end subroutine
end program
