// SPDX-License-Identifier: BSD-3-Clause
// UCX: everything beyond this node (TCP, RDMA, ...), as UCP active messages. The library is loaded
// at run time, and started only when somebody asks for this process's address. See README.md.
#pragma once

#include <string>

#include "runtime/base/param.h"
#include "transports/transport.h"

namespace lamina::ucx {

transport::Component Describe();

// The devices that UCX may use here, with their addresses: "eth0 10.1.2.3"; what is wrong with the
// parameters about them, if anything is.
std::string DescribeDevices(const param::Settings& settings);
// Whether windows put and get by UCX here, and why; or what is wrong with the parameters. It looks
// for adapters, which a start need not.
std::string DescribeOneSided(const param::Settings& settings);

}  // namespace lamina::ucx
