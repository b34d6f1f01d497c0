// SPDX-License-Identifier: BSD-3-Clause
// These predefined datatypes have no name and exist once somebody has asked for them: Fortran types
// by precision and range (MPI-5.0, section 19.1.9), and pairs of a value and an index for
// MPI_MINLOC and MPI_MAXLOC (section 6.9.4).
//
// The same arguments give the same type, and no type is ever freed. Each function returns null if
// there is no such type.
#pragma once

#include "runtime/datatype/datatype.h"

namespace lamina::datatype {

// Arguments are decimal digits and decimal exponents, or MPI_UNDEFINED where one does not matter.
Datatype* FortranInteger(int range);
Datatype* FortranReal(int precision, int range);
Datatype* FortranComplex(int precision, int range);

// The index is an integer of any size. A pair that has a name is not made again.
Datatype* ValueIndex(Datatype* value, Datatype* index);

}  // namespace lamina::datatype
