// SPDX-License-Identifier: BSD-3-Clause
// Everything that ships, in one place. Only this folder names concrete components (S1, S9).
#pragma once

#include <vector>

#include "collectives/collective.h"
#include "runtime/component/plugin.h"
#include "transports/transport.h"

namespace lamina::assembly {

transport::Registry ShippedTransports();
collective::Registry ShippedCollectives();

// What ships, and the shared objects of LAMINA_COMPONENT_PATH and PREFIX/lib/lamina, where PREFIX
// is LAMINA_PREFIX or else where this library is installed. Those that cannot be used are added to
// `refused` unless it is null.
collective::Registry AllCollectives(std::vector<component::Refusal>* refused = nullptr);

}  // namespace lamina::assembly
