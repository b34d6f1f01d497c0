// SPDX-License-Identifier: BSD-3-Clause
// The parameter tables of everything that ships, and what is set: for `lamina info`, for MPI_T and
// for initialisation alike.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/environment.h"
#include "runtime/base/param.h"
#include "runtime/base/status.h"
#include "runtime/component/listing.h"

namespace lamina::assembly {

// What a process that initialises now would find: its environment, and what tools have set. Any
// thread.
param::Settings CurrentSettings(const Environment& environment);
// A tool sets a parameter for initialisations to come. kInvalid: the table refuses the value.
Status SetByTool(std::string_view name, std::string_view value);

// Those that belong to no framework.
std::vector<param::Row> LibraryParameters(const param::Settings& settings);
// All tables, by framework and component. Asks no component whether it can run here.
std::vector<component::ListedFramework> ListParameters(const param::Settings& settings);

// One line for each table with a bad value; "" if all are good.
std::string Problems(const param::Settings& settings);

}  // namespace lamina::assembly
