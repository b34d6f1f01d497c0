// SPDX-License-Identifier: BSD-3-Clause
// From this process to itself. Also the smallest complete transport: copy it to start another one.
#pragma once

#include "transports/transport.h"

namespace lamina::self {

transport::Component Describe();

}  // namespace lamina::self
