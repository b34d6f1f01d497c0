! SPDX-License-Identifier: BSD-3-Clause
! Goal:   a Fortran kernel as the NAS Parallel Benchmarks describe it gives the published answer at
!         any number of ranks.
! Method: EP, class S: 2^24 pairs of uniform numbers are turned into Gaussian ones; their sums and
!         how many fall into each square ring are known (D. Bailey et al., RNR-94-007, section 2.1).
program ep
  use mpi
  use check
  implicit none
  integer, parameter :: long = selected_int_kind(18), log_pairs = 24, log_block = 16
  integer(long), parameter :: modulus_mask = 2_long**46 - 1, multiplier = 5_long**13
  double precision, parameter :: scale = 2d0**(-46)
  integer(long) :: seed, jump
  integer :: ierror, rank, ranks, block, i, ring
  double precision :: x, y, t, factor, gauss_x, gauss_y, sums(2), rings(0:9)

  call MPI_INIT(ierror)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierror)
  sums = 0
  rings = 0
  jump = power(multiplier, 2_long**(log_block + 1))
  do block = rank, 2**(log_pairs - log_block) - 1, ranks
    seed = product_of(power(jump, int(block, long)), 271828183_long)
    do i = 1, 2**log_block
      x = 2 * uniform() - 1
      y = 2 * uniform() - 1
      t = x * x + y * y
      if (t > 1) cycle
      factor = sqrt(-2 * log(t) / t)
      gauss_x = abs(x * factor)
      gauss_y = abs(y * factor)
      ring = int(max(gauss_x, gauss_y))
      rings(ring) = rings(ring) + 1
      sums = sums + [x * factor, y * factor]
    end do
  end do
  call MPI_ALLREDUCE(MPI_IN_PLACE, sums, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
  call MPI_ALLREDUCE(MPI_IN_PLACE, rings, 10, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
  call expect(abs((sums(1) + 3.247834652034740d3) / sums(1)) < 1d-8, 'sum of x')
  call expect(abs((sums(2) + 6.958407078382297d3) / sums(2)) < 1d-8, 'sum of y')
  call expect(sum(rings) == 13176389, 'number of Gaussian pairs')
  call MPI_FINALIZE(ierror)
  call passed()
contains

  ! Computes a * b modulo 2**46 in pieces of 23 bits.
  pure integer(long) function product_of(a, b)
    integer(long), intent(in) :: a, b
    integer(long) :: high, low
    low = iand(a, 2_long**23 - 1)
    high = ishft(a, -23)
    product_of = iand(high * iand(b, 2_long**23 - 1) + low * ishft(b, -23), 2_long**23 - 1)
    product_of = iand(ishft(product_of, 23) + low * iand(b, 2_long**23 - 1), modulus_mask)
  end function

  pure integer(long) function power(base, exponent)
    integer(long), intent(in) :: base, exponent
    integer(long) :: square, left
    power = 1
    square = base
    left = exponent
    do while (left > 0)
      if (iand(left, 1_long) == 1) power = product_of(power, square)
      square = product_of(square, square)
      left = ishft(left, -1)
    end do
  end function

  double precision function uniform()
    seed = product_of(multiplier, seed)
    uniform = scale * dble(seed)
  end function
end program
