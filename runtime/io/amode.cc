// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/io/amode.h"

#include <fcntl.h>

namespace lamina::io {

Failure CheckAmode(int amode) {
  constexpr int kDirections = MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY;
  constexpr int kKnown = kDirections | MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE |
                         MPI_MODE_UNIQUE_OPEN | MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND;
  if ((amode & ~kKnown) != 0)
    return Fail(MPI_ERR_AMODE, "amode is 0x%x, of which 0x%x is no access mode", amode,
                amode & ~kKnown);
  const int direction = amode & kDirections;
  if (direction != MPI_MODE_RDONLY && direction != MPI_MODE_RDWR && direction != MPI_MODE_WRONLY)
    return Fail(MPI_ERR_AMODE,
                "amode is 0x%x, must have exactly one of MPI_MODE_RDONLY, MPI_MODE_RDWR and "
                "MPI_MODE_WRONLY",
                amode);
  if (!Writes(amode) && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)) != 0)
    return Fail(MPI_ERR_AMODE,
                "amode is 0x%x: MPI_MODE_RDONLY goes with neither MPI_MODE_CREATE nor "
                "MPI_MODE_EXCL",
                amode);
  if (direction == MPI_MODE_RDWR && IsSequential(amode))
    return Fail(MPI_ERR_AMODE, "amode is 0x%x: MPI_MODE_SEQUENTIAL does not go with MPI_MODE_RDWR",
                amode);
  return {};
}

int OpenFlags(int amode) {
  const int direction = !Writes(amode) ? O_RDONLY : Reads(amode) ? O_RDWR : O_WRONLY;
  return direction | O_CLOEXEC | O_NOCTTY;
}

}  // namespace lamina::io
