// SPDX-License-Identifier: BSD-3-Clause
#include "transports/ucx/devices.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>

#include "runtime/base/text.h"

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

std::string Text(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = "";
  const void* const bytes =
      address->sa_family == AF_INET
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(address)->sin_addr)
          : &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  inet_ntop(address->sa_family, bytes, text, sizeof text);
  return text;
}

struct IpAddress {
  std::array<unsigned char, 16> bytes{};
  unsigned bits = 0;  // 32 or 128
};
std::optional<IpAddress> ParseIp(const std::string& text) {
  IpAddress address;
  const bool is_six = text.find(':') != std::string::npos;
  address.bits = is_six ? 128 : 32;
  if (inet_pton(is_six ? AF_INET6 : AF_INET, text.c_str(), address.bytes.data()) != 1)
    return std::nullopt;
  return address;
}

// All addresses that begin with the same bits.
struct Network {
  IpAddress first;
  unsigned bits = 0;

  bool Contains(const std::string& text) const {
    const std::optional<IpAddress> address = ParseIp(text);
    if (!address || address->bits != first.bits) return false;
    for (unsigned bit = 0; bit < bits; ++bit)
      if (((address->bytes[bit / 8] ^ first.bytes[bit / 8]) >> (7 - bit % 8) & 1) != 0)
        return false;
    return true;
  }
};

// "10.1.0.0/16"; an address without "/" is a network of one.
std::optional<Network> ParseNetwork(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::optional<IpAddress> first = ParseIp(text.substr(0, slash));
  if (!first) return std::nullopt;
  if (slash == std::string::npos) return Network{*first, first->bits};
  const auto bits = ParseInteger(std::string_view(text).substr(slash + 1));
  if (!bits || *bits < 0 || *bits > first->bits) return std::nullopt;
  return Network{*first, static_cast<unsigned>(*bits)};
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

std::vector<AddressedDevice> AddressedDevices() {
  constexpr unsigned kActive = IFF_UP | IFF_RUNNING;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return {};
  std::vector<AddressedDevice> devices;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next)
    if ((one->ifa_flags & kActive) == kActive && IsReachable(one->ifa_addr))
      devices.push_back({one->ifa_name, Text(one->ifa_addr)});
  freeifaddrs(all);
  std::sort(devices.begin(), devices.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return devices;
}

Result<std::vector<std::string>> DevicesIn(const std::string& network,
                                           const std::vector<AddressedDevice>& devices) {
  const std::optional<Network> range = ParseNetwork(network);
  if (!range && network.find('/') != std::string::npos)
    return Error(Code::kInvalid, "\"%s\" is no network, such as 10.1.0.0/16", network.c_str());
  std::vector<std::string> names;
  std::string others;
  for (const AddressedDevice& device : devices) {
    const bool fits = range ? range->Contains(device.address) : device.name == network;
    if (fits && (names.empty() || names.back() != device.name)) names.push_back(device.name);
    if (!fits) others += (others.empty() ? "" : ", ") + device.name + " " + device.address;
  }
  if (names.empty())
    return Error(Code::kNotFound, "no device of this node is in %s; there are %s", network.c_str(),
                 others.c_str());
  return names;
}

}  // namespace lamina::ucx
