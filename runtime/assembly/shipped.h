// SPDX-License-Identifier: BSD-3-Clause
// Lists everything that ships. Only this folder names concrete components.
#pragma once

#include <vector>

#include "collectives/collective.h"
#include "runtime/component/plugin.h"
#include "transports/transport.h"

namespace lamina::assembly {

transport::Registry ShippedTransports();
collective::Registry ShippedCollectives();

// Returns the collectives that ship and those of the shared objects in LAMINA_COMPONENT_PATH and
// PREFIX/lib/lamina, where PREFIX is LAMINA_PREFIX or else the place where this library is
// installed. Objects that cannot be used are added to `refused` unless it is null.
collective::Registry AllCollectives(std::vector<component::Refusal>* refused = nullptr);

}  // namespace lamina::assembly
