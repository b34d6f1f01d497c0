! SPDX-License-Identifier: BSD-3-Clause
! Goal:   CHARACTER arguments: blanks behind are not part of what C gets, what comes back is padded
!         with blanks, lengths have no room for a null character (MPI-5.0, sections 2.6.2, 10, 19.1.3).
! Method: names, info keys and values, error texts in through one variable and out into longer and
!         shorter ones, through mpif.h and module mpi.
program strings
#ifndef MPIF
  use mpi
#endif
  use check
  implicit none
#ifdef MPIF
  include 'mpif.h'
#endif
  integer :: ierror, length, info, count, comm, newtype, error_class
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=MPI_MAX_PROCESSOR_NAME) :: host
  character(len=MPI_MAX_ERROR_STRING) :: text
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
  character(len=MPI_MAX_INFO_KEY) :: key
  character(len=20) :: value
  character(len=3) :: short
  logical :: flag

  call MPI_Init(ierror)
  call MPI_Get_processor_name(host, length, ierror)
  call expect(length > 0 .and. len_trim(host) == length, 'processor name')
  call MPI_Get_library_version(version, length, ierror)
  call expect(length > 0 .and. len_trim(version) == length, 'library version')

  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  call MPI_Comm_set_name(comm, 'two words   ', ierror)
  name = repeat('x', len(name))
  call MPI_Comm_get_name(comm, name, length, ierror)
  call expect(name == 'two words' .and. length == 9, 'name of a communicator')
  short = 'xxx'
  call MPI_Comm_get_name(comm, short, length, ierror)
  call expect(short == 'two', 'a name cut to what there is room for')
  call MPI_Comm_free(comm, ierror)
  call MPI_Comm_get_name(MPI_COMM_WORLD, name, length, ierror)
  call expect(name == 'MPI_COMM_WORLD', 'name of MPI_COMM_WORLD')
  call MPI_Type_contiguous(3, MPI_REAL, newtype, ierror)
  call MPI_Type_set_name(newtype, 'triple', ierror)
  call MPI_Type_get_name(newtype, name, length, ierror)
  call expect(name == 'triple' .and. length == 6, 'name of a datatype')
  call MPI_Type_free(newtype, ierror)
  call MPI_Type_get_name(MPI_DOUBLE_PRECISION, name, length, ierror)
  call expect(name == 'MPI_DOUBLE_PRECISION', 'name of a predefined datatype')

  call MPI_Info_create(info, ierror)
  call MPI_Info_set(info, '  colour ', '  deep blue  ', ierror)
  value = 'unchanged'
  call MPI_Info_get(info, 'colour', len(value), value, flag, ierror)
  call expect(flag .and. value == 'deep blue', 'info value without blanks around')
  call MPI_Info_get(info, 'none', len(value), value, flag, ierror)
  call expect(.not. flag .and. value == 'deep blue', 'an absent key changes nothing')
  call MPI_Info_get_valuelen(info, 'colour ', length, flag, ierror)
  call expect(flag .and. length == 9, 'length of an info value')
  call MPI_Info_get_nkeys(info, count, ierror)
  call expect(count == 1, 'number of keys')
  call MPI_Info_get_nthkey(info, 0, key, ierror)
  call expect(key == 'colour', 'key by number')
#ifdef MPI4
  length = len(value)
  call MPI_Info_get_string(info, 'colour', length, value, flag, ierror)
  call expect(flag .and. value == 'deep blue' .and. length == 9, 'string and its length')
  length = 4
  call MPI_Info_get_string(info, 'colour', length, value, flag, ierror)
  call expect(flag .and. value == 'deep' .and. length == 9, 'string cut')
  length = 0
  value = 'unchanged'
  call MPI_Info_get_string(info, 'colour', length, value, flag, ierror)
  call expect(flag .and. value == 'unchanged' .and. length == 9, 'length alone')
#endif
  call MPI_Info_delete(info, 'colour', ierror)
  call MPI_Info_get_nkeys(info, count, ierror)
  call expect(count == 0, 'key deleted')
  call MPI_Info_free(info, ierror)
  call expect(info == MPI_INFO_NULL, 'freed info is null')

  text = repeat('x', len(text))
  call MPI_Error_string(MPI_ERR_RANK, text, length, ierror)
  call expect(length > 0 .and. len_trim(text) == length, 'error text')
  call MPI_Add_error_class(error_class, ierror)
  call MPI_Add_error_string(error_class, 'all is lost', ierror)
  call MPI_Error_string(error_class, text, length, ierror)
  call expect(text == 'all is lost' .and. length == 11, 'text of the own class')
  call MPI_Finalize(ierror)
  call passed()
end program
