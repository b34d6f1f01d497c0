! SPDX-License-Identifier: BSD-3-Clause
! Goal:   jobs spawn others, meet and part in Fortran as in C, with mpif.h, module mpi and module
!         mpi_f08 alike (MPI-5.0, sections 11.7 to 11.10): arguments and commands as CHARACTER
!         arrays, MPI_ARGV_NULL, MPI_ARGVS_NULL, MPI_ERRCODES_IGNORE, and errors.
! Method: the program spawns itself, twice over by MPI_COMM_SPAWN_MULTIPLE, and its ranks meet at a
!         port and by a name.
#if defined(F08)
#define HANDLE(kind) type(kind)
#else
#define HANDLE(kind) integer
#endif
program jobs
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
  integer, parameter :: kind_address = MPI_ADDRESS_KIND
  integer :: ierror, ranks, rank
  HANDLE(MPI_Comm) :: parent
  character(len=1000) :: self

  call MPI_INIT(ierror)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierror)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
  call MPI_COMM_GET_PARENT(parent, ierror)
  call get_command_argument(0, self)
  if (parent /= MPI_COMM_NULL) then
    call child()
  else
    call spawn_one()
    call spawn_several()
    call fail()
    if (ranks > 1) call meet()
    call no_socket()
  end if
  call MPI_FINALIZE(ierror)
  call passed()

contains

  ! A child adds its number as an argument and that of its program to what its parents send.
  subroutine child()
    character(len=20) :: word
    integer :: number, total, value
    integer(kind=kind_address) :: app
    logical :: flag
    HANDLE(MPI_Comm) :: again
    call get_command_argument(1, word)
    read (word, *) number
    call get_command_argument(2, word)
    call expect(word == 'two words', 'an argument with a blank in it')
    call MPI_COMM_GET_ATTR(MPI_COMM_WORLD, MPI_APPNUM, app, flag, ierror)
    call expect(flag, 'MPI_APPNUM')
    call MPI_BCAST(value, 1, MPI_INTEGER, 0, parent, ierror)
    value = value + number + int(app)
    call MPI_REDUCE(value, total, 1, MPI_INTEGER, MPI_SUM, 0, parent, ierror)
    call MPI_COMM_DISCONNECT(parent, ierror)
    call MPI_COMM_GET_PARENT(again, ierror)
    call expect(again == MPI_COMM_NULL, 'no parent after MPI_COMM_DISCONNECT')
  end subroutine

  subroutine talk(inter, expected)
    HANDLE(MPI_Comm), intent(inout) :: inter
    integer, intent(in) :: expected
    integer :: root, value, total
    root = MPI_PROC_NULL
    if (rank == 0) root = MPI_ROOT
    value = 1000
    total = 0
    call MPI_BCAST(value, 1, MPI_INTEGER, root, inter, ierror)
    call MPI_REDUCE(value, total, 1, MPI_INTEGER, MPI_SUM, root, inter, ierror)
    if (rank == 0) call expect(total == expected, 'what the children say')
    call MPI_COMM_DISCONNECT(inter, ierror)
    call expect(inter == MPI_COMM_NULL, 'null after MPI_COMM_DISCONNECT')
  end subroutine

  subroutine spawn_one()
    character(len=20) :: words(3)
    integer :: codes(2)
    HANDLE(MPI_Comm) :: inter
    words = ['11       ', 'two words', '         ']
    codes = -1
    call MPI_COMM_SPAWN(self, words, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, codes, ierror)
    call expect(all(codes == MPI_SUCCESS), 'codes of children')
    call talk(inter, 2 * 1011)
    call MPI_COMM_SPAWN(self, words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, &
                        MPI_ERRCODES_IGNORE, ierror)
    call talk(inter, 1011)
  end subroutine

  subroutine spawn_several()
    character(len=len(self)) :: commands(2)
    character(len=20) :: words(2, 3)
    integer :: codes(3)
    HANDLE(MPI_Info) :: infos(2)
    HANDLE(MPI_Comm) :: inter
    commands = self
    words(1, :) = ['20       ', 'two words', '         ']
    words(2, :) = ['30       ', 'two words', '         ']
    infos(1) = MPI_INFO_NULL
    call MPI_INFO_CREATE(infos(2), ierror)
    call MPI_INFO_SET(infos(2), 'nobody_knows_this', 'key', ierror)
    codes = -1
    call MPI_COMM_SPAWN_MULTIPLE(2, commands, words, [2, 1], infos, 0, MPI_COMM_WORLD, inter, codes, &
                                 ierror)
    call expect(all(codes == MPI_SUCCESS), 'codes of the children of two programs')
    call talk(inter, 2 * 1020 + 1031)
    call MPI_INFO_FREE(infos(2), ierror)
  end subroutine

  subroutine expect_class(error, wanted, what)
    integer, intent(in) :: error, wanted
    character(len=*), intent(in) :: what
    integer :: found
    call MPI_ERROR_CLASS(error, found, ierror)
    call expect(found == wanted, what)
  end subroutine

  subroutine fail()
    integer :: codes(2), error
    character(len=20) :: commands(2)
    HANDLE(MPI_Comm) :: inter
    call MPI_COMM_SET_ERRHANDLER(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
    codes = MPI_SUCCESS
    call MPI_COMM_SPAWN('./no/such/program', MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &
                        inter, codes, error)
    call expect_class(error, MPI_ERR_SPAWN, 'a program that is not there')
    call expect(all(codes == MPI_ERR_SPAWN), 'codes of children that could not be started')
    commands = ['./no/such/program', 'true             ']
    codes = MPI_SUCCESS
    call MPI_COMM_SPAWN_MULTIPLE(2, commands, MPI_ARGVS_NULL, [1, 1], [MPI_INFO_NULL, MPI_INFO_NULL], &
                                 0, MPI_COMM_WORLD, inter, codes, error)
    call expect_class(error, MPI_ERR_SPAWN, 'one of two programs is not there')
    call MPI_COMM_SPAWN('true', MPI_ARGV_NULL, 1, MPI_INFO_NULL, ranks, MPI_COMM_WORLD, inter, &
                        MPI_ERRCODES_IGNORE, error)
    call expect_class(error, MPI_ERR_ROOT, 'a root that is not there')
  end subroutine

  subroutine meet()
    character(len=MPI_MAX_PORT_NAME) :: port, found
    character(len=40) :: service
    integer :: error, clock, value
    HANDLE(MPI_Comm) :: half, inter
    call MPI_COMM_SET_ERRHANDLER(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierror)
    call MPI_COMM_SPLIT(MPI_COMM_WORLD, mod(rank, 2), rank, half, ierror)
    call system_clock(clock)
    write (service, '(a, i0)') 'lamina jobs.F90 ', clock
    call MPI_BCAST(service, len(service), MPI_CHARACTER, 0, MPI_COMM_WORLD, ierror)
    if (rank == 0) then
      call MPI_OPEN_PORT(MPI_INFO_NULL, port, ierror)
      call MPI_PUBLISH_NAME(service, MPI_INFO_NULL, port, ierror)
      call MPI_PUBLISH_NAME(service, MPI_INFO_NULL, port, error)
      call expect_class(error, MPI_ERR_SERVICE, 'a name is published twice')
    end if
    call MPI_BARRIER(MPI_COMM_WORLD, ierror)
    call MPI_LOOKUP_NAME(service, MPI_INFO_NULL, found, ierror)
    if (rank == 0) call expect(found == port, 'the port that was published')
    value = rank
    if (mod(rank, 2) == 0) then
      call MPI_COMM_ACCEPT(found, MPI_INFO_NULL, 0, half, inter, ierror)
    else
      call MPI_COMM_CONNECT(found, MPI_INFO_NULL, 0, half, inter, ierror)
    end if
    call MPI_ALLREDUCE(rank, value, 1, MPI_INTEGER, MPI_MAX, inter, ierror)
    call expect(mod(value + rank, 2) == 1, 'who is on the other side')
    call MPI_COMM_DISCONNECT(inter, ierror)
    if (rank == 0) then
      call MPI_UNPUBLISH_NAME(service, MPI_INFO_NULL, port, ierror)
      call MPI_LOOKUP_NAME(service, MPI_INFO_NULL, found, error)
      call expect_class(error, MPI_ERR_NAME, 'a name that was taken back')
      call MPI_CLOSE_PORT(port, ierror)
      call MPI_CLOSE_PORT(port, error)
      call expect_class(error, MPI_ERR_PORT, 'a port that is closed already')
    end if
    call MPI_COMM_FREE(half, ierror)
  end subroutine

  subroutine no_socket()
    integer :: error
    HANDLE(MPI_Comm) :: inter
    call MPI_COMM_SET_ERRHANDLER(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierror)
    call MPI_COMM_JOIN(-1, inter, error)
    call expect_class(error, MPI_ERR_ARG, 'a descriptor that is none')
  end subroutine
end program
