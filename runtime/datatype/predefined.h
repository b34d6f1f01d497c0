// SPDX-License-Identifier: BSD-3-Clause
// The table of predefined datatypes.
#pragma once

#include "runtime/datatype/datatype.h"

namespace lamina::datatype {

// By the value of its MPI_Datatype constant; null for MPI_DATATYPE_NULL and unused values. O(1).
Datatype* FindPredefined(std::uintptr_t handle);

std::span<Datatype> PredefinedTypes();

}  // namespace lamina::datatype
