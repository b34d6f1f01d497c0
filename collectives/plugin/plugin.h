// SPDX-License-Identifier: BSD-3-Clause
// Collective components that third parties built: collective_abi.h turned into collective.h.
//
// Ownership: what is made lives as long as the registry's component; the shared object stays mapped
//            to the end of the process.
#pragma once

#include <vector>

#include "collectives/collective.h"
#include "runtime/component/plugin.h"

namespace lamina::collective {

// Adds every component `collective_<name>.so` of `directories` to `registry`. Returns those that
// cannot be used, each with the reason; they do not keep the others from being added.
std::vector<component::Refusal> AddPlugins(const std::vector<std::string>& directories,
                                           Registry* registry);

}  // namespace lamina::collective
