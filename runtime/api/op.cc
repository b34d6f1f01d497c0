// SPDX-License-Identifier: BSD-3-Clause
// These are reduction operations made by the application (MPI-5.0, section 6.9.5).
#include "runtime/api/arguments.h"

using lamina::Call;
using lamina::api::Entry;
using lamina::datatype::FindOp;
using lamina::datatype::Op;

namespace {

MPI_Op Make(void (*function)(), bool commutative, bool large_count) {
  Op* op = new Op;
  op->user = function;
  op->commutative = commutative;
  op->large_count = large_count;
  return HandleOf(op);
}

}  // namespace

int PMPI_Op_create(MPI_User_function* user_fn, int commute, MPI_Op* op) {
  Entry entry(Call::MPI_Op_create);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, user_fn);
  REQUIRE_POINTER(nullptr, op);
  *op = Make(reinterpret_cast<void (*)()>(user_fn), commute != 0, false);
  return MPI_SUCCESS;
}
PROFILED(MPI_Op_create);

int PMPI_Op_create_c(MPI_User_function_c* user_fn, int commute, MPI_Op* op) {
  Entry entry(Call::MPI_Op_create_c);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, user_fn);
  REQUIRE_POINTER(nullptr, op);
  *op = Make(reinterpret_cast<void (*)()>(user_fn), commute != 0, true);
  return MPI_SUCCESS;
}
PROFILED(MPI_Op_create_c);

int PMPI_Op_free(MPI_Op* op) {
  Entry entry(Call::MPI_Op_free);
  REQUIRE_INITIALIZED(entry);
  REQUIRE_POINTER(nullptr, op);
  Op* found = FindOp(*op);
  if (found == nullptr) return BadOp(entry, *op);
  REQUIRE(!found->predefined, nullptr, MPI_ERR_OP,
          "op is %s, which is predefined and cannot be freed", found->name);
  Release(found);
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}
PROFILED(MPI_Op_free);

int PMPI_Op_commutative(MPI_Op op, int* commute) {
  Entry entry(Call::MPI_Op_commutative);
  REQUIRE_INITIALIZED(entry);
  const Op* found = FindOp(op);
  if (found == nullptr) return BadOp(entry, op);
  REQUIRE_POINTER(nullptr, commute);
  *commute = found->commutative;
  return MPI_SUCCESS;
}
PROFILED(MPI_Op_commutative);
