// SPDX-License-Identifier: BSD-3-Clause
// These are the reduction operations (MPI-5.0, section 6.9).
#pragma once

#include <mpi.h>

#include "runtime/datatype/datatype.h"
#include "runtime/object/object.h"

namespace lamina::datatype {

struct Op : core::Object {
  static constexpr core::Kind kKind = core::Kind::kOp;
  constexpr Op() : Object(kKind) {}
  std::uint32_t predefined_handle = 0;  // value of the MPI_Op constant; 0: not predefined
  bool commutative = true;
  bool predefined = false;
  bool large_count = false;  // `user` is an MPI_User_function_c
  void (*user)() = nullptr;  // MPI_User_function or MPI_User_function_c
  const char* name = "";
};

// Finds MPI_SUM and its kin or one of ours; returns null for MPI_OP_NULL and everything else.
Op* FindOp(MPI_Op handle);
MPI_Op HandleOf(const Op* op);
void Retain(Op* op);
void Release(Op* op);

// True if `op` may be applied to `type`. User operations take every type; predefined ones take no
// derived types, but those of table 6.1 of the standard and characters as integers.
bool Fits(const Op& op, const Datatype& type);

// Computes inout[i] = in[i] op inout[i] for `count` elements of `type`; Fits() must hold. `in`
// comes first in rank order, as MPI_User_function has it.
void Reduce(const Op& op, const void* in, void* inout, std::int64_t count, const Datatype& type);

// Computes out[i] = first[i] op second[i] in the same way. `out` may be `second`; otherwise no two
// arrays overlap.
void Combine(const Op& op, const void* first, const void* second, void* out, std::int64_t count,
             const Datatype& type);

}  // namespace lamina::datatype
