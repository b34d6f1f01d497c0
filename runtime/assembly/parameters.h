// SPDX-License-Identifier: BSD-3-Clause
// The parameter tables of everything that ships, and the values that are set. `lamina info`, MPI_T
// and initialisation all read them here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/environment.h"
#include "runtime/base/param.h"
#include "runtime/base/status.h"
#include "runtime/component/listing.h"

namespace lamina::assembly {

// The settings that a process would find if it initialised now: its environment and the values that
// tools have set. Any thread may call this.
param::Settings CurrentSettings(const Environment& environment);
// A tool sets a parameter for initialisations to come. kInvalid: the table refuses the value.
Status SetByTool(std::string_view name, std::string_view value);

// The parameters that belong to no framework.
std::vector<param::Row> LibraryParameters(const param::Settings& settings);
// All tables, by framework and component. No component is asked whether it can run here.
std::vector<component::ListedFramework> ListParameters(const param::Settings& settings);

// Describes each table with a bad value in one line; "" if all values are good.
std::string Problems(const param::Settings& settings);

}  // namespace lamina::assembly
