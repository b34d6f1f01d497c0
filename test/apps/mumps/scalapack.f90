! SPDX-License-Identifier: BSD-3-Clause
! MUMPS refers to these procedures of ScaLAPACK and never calls them if ICNTL(13) tells it so.
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
