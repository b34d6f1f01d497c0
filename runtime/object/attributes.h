// SPDX-License-Identifier: BSD-3-Clause
// This is attribute caching on communicators, datatypes and windows (MPI-5.0, section 7.7).
#pragma once

#include <mpi.h>

#include <utility>
#include <vector>

namespace lamina::core {

enum class Holder { kComm, kDatatype, kWin };

// These are the attributes of one object: (keyval, value) in the order they were last set. Copy and
// delete functions run through the functions below, never by copying this struct.
struct Attributes {
  std::vector<std::pair<int, void*>> values;
};

// These make and free keyvals; `fortran` style functions come with the Fortran binding. Each
// returns an MPI error class.
int CreateKeyval(Holder holder, void (*copy)(), void (*remove)(), void* extra_state, int* keyval);
int FreeKeyval(Holder holder, int* keyval);

// `object` is the MPI handle that the user's functions are called with.
int SetAttribute(Holder holder, void* object, Attributes* attributes, int keyval, void* value);
int GetAttribute(Holder holder, const Attributes& attributes, int keyval, void** value,
                 bool* found);
int DeleteAttribute(Holder holder, void* object, Attributes* attributes, int keyval);
// Runs the copy functions. If one fails, what was copied is deleted again and its error class is
// returned.
int CopyAttributes(Holder holder, void* old_object, const Attributes& from, Attributes* to);
// Deletes all attributes in reverse order of setting (section 11.2.4 asks this of MPI_COMM_SELF),
// even if delete functions fail; returns the first error.
int DeleteAllAttributes(Holder holder, void* object, Attributes* attributes);
// Deletes in the same order, but stops where a delete function fails: its attribute and those set
// before it are still there.
int TryDeleteAllAttributes(Holder holder, void* object, Attributes* attributes);

}  // namespace lamina::core
