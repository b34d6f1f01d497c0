C     SPDX-License-Identifier: BSD-3-Clause
C     Prints the version of MPI, in Fortran 77 with mpif.h.
      PROGRAM SHOW
      IMPLICIT NONE
      INCLUDE 'mpif.h'
      INTEGER VERSN, SUBVER, IERROR
      CALL MPI_GET_VERSION(VERSN, SUBVER, IERROR)
      WRITE (*, '(A,I1,A,I1)') 'MPI ', VERSN, '.', SUBVER
      END
