// SPDX-License-Identifier: BSD-3-Clause
// Categories show the dots in the names of variables and events as a tree (MPI-5.0, section
// 15.3.9).
//
// transport.shm.ring_cells belongs to category transport.shm, which belongs to transport. Every
// framework and component has a category, with or without variables.
#pragma once

#include <string>
#include <vector>

#include "runtime/component/listing.h"
#include "runtime/trace/control.h"

namespace lamina::trace {

struct Category {
  std::string name;
  std::string description;
  std::vector<int> controls;
  std::vector<int> performances;
  std::vector<int> events;
  std::vector<int> categories;  // directly below
};

std::vector<Category> Categories(const std::vector<component::ListedFramework>& frameworks,
                                 const std::vector<ControlVariable>& controls);

}  // namespace lamina::trace
