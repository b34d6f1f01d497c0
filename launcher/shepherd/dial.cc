// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/shepherd/dial.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "launcher/shepherd/tuning.h"
#include "launcher/wire/frame.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// Understands "10.0.0.1:4000" and "[fe80::1]:4000"; returns nothing for anything else.
std::optional<sockaddr_storage> AddressOf(std::string_view text, socklen_t* bytes) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto port = ParseInteger(text.substr(colon + 1));
  if (!port.has_value() || *port <= 0 || *port > 65535) return std::nullopt;
  std::string host(text.substr(0, colon));
  sockaddr_storage storage{};
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    auto* address = reinterpret_cast<sockaddr_in6*>(&storage);
    address->sin6_family = AF_INET6;
    address->sin6_port = htons(static_cast<std::uint16_t>(*port));
    *bytes = sizeof *address;
    host = host.substr(1, host.size() - 2);
    if (inet_pton(AF_INET6, host.c_str(), &address->sin6_addr) != 1) return std::nullopt;
  } else {
    auto* address = reinterpret_cast<sockaddr_in*>(&storage);
    address->sin_family = AF_INET;
    address->sin_port = htons(static_cast<std::uint16_t>(*port));
    *bytes = sizeof *address;
    if (inet_pton(AF_INET, host.c_str(), &address->sin_addr) != 1) return std::nullopt;
  }
  return storage;
}

// Returns a connected socket, or errno as a negative number.
int Connect(const sockaddr_storage& address, socklen_t bytes) {
  const int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -errno;
  int error = 0;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), bytes) != 0) {
    error = errno;
    pollfd ready{fd, POLLOUT, 0};
    if (error == EINPROGRESS && poll(&ready, 1, kConnectMs) == 1) {
      socklen_t size = sizeof error;
      getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    } else if (error == EINPROGRESS) {
      error = ETIMEDOUT;
    }
  }
  if (error == 0) return fd;
  close(fd);
  return -error;
}

struct PortRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

// Returns nothing if the text is no range. Port 0 stands for any.
std::optional<PortRange> PortRangeOf(std::string_view text) {
  if (text.empty()) return PortRange{};
  const std::size_t dash = text.find('-');
  const auto first = ParseInteger(text.substr(0, dash));
  const auto last = dash == text.npos ? first : ParseInteger(text.substr(dash + 1));
  if (!first.has_value() || !last.has_value() || *first < 1 || *last < *first || *last > 65535)
    return std::nullopt;
  return PortRange{static_cast<std::uint32_t>(*first), static_cast<std::uint32_t>(*last)};
}

Result<Key> SecretOf(const std::string& hex) {
  std::string bytes;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
    unsigned value = 0;
    if (sscanf(hex.c_str() + at, "%2x", &value) != 1) break;
    bytes.push_back(static_cast<char>(value));
  }
  if (bytes.size() != sizeof(Key))
    return Error(Code::kInvalid, "%s is not 32 hexadecimal digits",
                 std::string(kSecretVariable).c_str());
  return KeyOf(bytes);
}

Result<Line> Call(const std::string& addresses, const Key& secret) {
  std::string tried;
  for (const std::string_view text : Split(addresses, ',')) {
    socklen_t bytes = 0;
    const auto address = AddressOf(text, &bytes);
    if (!address.has_value()) continue;
    const int fd = Connect(*address, bytes);
    if (fd >= 0) {
      const int one = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
      return Line{fd, fd, secret};
    }
    tried += (tried.empty() ? "" : ", ") + std::string(text) + ": " + strerror(-fd);
  }
  return Error(Code::kNotFound, "cannot reach the launcher (%s)",
               tried.empty() ? "no address was given" : tried.c_str());
}

}  // namespace

Result<Line> OpenLine(const Environment& environment) {
  if (const auto addresses = environment.Get(kCallVariable)) {
    const Result<Key> secret = SecretOf(environment.Get(kSecretVariable).value_or(""));
    if (!secret.ok()) return Status(secret.status().code(), std::string(secret.status().message()));
    return Call(*addresses, *secret);
  }
  Line line;
  line.in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  line.out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (line.in < 0 || line.out < 0 || nothing < 0)
    return SystemError(Code::kResource, errno, "a shepherd needs standard input and output");
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  close(nothing);
  return line;
}

Result<std::string> ReadOpening(int fd, int timeout_ms) {
  const std::size_t wanted = wire::kMark.size() + wire::kNonceBytes;
  std::string bytes;
  while (bytes.size() < wanted) {
    pollfd ready{fd, POLLIN, 0};
    const int count = poll(&ready, 1, timeout_ms);
    if (count < 0 && errno == EINTR) continue;
    if (count == 0)
      return Error(Code::kTimeout, "no launcher speaks on the stream of this shepherd");
    char piece[64];
    const ssize_t got = read(fd, piece, wanted - bytes.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return Error(Code::kPeerLost, "the launcher has gone");
    bytes.append(piece, static_cast<std::size_t>(got));
    if (!bytes.starts_with(wire::kMark.substr(0, std::min(bytes.size(), wire::kMark.size()))))
      return Error(Code::kInvalid, "who speaks on the stream of this shepherd is no launcher");
  }
  return bytes.substr(wire::kMark.size());
}

std::string HostHint(const Environment& environment) {
  if (const auto index = environment.Get(kHostVariable)) return *index;
  if (const auto position = environment.Get("SLURM_NODEID")) return "#" + *position;
  if (const auto position = environment.Get("BPROC_RANK")) return "#" + *position;
  return "";
}

Result<Exchange> OpenExchange(std::string_view ports) {
  const std::optional<PortRange> range = PortRangeOf(ports);
  if (!range.has_value())
    return Error(Code::kInvalid,
                 "launcher.shepherd.ports=%s is no range of ports, such as 40000-40100",
                 std::string(ports).c_str());
  Exchange exchange;
  exchange.fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool six = exchange.fd >= 0;
  if (!six) exchange.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in6 any6{};
  any6.sin6_family = AF_INET6;
  sockaddr_in any4{};
  any4.sin_family = AF_INET;
  const int off = 0;
  if (six) setsockopt(exchange.fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  const auto* any =
      six ? reinterpret_cast<const sockaddr*>(&any6) : reinterpret_cast<const sockaddr*>(&any4);
  sockaddr_storage own{};
  socklen_t bytes = sizeof own;
  bool bound = false;
  for (std::uint32_t port = range->first; exchange.fd >= 0 && !bound && port <= range->last;
       ++port) {
    any6.sin6_port = any4.sin_port = htons(static_cast<std::uint16_t>(port));
    bound = bind(exchange.fd, any, six ? sizeof any6 : sizeof any4) == 0;
  }
  if (!bound || listen(exchange.fd, 4096) != 0 ||
      getsockname(exchange.fd, reinterpret_cast<sockaddr*>(&own), &bytes) != 0) {
    const int error = errno;
    if (exchange.fd >= 0) close(exchange.fd);
    return SystemError(
        Code::kResource, error, "cannot listen for shepherds%s%s",
        ports.empty() ? "" : " on a port of launcher.shepherd.ports=", std::string(ports).c_str());
  }
  const unsigned port = ntohs(six ? reinterpret_cast<sockaddr_in6*>(&own)->sin6_port
                                  : reinterpret_cast<sockaddr_in*>(&own)->sin_port);
  ifaddrs* interfaces = nullptr;
  if (getifaddrs(&interfaces) != 0) interfaces = nullptr;
  for (const bool want_six : {false, true}) {
    for (const ifaddrs* one = interfaces; one != nullptr; one = one->ifa_next) {
      if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0 ||
          (one->ifa_flags & IFF_LOOPBACK) != 0)
        continue;
      char text[INET6_ADDRSTRLEN];
      if (!want_six && one->ifa_addr->sa_family == AF_INET) {
        const auto* address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
        inet_ntop(AF_INET, &address->sin_addr, text, sizeof text);
        exchange.addresses += Format("%s%s:%u", exchange.addresses.empty() ? "" : ",", text, port);
      } else if (want_six && six && one->ifa_addr->sa_family == AF_INET6) {
        const auto* address = reinterpret_cast<const sockaddr_in6*>(one->ifa_addr);
        if (IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr)) continue;  // means nothing elsewhere
        inet_ntop(AF_INET6, &address->sin6_addr, text, sizeof text);
        exchange.addresses +=
            Format("%s[%s]:%u", exchange.addresses.empty() ? "" : ",", text, port);
      }
    }
  }
  freeifaddrs(interfaces);
  exchange.addresses += Format("%s127.0.0.1:%u", exchange.addresses.empty() ? "" : ",", port);
  return exchange;
}

}  // namespace lamina::launcher
