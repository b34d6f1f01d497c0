// SPDX-License-Identifier: BSD-3-Clause
// The functions of one-sided communication share these checks. Errors go to the window's handler.
#pragma once

#include <mpi.h>

#include "runtime/api/arguments.h"
#include "runtime/core/win.h"
#include "runtime/rma/window.h"

// Leaves a function that has an Entry called `entry` with an error on a window unless `condition`
// holds.
#define REQUIRE_OF_WIN(condition, win, error_class, ...)                           \
  do {                                                                             \
    if (__builtin_expect(!(condition), 0))                                         \
      return ::lamina::core::RaiseOn(win, error_class, entry.name(), __VA_ARGS__); \
  } while (false)

namespace lamina::api {

// The handle is not valid; it is no window on which an error could be raised.
[[gnu::cold]] int BadWin(const Entry& entry, MPI_Win handle);
// A synchronisation or an access is not allowed in the epochs that the window is in.
[[gnu::cold]] int RaiseEpoch(const Entry& entry, core::Win* win, const char* why);
// Something went wrong while this process waited for others.
[[gnu::cold]] int RaiseSynchronization(const Entry& entry, core::Win* win, int error_class);

// Gives MPI_SUCCESS, or raises the error of a synchronisation.
inline int Synchronized(const Entry& entry, core::Win* win, int error_class) {
  return error_class == MPI_SUCCESS ? error_class : RaiseSynchronization(entry, win, error_class);
}

inline bool IsMember(const core::Win& win, int rank) {
  return static_cast<unsigned>(rank) < static_cast<unsigned>(win.comm->size);
}

}  // namespace lamina::api
