// SPDX-License-Identifier: BSD-3-Clause
// Which network devices UCX may use where nobody has said so.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/status.h"

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

// A network device that is up, and one of its addresses, which others can know: "10.1.2.3".
struct AddressedDevice {
  std::string name;
  std::string address;
};
// Those of this process, sorted by name; a device with several addresses comes several times.
std::vector<AddressedDevice> AddressedDevices();

// The names of those of `devices` that are called `network`, or have an address in it
// ("10.1.0.0/16", "fd00::/8"). kInvalid: it is neither; kNotFound: none of them is.
Result<std::vector<std::string>> DevicesIn(const std::string& network,
                                           const std::vector<AddressedDevice>& devices);

}  // namespace lamina::ucx
