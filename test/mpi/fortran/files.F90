! SPDX-License-Identifier: BSD-3-Clause
! Goal:   files through mpif.h and module mpi: names and representations with trailing blanks,
!         offsets of their kind, statuses, and split access (MPI-5.0, chapter 14).
! Method: each rank writes a stretch and its neighbour reads it.
program files
#ifndef MPIF
  use mpi
#endif
  use check
  implicit none
#ifdef MPIF
  include 'mpif.h'
#endif
  integer :: rank, ranks, ierror, file, amode, count, other, class, request
  integer :: status(MPI_STATUS_SIZE), numbers(100), back(100)
  integer(kind=MPI_OFFSET_KIND) :: offset, bytes
  character(len=200) :: name
  character(len=MPI_MAX_DATAREP_STRING) :: datarep
  integer :: etype, filetype, i

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  other = mod(rank + 1, ranks)
  if (rank == 0) then
    call get_environment_variable('TEST_TMPDIR', name)
    if (name == '') name = '/tmp'
    name = trim(name) // '/fortran_files'
  end if
  call MPI_Bcast(name, len(name), MPI_CHARACTER, 0, MPI_COMM_WORLD, ierror)

  call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, &
                     ierror)
  call expect(ierror == MPI_SUCCESS, 'MPI_File_open')
  call MPI_File_get_amode(file, amode, ierror)
  call expect(amode == MPI_MODE_CREATE + MPI_MODE_RDWR, 'MPI_File_get_amode')
  offset = 400 * rank
  call MPI_File_set_view(file, offset, MPI_INTEGER, MPI_INTEGER, 'native   ', MPI_INFO_NULL, ierror)
  call expect(ierror == MPI_SUCCESS, 'MPI_File_set_view')
  call MPI_File_get_view(file, bytes, etype, filetype, datarep, ierror)
  call expect(bytes == offset .and. etype == MPI_INTEGER .and. datarep == 'native', &
              'MPI_File_get_view')
  numbers = [(1000 * rank + i, i = 1, 100)]
  call MPI_File_write(file, numbers, 50, MPI_INTEGER, status, ierror)
  call MPI_Get_count(status, MPI_INTEGER, count, ierror)
  call expect(count == 50, 'MPI_File_write')
  call MPI_File_write_all_begin(file, numbers(51), 50, MPI_INTEGER, ierror)
  call MPI_File_write_all_end(file, numbers(51), status, ierror)
  call expect(ierror == MPI_SUCCESS, 'a split write')
  call MPI_File_get_position(file, offset, ierror)
  call expect(offset == 100, 'MPI_File_get_position')
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  offset = 400 * other
  call MPI_File_set_view(file, offset, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierror)
  offset = 10
  call MPI_File_read_at_all(file, offset, back, 90, MPI_INTEGER, status, ierror)
  call expect(all(back(1:90) == [(1000 * other + i, i = 11, 100)]), 'MPI_File_read_at_all')
  call MPI_File_iread_at(file, offset, back, 10, MPI_INTEGER, request, ierror)
  call MPI_Wait(request, status, ierror)
  call MPI_Get_count(status, MPI_INTEGER, count, ierror)
  call expect(count == 10 .and. back(10) == 1000 * other + 20, 'MPI_File_iread_at')
  call MPI_File_get_size(file, bytes, ierror)
  call expect(bytes == 400 * ranks, 'MPI_File_get_size')
  call MPI_File_close(file, ierror)
  call expect(file == MPI_FILE_NULL, 'MPI_File_close')
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  if (rank == 0) call MPI_File_delete(name, MPI_INFO_NULL, ierror)
  if (rank == 0) call expect(ierror == MPI_SUCCESS, 'MPI_File_delete')
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierror)
  call MPI_Error_class(ierror, class, i)
  call expect(class == MPI_ERR_NO_SUCH_FILE, 'the file is gone')
  call MPI_Finalize(ierror)
  call passed()
end program
