! SPDX-License-Identifier: BSD-3-Clause
! Goal:   a solver as Fortran programs are written gives the right answer at any number of ranks,
!         with mpif.h, module mpi and module mpi_f08 alike.
! Method: conjugate gradients for Poisson's equation on a square whose solution is known. The square
!         is dealt out in two dimensions; columns travel as they lie, rows as a vector type, in
!         persistent and in nonblocking messages; in the end MPI_Alltoallw brings the whole
!         solution to every rank, each part to its place.
#if defined(F08)
#define HANDLE(kind) type(kind)
#else
#define HANDLE(kind) integer
#endif
program cg
#if defined(F08)
  use mpi_f08
#elif !defined(MPIF)
  use mpi
#endif
  use check
  implicit none
#if defined(MPIF)
  include 'mpif.h'
#endif
  integer, parameter :: n = 60
  integer :: ierror, ranks, rank, dims(2), coords(2), first(2), last(2), west, east, south, north
  integer :: iteration, i, j
  HANDLE(MPI_Comm) :: grid
  HANDLE(MPI_Datatype) :: row
  HANDLE(MPI_Request) :: requests(8)
  double precision, allocatable :: x(:, :), r(:, :), p(:, :), q(:, :)
  double precision :: rho, rho_before, alpha, worst

  call MPI_INIT(ierror)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierror)
  dims = 0
  call MPI_DIMS_CREATE(ranks, 2, dims, ierror)
  call MPI_CART_CREATE(MPI_COMM_WORLD, 2, dims, [.false., .false.], .true., grid, ierror)
  call MPI_COMM_RANK(grid, rank, ierror)
  call MPI_CART_COORDS(grid, rank, 2, coords, ierror)
  call MPI_CART_SHIFT(grid, 0, 1, north, south, ierror)
  call MPI_CART_SHIFT(grid, 1, 1, west, east, ierror)
  first = coords * n / dims + 1
  last = (coords + 1) * n / dims
  allocate(p(first(1) - 1:last(1) + 1, first(2) - 1:last(2) + 1))
  allocate(x, r, q, mold=p)
  call MPI_TYPE_VECTOR(last(2) - first(2) + 1, 1, size(p, 1), MPI_DOUBLE_PRECISION, row, ierror)
  call MPI_TYPE_COMMIT(row, ierror)
  call init_columns()

  p = 0
  q = 0
  do j = first(2), last(2)
    do i = first(1), last(1)
      p(i, j) = exact(i, j)
    end do
  end do
  call multiply()
  r = q
  p = r
  x = 0
  rho = product_of(r, r)
  do iteration = 1, 10 * n
    if (rho < 1d-18) exit
    call multiply()
    alpha = rho / product_of(p, q)
    x = x + alpha * p
    r = r - alpha * q
    rho_before = rho
    rho = product_of(r, r)
    p = r + rho / rho_before * p
  end do
  call expect(iteration < 10 * n, 'it converges')
  worst = 0
  do j = first(2), last(2)
    do i = first(1), last(1)
      worst = max(worst, abs(x(i, j) - exact(i, j)))
    end do
  end do
  call MPI_ALLREDUCE(MPI_IN_PLACE, worst, 1, MPI_DOUBLE_PRECISION, MPI_MAX, grid, ierror)
  call expect(worst < 1d-8, 'the solution')
  call collect_solution()

  do i = 1, 4
    call MPI_REQUEST_FREE(requests(i), ierror)
  end do
  call MPI_TYPE_FREE(row, ierror)
  call MPI_COMM_FREE(grid, ierror)
  call MPI_FINALIZE(ierror)
  call passed()
contains

  pure double precision function exact(i, j)
    integer, intent(in) :: i, j
    exact = dble(i * (n + 1 - i)) * dble(mod(7 * j, 11)) / n + 1
  end function

  subroutine init_columns()
    integer :: rows
    rows = last(1) - first(1) + 1
    call MPI_SEND_INIT(p(first(1), first(2)), rows, MPI_DOUBLE_PRECISION, west, 1, grid, &
                       requests(1), ierror)
    call MPI_SEND_INIT(p(first(1), last(2)), rows, MPI_DOUBLE_PRECISION, east, 2, grid, &
                       requests(2), ierror)
    call MPI_RECV_INIT(p(first(1), first(2) - 1), rows, MPI_DOUBLE_PRECISION, west, 2, grid, &
                       requests(3), ierror)
    call MPI_RECV_INIT(p(first(1), last(2) + 1), rows, MPI_DOUBLE_PRECISION, east, 1, grid, &
                       requests(4), ierror)
  end subroutine

  ! Computes q = A p, which is four times the middle less the neighbours.
  subroutine multiply()
    integer :: columns
    call MPI_STARTALL(4, requests, ierror)
    call MPI_IRECV(p(first(1) - 1, first(2)), 1, row, north, 3, grid, requests(5), ierror)
    call MPI_IRECV(p(last(1) + 1, first(2)), 1, row, south, 4, grid, requests(6), ierror)
    call MPI_ISEND(p(first(1), first(2)), 1, row, north, 4, grid, requests(7), ierror)
    call MPI_ISEND(p(last(1), first(2)), 1, row, south, 3, grid, requests(8), ierror)
    call MPI_WAITALL(8, requests, MPI_STATUSES_IGNORE, ierror)
    columns = last(2) - first(2)
    associate (a => first(1), b => last(1), c => first(2), d => first(2) + columns)
      q(a:b, c:d) = 4 * p(a:b, c:d) - p(a - 1:b - 1, c:d) - p(a + 1:b + 1, c:d) &
                    - p(a:b, c - 1:d - 1) - p(a:b, c + 1:d + 1)
    end associate
  end subroutine

  double precision function product_of(a, b)
    double precision, intent(in) :: a(:, :), b(:, :)
    double precision :: mine
    integer :: rows, columns  ! without the neighbours'
    rows = size(a, 1) - 2
    columns = size(a, 2) - 2
    mine = sum(a(2:rows + 1, 2:columns + 1) * b(2:rows + 1, 2:columns + 1))
    call MPI_ALLREDUCE(mine, product_of, 1, MPI_DOUBLE_PRECISION, MPI_SUM, grid, ierror)
  end function

  ! Every rank sends its block to all and has room for the whole square.
  subroutine collect_solution()
    double precision :: whole(n, n)
    HANDLE(MPI_Datatype) :: theirs(0:ranks - 1), mine(0:ranks - 1)
    integer :: peer, at(2), ones(0:ranks - 1), zeros(0:ranks - 1)
    integer :: low(2), high(2)
    ones = 1
    zeros = 0
    do peer = 0, ranks - 1
      call MPI_CART_COORDS(grid, peer, 2, at, ierror)
      low = at * n / dims
      high = (at + 1) * n / dims
      call MPI_TYPE_CREATE_SUBARRAY(2, [n, n], high - low, low, MPI_ORDER_FORTRAN, &
                                    MPI_DOUBLE_PRECISION, theirs(peer), ierror)
      call MPI_TYPE_COMMIT(theirs(peer), ierror)
    end do
    call MPI_TYPE_CREATE_SUBARRAY(2, shape(x), last - first + 1, [1, 1], MPI_ORDER_FORTRAN, &
                                  MPI_DOUBLE_PRECISION, mine(0), ierror)
    call MPI_TYPE_COMMIT(mine(0), ierror)
    mine = mine(0)
    whole = -1
    call MPI_ALLTOALLW(x, ones, zeros, mine, whole, ones, zeros, theirs, grid, ierror)
    worst = 0
    do j = 1, n
      do i = 1, n
        worst = max(worst, abs(whole(i, j) - exact(i, j)))
      end do
    end do
    call expect(worst < 1d-8, 'the solution on every rank')
    call MPI_TYPE_FREE(mine(0), ierror)
    do peer = 0, ranks - 1
      call MPI_TYPE_FREE(theirs(peer), ierror)
    end do
  end subroutine
end program
