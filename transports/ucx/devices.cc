// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ucx/devices.h"

#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

namespace lamina::ucx {
namespace {

// The names in `folder`, sorted. (std::filesystem would link streams and locales into the library,
// which every rank would initialise at its start.)
std::vector<std::string> Listed(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
  std::vector<std::string> names;
  while (const dirent* const entry = open != nullptr ? readdir(open.get()) : nullptr)
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  std::sort(names.begin(), names.end());
  return names;
}

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// True if the device leads out of the node: it is hardware, or stands on another device, like a
// bond or a VLAN.
bool LeadsOut(const std::string& device) {
  if (Exists(device + "/device")) return true;
  const std::vector<std::string> entries = Listed(device);
  return std::any_of(entries.begin(), entries.end(),
                     [](const std::string& name) { return name.starts_with("lower_"); });
}

bool IsInnerBridge(const std::string& net, const std::string& device) {
  if (!Exists(net + device + "/bridge")) return false;
  const std::vector<std::string> members = Listed(net + device + "/brif");
  return std::none_of(members.begin(), members.end(),
                      [&](const std::string& member) { return LeadsOut(net + member); });
}

// True if the address means something on another node.
bool IsReachable(const sockaddr* address) {
  if (address == nullptr) return false;
  if (address->sa_family != AF_INET6) return address->sa_family == AF_INET;
  return !IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

}  // namespace

Devices FindDevices(const std::vector<std::string>& names, const std::string& sys) {
  Devices devices;
  const std::string adapters = sys + "/infiniband/", net = sys + "/net/";
  for (const std::string& adapter : Listed(adapters))
    for (const std::string& port : Listed(adapters + adapter + "/ports"))
      devices.usable.push_back(adapter + ":" + port);
  for (const std::string& name : names)
    (IsInnerBridge(net, name) ? devices.inner_bridges : devices.usable).push_back(name);
  return devices;
}

std::vector<std::string> AddressedDevices() {
  constexpr unsigned kActive = IFF_UP | IFF_RUNNING;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return {};
  std::vector<std::string> names;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if ((one->ifa_flags & kActive) == kActive && IsReachable(one->ifa_addr))
      names.emplace_back(one->ifa_name);
  }
  freeifaddrs(all);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace lamina::ucx
