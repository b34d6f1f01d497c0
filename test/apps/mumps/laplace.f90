! SPDX-License-Identifier: BSD-3-Clause
! Goal:   MUMPS solves what it is given, exactly but for rounding.
! Method: a Laplacian on a cube with a known solution; general, positive definite and symmetric;
!         given by the first rank, or by all of them, each a part. Prints one line per case and
!         "solved".
program laplace
  implicit none
  include 'mpif.h'
  include 'dmumps_struc.h'
  integer, parameter :: side = 12, n = side**3
  integer :: rank, ranks, symmetry, ierror, i
  double precision :: solution(n)
  logical :: distributed
  integer(8) :: entries

  call mpi_init(ierror)
  call mpi_comm_rank(mpi_comm_world, rank, ierror)
  call mpi_comm_size(mpi_comm_world, ranks, ierror)
  solution = [(dble(mod(i, 17) + 1), i=1, n)]
  do symmetry = 0, 2
    do i = 0, 1
      distributed = i == 1
      call solve()
    end do
  end do
  if (rank == 0) print '(a)', 'solved'
  call mpi_finalize(ierror)
contains

  subroutine solve()
    type(dmumps_struc) :: mumps
    double precision :: worst
    mumps%comm = mpi_comm_world
    mumps%sym = symmetry
    mumps%par = 1
    mumps%job = -1
    call dmumps(mumps)
    mumps%icntl(1:4) = [-1, -1, -1, 1]  ! no output
    mumps%icntl(7) = 4                  ! its own ordering
    mumps%icntl(13) = 1                 ! no ScaLAPACK
    if (distributed) mumps%icntl(18) = 3
    call give_matrix(mumps)
    mumps%job = 6
    call dmumps(mumps)
    if (rank == 0) then
      worst = maxval(abs(mumps%rhs - solution))
      print '(a,i0,a,l1,a,i0,a,es8.1)', 'symmetry ', symmetry, ' distributed ', distributed, &
        ' info ', mumps%infog(1), ' error ', worst
      if (mumps%infog(1) /= 0 .or. worst > 1d-9) call mpi_abort(mpi_comm_world, 3, ierror)
      deallocate(mumps%rhs)
    end if
    deallocate(mumps%irn_loc, mumps%jcn_loc, mumps%a_loc)
    nullify(mumps%irn, mumps%jcn, mumps%a)
    mumps%job = -2
    call dmumps(mumps)
  end subroutine

  subroutine add(mumps, i, j, value)
    type(dmumps_struc), intent(inout) :: mumps
    integer, intent(in) :: i, j
    double precision, intent(in) :: value
    entries = entries + 1
    mumps%irn_loc(entries) = i
    mumps%jcn_loc(entries) = j
    mumps%a_loc(entries) = value
  end subroutine

  ! Only the lower half is given where the matrix is symmetric.
  subroutine give_matrix(mumps)
    type(dmumps_struc), intent(inout) :: mumps
    integer :: row, direction, step
    logical :: mine
    allocate(mumps%irn_loc(7 * n), mumps%jcn_loc(7 * n), mumps%a_loc(7 * n))
    if (rank == 0) then
      mumps%n = n
      allocate(mumps%rhs(n))
      mumps%rhs = 6.5d0 * solution
    end if
    entries = 0
    do row = 1, n
      mine = merge(mod(row, ranks) == rank, rank == 0, distributed)
      if (mine) call add(mumps, row, row, 6.5d0)
      do direction = 0, 2
        step = side**direction
        if (mod((row - 1) / step, side) == 0) cycle
        if (mine) call add(mumps, row, row - step, -1d0)
        if (mine .and. symmetry == 0) call add(mumps, row - step, row, -1d0)
        if (rank == 0) mumps%rhs(row) = mumps%rhs(row) - solution(row - step)
        if (rank == 0) mumps%rhs(row - step) = mumps%rhs(row - step) - solution(row)
      end do
    end do
    if (distributed) then
      mumps%nnz_loc = entries
    else
      mumps%nnz = entries
      mumps%irn => mumps%irn_loc
      mumps%jcn => mumps%jcn_loc
      mumps%a => mumps%a_loc
    end if
  end subroutine
end program
