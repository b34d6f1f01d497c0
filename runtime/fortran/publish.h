// SPDX-License-Identifier: BSD-3-Clause
// Functions that are written by hand have one body under the names of both bindings, with and
// without P.
#pragma once

#include "runtime/fortran/convert.h"

// Defines both names of a function for both bindings; FUNCTION takes the C function to call first.
#define PUBLISH(name, c_name, function, parameters, arguments)                   \
  FORTRAN mpi_##name##_ parameters { function(MPI_##c_name, UNPACK arguments); } \
  FORTRAN pmpi_##name##_ parameters { function(PMPI_##c_name, UNPACK arguments); }
#define PUBLISH_F08(name)                  \
  ALIAS(mpi_##name##_f08_, mpi_##name##_); \
  ALIAS(pmpi_##name##_f08_, pmpi_##name##_)
#define UNPACK(...) __VA_ARGS__

using Procedure = void (*)();
