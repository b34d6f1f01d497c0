! SPDX-License-Identifier: BSD-3-Clause
! For programs of test/mpi/fortran: expect() says what did not hold; passed() ends the program and
! gives its exit status. Knows nothing of MPI, so it serves every binding.
module check
  implicit none
  integer :: failures = 0
contains
  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    if (holds) return
    failures = failures + 1
    write (*, '(2a)') 'does not hold: ', what
  end subroutine

  subroutine passed()
    if (failures /= 0) stop 1
  end subroutine
end module

! The compiler cannot see through this (MPI-5.0, section 19.1.17). It is for programs with mpif.h.
subroutine touch(buffer)
  implicit none
  integer :: buffer(*)
  if (.false.) buffer(1) = 0
end subroutine
