// SPDX-License-Identifier: BSD-3-Clause
// The file form of a datatype is what it describes in a file of another representation (MPI-5.0,
// section 14.5.1): counts and strides of its constructors mean the size an element has in the file,
// while displacements given in bytes stay as they are.
#pragma once

#include "runtime/datatype/datatype.h"
#include "runtime/io/datarep.h"
#include "runtime/io/failure.h"

namespace lamina::io {

// Makes the file form of `type`, committed, with a reference that the caller owns. It is `type`
// itself if the representation is native.
Failure MakeFileForm(const Datarep& datarep, datatype::Datatype* type, datatype::Datatype** form);

}  // namespace lamina::io
