// SPDX-License-Identifier: BSD-3-Clause
// The transport from this process to itself. It is also the smallest complete one: copy it to start
// another one.
#pragma once

#include "transports/transport.h"

namespace lamina::self {

transport::Component Describe();

}  // namespace lamina::self
