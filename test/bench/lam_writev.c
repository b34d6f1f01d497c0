/* SPDX-License-Identifier: BSD-3-Clause */
/* LAM/MPI passes writev() and readv() uninitialised addresses with a length of zero, which today's
 * kernels refuse with EFAULT. This file leaves such pieces out. Only programs built with LAM/MPI
 * are linked with it. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static ssize_t Move(long call, int descriptor, const struct iovec* pieces, int count) {
  struct iovec kept[16];
  int keep = 0;
  for (int i = 0; i < count && keep < 16; ++i)
    if (pieces[i].iov_len != 0) kept[keep++] = pieces[i];
  return syscall(call, descriptor, kept, keep);
}

ssize_t writev(int descriptor, const struct iovec* pieces, int count) {
  return Move(SYS_writev, descriptor, pieces, count);
}

ssize_t readv(int descriptor, const struct iovec* pieces, int count) {
  return Move(SYS_readv, descriptor, pieces, count);
}
