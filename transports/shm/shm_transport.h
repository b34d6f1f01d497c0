// SPDX-License-Identifier: BSD-3-Clause
// Shared memory between processes of one node: lock-free rings, and one copy for long messages
// where the kernel allows it. See README.md.
#pragma once

#include "transports/transport.h"

namespace lamina::shm {

transport::Component Describe();

}  // namespace lamina::shm
