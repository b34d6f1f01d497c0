// SPDX-License-Identifier: BSD-3-Clause
// Everything that ships, in one place. Only this folder names concrete components (S1, S9).
#pragma once

#include "collectives/collective.h"
#include "transports/transport.h"

namespace lamina::assembly {

transport::Registry ShippedTransports();
collective::Registry ShippedCollectives();

}  // namespace lamina::assembly
