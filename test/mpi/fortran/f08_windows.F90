! SPDX-License-Identifier: BSD-3-Clause
! Goal:   one-sided communication through module mpi_f08 (MPI-5.0, chapter 12 and section 19.1).
! Method: windows of every flavour; what other ranks put or added is known.
program f08_windows
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  use mpi_f08
  use check
  implicit none
  integer :: rank, ranks, ahead, behind, unit, i
  integer, asynchronous, target :: plain(2)
  integer, pointer :: memory(:)
  integer(kind=MPI_ADDRESS_KIND) :: bytes, disp, address, value
  integer :: one(1), old(1), expected(1)
  logical :: flag
  type(MPI_Win) :: win
  type(MPI_Comm) :: node
  type(MPI_Info) :: info
  type(MPI_Errhandler) :: handler
  type(c_ptr) :: base

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  ahead = mod(rank + 1, ranks)
  behind = mod(rank + ranks - 1, ranks)

  bytes = 8
  call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
  call c_f_pointer(base, memory, [2])
  memory = 0
  call MPI_Barrier(MPI_COMM_WORLD)
  one = 1
  call MPI_Win_lock_all(0, win)
  disp = 0
  do i = 0, ranks - 1
    call MPI_Accumulate(one, 1, MPI_INTEGER, i, disp, 1, MPI_INTEGER, MPI_SUM, win)
  end do
  disp = 1
  expected = 0
  call MPI_Compare_and_swap(one, expected, old, MPI_INTEGER, ahead, disp, win)
  call MPI_Win_flush(ahead, win)
  call MPI_F_sync_reg(old)
  call expect(old(1) == 0, 'swapped')
  call MPI_Win_unlock_all(win)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win)
  call expect(memory(1) == ranks .and. memory(2) == 1, 'added and swapped')
  call MPI_Win_unlock(rank, win)
  call MPI_Win_get_attr(win, MPI_WIN_MODEL, value, flag)
  call expect(flag .and. value == MPI_WIN_UNIFIED, 'the model')
  call MPI_Win_get_info(win, info)
  call MPI_Info_free(info)
  call MPI_Win_get_errhandler(win, handler)
  call expect(handler == MPI_ERRORS_ARE_FATAL, 'the handler')
  call MPI_Win_free(win)
  call expect(win == MPI_WIN_NULL, 'freed')

  call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win)
  plain = -1
  call MPI_Win_attach(win, plain, bytes)
  call MPI_Get_address(plain, address)
  call MPI_Sendrecv(address, 1, MPI_AINT, behind, 0, disp, 1, MPI_AINT, ahead, 0, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  call MPI_Win_fence(0, win)
  one = rank
  call MPI_Put(one, 1, MPI_INTEGER, ahead, disp, 1, MPI_INTEGER, win)
  call MPI_Win_fence(0, win)
  call MPI_F_sync_reg(plain)
  call expect(plain(1) == behind .and. plain(2) == -1, 'attached memory')
  call MPI_Win_detach(win, plain)
  call MPI_Win_free(win)

  call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node)
  call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, node, base, win)
  call MPI_Win_shared_query(win, MPI_PROC_NULL, bytes, unit, base)
  call expect(bytes == 8 .and. unit == 4, 'shared memory')
  call MPI_Win_free(win)
  call MPI_Comm_free(node)
  call MPI_Finalize()
  call passed()
end program
