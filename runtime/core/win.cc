// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/core/win.h"

#include "runtime/core/errors.h"

namespace lamina::core {
namespace {

// Freed windows wait here for reuse, so that a freed handle can still be told from a live one.
constinit Win* pool = nullptr;

}  // namespace

Win* MakeWin(Comm* comm) {
  Win* win = pool;
  if (win != nullptr) {
    pool = win->next_free;
    *win = Win();
  } else {
    win = new Win;
  }
  win->comm = comm;
  win->handle = ToHandle<MPI_Win>(win);
  Release(comm->errhandler);
  comm->errhandler = FindErrhandler(MPI_ERRORS_ARE_FATAL);
  Retain(comm->errhandler);
  comm->handle = reinterpret_cast<MPI_Comm>(win->handle);
  comm->name = "a window";
  return win;
}

void FreeWin(Win* win) {
  static_cast<void>(Release(win->comm));
  *win = Win();
  win->kind = Kind::kFreed;
  win->next_free = pool;
  pool = win;
}

void DrainWinPool() {
  while (pool != nullptr) {
    Win* const next = pool->next_free;
    delete pool;
    pool = next;
  }
}

}  // namespace lamina::core
