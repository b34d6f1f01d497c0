! SPDX-License-Identifier: BSD-3-Clause
! Goal:   files through module mpi_f08: types of their own, optional errors, large counts, sections
!         of arrays, and handlers of errors (MPI-5.0, chapters 14 and 19.1).
! Method: each rank writes a stretch in every manner; its neighbour reads it.
program f08_files
  use mpi_f08
  use check
  implicit none
  integer, parameter :: total = 100
  type(MPI_File) :: file
  type(MPI_Status) :: status
  type(MPI_Request) :: request
  type(MPI_Datatype) :: etype, filetype, every
  type(MPI_Info) :: info
  type(MPI_Group) :: group
  type(MPI_Errhandler) :: handler
  integer :: rank, ranks, ierror, count, other, class, members, i
  logical :: flag
  integer(kind=MPI_OFFSET_KIND) :: offset, bytes
  integer(kind=MPI_COUNT_KIND) :: large
  integer(kind=MPI_ADDRESS_KIND) :: extent
  integer, asynchronous :: numbers(total), back(total), matrix(2, total)
  character(len=200) :: name
  character(len=MPI_MAX_DATAREP_STRING) :: datarep

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  other = mod(rank + 1, ranks)
  if (rank == 0) then
    call get_environment_variable('TEST_TMPDIR', name)
    if (name == '') name = '/tmp'
    name = trim(name) // '/f08_files'
  end if
  call MPI_Bcast(name, len(name), MPI_CHARACTER, 0, MPI_COMM_WORLD)

  call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, &
                     ierror)
  call expect(ierror == MPI_SUCCESS .and. file /= MPI_FILE_NULL, 'MPI_File_open')
  call MPI_File_get_errhandler(file, handler)
  call expect(handler == MPI_ERRORS_RETURN, 'MPI_File_get_errhandler')
  call MPI_File_get_group(file, group)
  call MPI_Group_size(group, members)
  call expect(members == ranks, 'MPI_File_get_group')
  call MPI_Group_free(group)
  call MPI_File_get_info(file, info)
  call MPI_Info_get_nkeys(info, count)
  call expect(count > 0, 'MPI_File_get_info')
  call MPI_Info_free(info)

  ! Each rank has every so manieth integer of the file.
  extent = 0
  call MPI_Type_create_resized(MPI_INTEGER, extent, int(4 * ranks, MPI_ADDRESS_KIND), every)
  call MPI_Type_commit(every)
  offset = 4 * rank
  call MPI_File_set_view(file, offset, MPI_INTEGER, every, 'native', MPI_INFO_NULL)
  call MPI_File_get_view(file, bytes, etype, filetype, datarep)
  call expect(bytes == offset .and. etype == MPI_INTEGER .and. datarep == 'native', &
              'MPI_File_get_view')
  call MPI_Type_free(filetype)
  numbers = [(1000 * rank + i, i = 1, total)]
  matrix(1, :) = numbers
  matrix(2, :) = -1
  offset = 0
  call MPI_File_write_at_all(file, offset, numbers, 20, MPI_INTEGER, status)
  call MPI_Get_count(status, MPI_INTEGER, count)
  call expect(count == 20, 'MPI_File_write_at_all')
  offset = 20
#ifdef MPI4
  large = 20
  call MPI_File_write_at(file, offset, matrix(1, 21:40), large, MPI_INTEGER, status)
#else
  call MPI_File_write_at(file, offset, matrix(1, 21:40), 20, MPI_INTEGER, status)
#endif
  offset = 40
  call MPI_File_iwrite_at(file, offset, matrix(1, 41:60), 20, MPI_INTEGER, request)
  call MPI_Wait(request, status)
  call MPI_Get_count(status, MPI_INTEGER, count)
  call expect(count == 20, 'MPI_File_iwrite_at of a section')
  call MPI_File_seek(file, 60_MPI_OFFSET_KIND, MPI_SEEK_SET)
  call MPI_File_write_all_begin(file, numbers(61:80), 20, MPI_INTEGER)
  call MPI_File_write_all_end(file, numbers(61:80), status)
  call MPI_File_iwrite(file, numbers(81:100), 20, MPI_INTEGER, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_File_get_position(file, offset)
  call expect(offset == total, 'MPI_File_get_position')
  call MPI_File_sync(file)
  call MPI_Barrier(MPI_COMM_WORLD)

  offset = 4 * other
  call MPI_File_set_view(file, offset, MPI_INTEGER, every, 'native', MPI_INFO_NULL)
  back = 0
  offset = 0
  call MPI_File_read_at_all(file, offset, back, total, MPI_INTEGER, status)
  call expect(all(back == [(1000 * other + i, i = 1, total)]), 'MPI_File_read_at_all')
  matrix = 0
  call MPI_File_iread_all(file, matrix(2, 1:50), 50, MPI_INTEGER, request)
  call MPI_Wait(request, status)
  call expect(all(matrix(2, 1:50) == back(1:50)) .and. all(matrix(1, :) == 0), &
              'MPI_File_iread_all of a section')
  call MPI_File_seek_shared(file, 0_MPI_OFFSET_KIND, MPI_SEEK_SET)
  call MPI_File_get_size(file, bytes)
  call expect(bytes == 4 * total * ranks, 'MPI_File_get_size')
  call MPI_File_set_atomicity(file, .true.)
  call MPI_File_get_atomicity(file, flag)
  call expect(flag, 'MPI_File_set_atomicity')
  offset = -1
  call MPI_File_read_at(file, offset, back, 1, MPI_INTEGER, status, ierror)
  call MPI_Error_class(ierror, class)
  call expect(class == MPI_ERR_ARG, 'a negative offset')
  call MPI_Type_free(every)
  call MPI_File_close(file, ierror)
  call expect(ierror == MPI_SUCCESS .and. file == MPI_FILE_NULL, 'MPI_File_close')
  if (rank == 0) call MPI_File_delete(name, MPI_INFO_NULL, ierror)
  if (rank == 0) call expect(ierror == MPI_SUCCESS, 'MPI_File_delete')
  call MPI_Finalize()
  call passed()
end program
