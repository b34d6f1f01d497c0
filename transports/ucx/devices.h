// SPDX-License-Identifier: BSD-3-Clause
// Which network devices UCX may use where nobody has said so.
#pragma once

#include <string>
#include <vector>

namespace lamina::ucx {

struct Devices {
  // Network devices and the ports of RDMA adapters, by the names that UCX_NET_DEVICES takes.
  std::vector<std::string> usable;
  // Bridges that have only containers and virtual machines of this node on them (docker0, virbr0).
  // Every node may have one of the same address, so such a bridge does not lead to the peer.
  std::vector<std::string> inner_bridges;
};
// `names` are network devices. `sys` is where the kernel describes them, /sys/class; a device that
// is not listed there counts as usable.
Devices FindDevices(const std::vector<std::string>& names, const std::string& sys);

// Network devices of this process that are up and have an address others can know, sorted.
std::vector<std::string> AddressedDevices();

}  // namespace lamina::ucx
