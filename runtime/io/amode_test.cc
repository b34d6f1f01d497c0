// SPDX-License-Identifier: BSD-3-Clause
// Goal:   exactly the access modes of section 14.2.1 pass, and what the system says becomes the
//         class that the standard has for it.
// Method: every combination of the bits, and the errors that have a class of their own.
#include "runtime/io/amode.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "runtime/io/failure.h"

namespace lamina::io {
namespace {

TEST(Amode, EveryCombination) {
  for (int amode = 0; amode < 1024; ++amode) {
    const int directions = ((amode & MPI_MODE_RDONLY) != 0) + ((amode & MPI_MODE_RDWR) != 0) +
                           ((amode & MPI_MODE_WRONLY) != 0);
    const bool known = (amode & 512) == 0;
    const bool makes = (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)) != 0;
    const bool good = known && directions == 1 && !(makes && (amode & MPI_MODE_RDONLY) != 0) &&
                      !((amode & MPI_MODE_SEQUENTIAL) != 0 && (amode & MPI_MODE_RDWR) != 0);
    EXPECT_EQ(CheckAmode(amode).error_class, good ? MPI_SUCCESS : MPI_ERR_AMODE) << amode;
  }
}

TEST(Failure, ClassesOfErrno) {
  EXPECT_EQ(ClassOfErrno(ENOENT), MPI_ERR_NO_SUCH_FILE);
  EXPECT_EQ(ClassOfErrno(ENOSPC), MPI_ERR_NO_SPACE);
  EXPECT_EQ(ClassOfErrno(EDQUOT), MPI_ERR_QUOTA);
  EXPECT_EQ(ClassOfErrno(EROFS), MPI_ERR_READ_ONLY);
  EXPECT_EQ(ClassOfErrno(EISDIR), MPI_ERR_BAD_FILE);
  EXPECT_EQ(ClassOfErrno(ETXTBSY), MPI_ERR_FILE_IN_USE);
  EXPECT_EQ(ClassOfErrno(ESPIPE), MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT_EQ(ClassOfErrno(EMFILE), MPI_ERR_IO);
}

TEST(Failure, SaysWhatWhereAndWhy) {
  const Failure failure = TransferFailure("pwrite", "/a/b", 4096, 512, ENOSPC);
  EXPECT_EQ(failure.error_class, MPI_ERR_NO_SPACE);
  EXPECT_EQ(failure.text, "pwrite of /a/b, 512 bytes at offset 4096: No space left on device");
}

}  // namespace
}  // namespace lamina::io
