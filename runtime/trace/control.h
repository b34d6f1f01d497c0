// SPDX-License-Identifier: BSD-3-Clause
// Control variables show the parameter tables to MPI_T (MPI-5.0, section 15.3.6):
//
//   parameter                  variable
//   switch                     MPI_INT, enumeration boolean
//   one of several words       MPI_INT, an enumeration of its own
//   text                       MPI_CHAR, kTextBytes of them
//   numbers                    MPI_UNSIGNED, MPI_UNSIGNED_LONG_LONG, MPI_COUNT, MPI_DOUBLE
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/param.h"
#include "runtime/component/listing.h"
#include "runtime/trace/enumeration.h"

namespace lamina::trace {

inline constexpr int kTextBytes = 1024;  // a text and its end mark

struct ControlVariable {
  std::string name;
  std::string description;
  param::Type type = param::Type::kText;
  MPI_Datatype datatype = MPI_CHAR;
  int count = 1;
  int scope = MPI_T_SCOPE_LOCAL;
  int verbosity = MPI_T_VERBOSITY_USER_BASIC;
  std::unique_ptr<Enumeration> enumeration;  // null: none
  std::string constant;                      // the value of one that never changes
};

// Makes one variable for each row of the tables, and one for each constant.
std::vector<ControlVariable> ControlVariables(
    const std::vector<component::ListedFramework>& frameworks);

// Returns the value of `variable` in the tables, or its constant.
std::string ValueOf(const ControlVariable& variable,
                    const std::vector<component::ListedFramework>& frameworks);

// Writes the value a table shows into a buffer of `variable.count` elements.
void ToBuffer(const ControlVariable& variable, const std::string& value, void* buffer);
// Reads it back. Returns nothing if it is no item of the enumeration, or a text without an end.
std::optional<std::string> FromBuffer(const ControlVariable& variable, const void* buffer);

}  // namespace lamina::trace
