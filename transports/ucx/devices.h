// SPDX-License-Identifier: BSD-3-Clause
// Which network devices UCX may use where nobody has said so.
#pragma once

#include <string>
#include <vector>

namespace lamina::ucx {

struct Devices {
  // As UCX_NET_DEVICES names them: network devices, and the ports of RDMA adapters.
  std::vector<std::string> usable;
  // Bridges on which there are only containers and virtual machines of this node (docker0, virbr0).
  // Every node may have one of the same address, so what it leads to is not the peer.
  std::vector<std::string> inner_bridges;
};
// `names`: network devices. `sys`: where the kernel tells what they are, /sys/class; what is not
// listed there counts as usable.
Devices FindDevices(const std::vector<std::string>& names, const std::string& sys);

// Network devices of this process that are up and have an address others can know, sorted.
std::vector<std::string> AddressedDevices();

}  // namespace lamina::ucx
