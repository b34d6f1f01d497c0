// SPDX-License-Identifier: BSD-3-Clause
// An enumeration names the values of an integer variable or the elements of an event (MPI-5.0,
// section 15.3.5). It lives as long as the process, because a tool may keep the handle.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace lamina::trace {

struct Enumeration {
  std::string name;
  std::vector<std::pair<int, std::string>> items;
};

}  // namespace lamina::trace
