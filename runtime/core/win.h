// SPDX-License-Identifier: BSD-3-Clause
// A window is memory that other processes access, and what was hung on it (MPI-5.0, chapter 12).
// How it is accessed is the business of runtime/rma.
#pragma once

#include <mpi.h>

#include <string>

#include "runtime/core/comm.h"
#include "runtime/object/attributes.h"
#include "runtime/object/object.h"

namespace lamina::rma {
class Window;
}

namespace lamina::core {

struct Win : Object {
  static constexpr Kind kKind = Kind::kWin;
  Win() : Object(kKind) {}

  rma::Window* window = nullptr;  // owned by runtime/rma, which also makes and frees this object
  // Private to the window; its group is the window's. Errors of the window are raised on it, and
  // its error handler is the window's: requests fail through it. Handlers of the application get
  // its handle, which is the window's.
  Comm* comm = nullptr;
  MPI_Win handle = MPI_WIN_NULL;
  Attributes attributes;
  std::string name;
  // Attributes that are predefined. Their value is a pointer, which is why they are kept here.
  void* base = nullptr;
  MPI_Aint size = 0;
  MPI_Aint disp_unit = 1;
  int narrow_disp_unit = 1;  // the same for MPI_WIN_DISP_UNIT; MPI_UNDEFINED if it does not fit
  int flavor = MPI_WIN_FLAVOR_CREATE;
  int model = MPI_WIN_UNIFIED;

  Win* next_free = nullptr;  // while it is freed
};

// Returns null for MPI_WIN_NULL and for what is no window or has been freed.
inline Win* FindWin(MPI_Win handle) { return FromHandle<Win>(handle); }

// Makes a window of the communicator, whose reference it takes. Errors on it are fatal to begin
// with.
Win* MakeWin(Comm* comm);
// Lets go of the communicator. The attributes have been deleted.
void FreeWin(Win* win);
// Returns the memory of freed windows, at finalisation.
void DrainWinPool();

}  // namespace lamina::core
