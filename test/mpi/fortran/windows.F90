! SPDX-License-Identifier: BSD-3-Clause
! Goal:   one-sided communication through mpif.h and through module mpi (MPI-5.0, chapter 12 and
!         section 19.1): windows, attributes, accesses, epochs, and addresses of shared memory.
! Method: what the next rank puts is known; sums are known beforehand.
program windows
#ifndef MPIF
  use mpi
#endif
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  use check
  implicit none
#ifdef MPIF
  include 'mpif.h'
#define MPI_F_sync_reg touch
  external :: touch
#endif
  integer :: rank, ranks, ahead, behind, ierror

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  ahead = mod(rank + 1, ranks)
  behind = mod(rank + ranks - 1, ranks)
  call created
  call allocated
  call shared
  call MPI_Finalize(ierror)
  call passed

contains

  subroutine created
    integer, asynchronous :: memory(4)
    integer :: win, group, members, values(2), old(1)
    integer(kind=MPI_ADDRESS_KIND) :: bytes, disp, value
    integer :: length
    logical :: flag
    character(len=MPI_MAX_OBJECT_NAME) :: name
    memory = 0
    bytes = 16
    call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    call expect(ierror == MPI_SUCCESS .and. win /= MPI_WIN_NULL, 'a window is made')
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierror)
    call expect(flag .and. value == 16, 'its size')
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, ierror)
    call expect(flag .and. value == 4, 'its unit')
    call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag, ierror)
    call expect(flag .and. value == MPI_WIN_FLAVOR_CREATE, 'its flavour')
    call MPI_Win_set_name(win, 'halo', ierror)
    call MPI_Win_get_name(win, name, length, ierror)
    call expect(name == 'halo' .and. length == 4, 'its name')
    call MPI_Win_get_group(win, group, ierror)
    call MPI_Group_size(group, members, ierror)
    call expect(members == ranks, 'its group')
    values = [rank + 1, 7]
    disp = 1
    call MPI_Win_fence(0, win, ierror)
    call MPI_Put(values, 2, MPI_INTEGER, ahead, disp, 2, MPI_INTEGER, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    call MPI_F_sync_reg(memory)
    call expect(all(memory == [0, behind + 1, 7, 0]), 'what was put')
    call MPI_Win_post(group, 0, win, ierror)
    call MPI_Win_start(group, 0, win, ierror)
    disp = 3
    call MPI_Accumulate(values(1), 1, MPI_INTEGER, 0, disp, 1, MPI_INTEGER, MPI_SUM, win, ierror)
    call MPI_Win_complete(win, ierror)
    call MPI_Win_wait(win, ierror)
    call MPI_F_sync_reg(memory)
    if (rank == 0) call expect(memory(4) == ranks * (ranks + 1) / 2, 'a sum of all')
    disp = 2
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win, ierror)
    call MPI_Fetch_and_op(values(2), old, MPI_INTEGER, rank, disp, MPI_SUM, win, ierror)
    call MPI_Win_unlock(rank, win, ierror)
    call MPI_F_sync_reg(memory)
    call expect(old(1) == 7 .and. memory(3) == 14, 'fetched and added')
    call MPI_Group_free(group, ierror)
    call MPI_Win_free(win, ierror)
    call expect(win == MPI_WIN_NULL, 'the window is freed')
  end subroutine

  subroutine allocated
    integer :: win, request, unit, got(1)
    integer(kind=MPI_ADDRESS_KIND) :: bytes, disp, place
    type(c_ptr) :: base
    integer, pointer :: memory(:)
    bytes = 8
    disp = 4
    call MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
    call c_f_pointer(base, memory, [2])
    memory = rank
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_Win_lock_all(0, win, ierror)
    call MPI_Rget(got, 1, MPI_INTEGER, ahead, disp, 1, MPI_INTEGER, win, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call MPI_F_sync_reg(got)
    call expect(got(1) == ahead, 'what was got')
    call MPI_Win_flush_all(win, ierror)
    call MPI_Win_unlock_all(win, ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_Win_shared_query(win, rank, bytes, unit, place, ierror)
    call expect(ierror == MPI_SUCCESS .and. place /= 0 .and. bytes == 8, 'an address')
    call MPI_Win_free(win, ierror)
  end subroutine

  subroutine shared
    integer :: win, unit, node, node_rank, i, node_ranks
    integer(kind=MPI_ADDRESS_KIND) :: bytes
    type(c_ptr) :: base
    integer, pointer :: memory(:)
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node, ierror)
    call MPI_Comm_rank(node, node_rank, ierror)
    call MPI_Comm_size(node, node_ranks, ierror)
    bytes = 4
    call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, node, base, win, ierror)
    call c_f_pointer(base, memory, [1])
    memory(1) = 100 + node_rank
    call MPI_Win_fence(0, win, ierror)
    do i = 0, node_ranks - 1
      call MPI_Win_shared_query(win, i, bytes, unit, base, ierror)
      call c_f_pointer(base, memory, [1])
      call expect(bytes == 4 .and. unit == 4 .and. memory(1) == 100 + i, 'shared memory')
    end do
    call MPI_Win_fence(0, win, ierror)
    call MPI_Win_free(win, ierror)
    call MPI_Comm_free(node, ierror)
  end subroutine
end program
