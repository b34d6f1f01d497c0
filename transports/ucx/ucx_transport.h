// SPDX-License-Identifier: BSD-3-Clause
// UCX: everything beyond this node (TCP, RDMA, ...), as UCP active messages. The library is loaded
// at run time, and started only when somebody asks for this process's address. See README.md.
#pragma once

#include "transports/transport.h"

namespace lamina::ucx {

transport::Component Describe();

}  // namespace lamina::ucx
