  ! SPDX-License-Identifier: BSD-3-Clause
  external :: MPI_COMM_NULL_COPY_FN, MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN
  external :: MPI_TYPE_NULL_COPY_FN, MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN
  external :: MPI_WIN_NULL_COPY_FN, MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN
  external :: MPI_NULL_COPY_FN, MPI_DUP_FN, MPI_NULL_DELETE_FN, MPI_CONVERSION_FN_NULL

  ! Only Fortran has these.
  interface
    subroutine MPI_F_sync_reg(buf)
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
      !DIR$ IGNORE_TKR buf
      type(*), dimension(*) :: buf
    end subroutine
    subroutine PMPI_F_sync_reg(buf)
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
      !DIR$ IGNORE_TKR buf
      type(*), dimension(*) :: buf
    end subroutine
    subroutine MPI_Status_f2f08(f_status, f08_status, ierror)
      import
      integer :: f_status(MPI_STATUS_SIZE), ierror
      type(MPI_Status) :: f08_status
    end subroutine
    subroutine MPI_Status_f082f(f08_status, f_status, ierror)
      import
      type(MPI_Status) :: f08_status
      integer :: f_status(MPI_STATUS_SIZE), ierror
    end subroutine
    subroutine PMPI_Status_f2f08(f_status, f08_status, ierror)
      import
      integer :: f_status(MPI_STATUS_SIZE), ierror
      type(MPI_Status) :: f08_status
    end subroutine
    subroutine PMPI_Status_f082f(f08_status, f_status, ierror)
      import
      type(MPI_Status) :: f08_status
      integer :: f_status(MPI_STATUS_SIZE), ierror
    end subroutine
  end interface

