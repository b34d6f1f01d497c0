! SPDX-License-Identifier: BSD-3-Clause
! What MUMPS refers to of ScaLAPACK and never calls, having been told to do without (ICNTL(13)).
subroutine unexpected()
  error stop 'MUMPS calls ScaLAPACK'
end subroutine

subroutine blacs_gridinit()
  call unexpected()
end subroutine
subroutine blacs_gridexit()
  call unexpected()
end subroutine
subroutine blacs_gridinfo()
  call unexpected()
end subroutine
subroutine descinit()
  call unexpected()
end subroutine
subroutine pdgetrf()
  call unexpected()
end subroutine
subroutine pdgetrs()
  call unexpected()
end subroutine
subroutine pdpotrf()
  call unexpected()
end subroutine
subroutine pdpotrs()
  call unexpected()
end subroutine
integer function numroc()
  call unexpected()
  numroc = 0
end function
