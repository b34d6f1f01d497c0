// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ucx/devices.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <system_error>

namespace lamina::ucx {
namespace {

namespace fs = std::filesystem;

// Names of what is in `folder`, sorted.
std::vector<std::string> Listed(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    names.push_back(it->path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

bool Exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// Does it lead out of the node: is it hardware, or does it stand on another device (a bond, a
// VLAN)?
bool LeadsOut(const fs::path& device) {
  if (Exists(device / "device")) return true;
  const std::vector<std::string> entries = Listed(device);
  return std::any_of(entries.begin(), entries.end(),
                     [](const std::string& name) { return name.starts_with("lower_"); });
}

bool IsInnerBridge(const fs::path& device) {
  if (!Exists(device / "bridge")) return false;
  const std::vector<std::string> members = Listed(device / "brif");
  return std::none_of(members.begin(), members.end(), [&](const std::string& member) {
    return LeadsOut(device.parent_path() / member);
  });
}

// By an address that means something on another node.
bool IsReachable(const sockaddr* address) {
  if (address == nullptr) return false;
  if (address->sa_family != AF_INET6) return address->sa_family == AF_INET;
  return !IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

}  // namespace

Devices FindDevices(const std::vector<std::string>& names, const fs::path& sys) {
  Devices devices;
  for (const std::string& adapter : Listed(sys / "infiniband"))
    for (const std::string& port : Listed(sys / "infiniband" / adapter / "ports"))
      devices.usable.push_back(adapter + ":" + port);
  for (const std::string& name : names)
    (IsInnerBridge(sys / "net" / name) ? devices.inner_bridges : devices.usable).push_back(name);
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
