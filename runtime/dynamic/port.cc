// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/dynamic/port.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "runtime/base/clock.h"
#include "runtime/base/place.h"
#include "runtime/base/text.h"
#include "runtime/dynamic/await.h"

namespace lamina::dynamic {
namespace {

// So many connections wait in the kernel, and so many guests may be here without a proof.
constexpr int kWaiting = 128;
constexpr std::size_t kGuestsMax = 32;
// A guest has to prove that it knows the secret within this time.
constexpr std::uint64_t kGuestMs = 5000;
// While others wait outside, the one who has been silent longest is shown out after this time.
constexpr std::uint64_t kCrowdMs = 100;
// An address that does not answer a knock within this time is given up.
constexpr std::uint64_t kKnockMs = 5000;

// An address and a TCP port of IPv4 or IPv6, or the name of a socket of this machine, which needs
// no network.
struct Address {
  union {
    sockaddr any;
    sockaddr_in four;
    sockaddr_in6 six;
    sockaddr_un local;
  };
  socklen_t local_bytes = sizeof(sa_family_t);  // a socket without a name is given one
  Address() { std::memset(&local, 0, sizeof local); }
  bool is_local() const { return any.sa_family == AF_UNIX; }
  bool is_six() const { return any.sa_family == AF_INET6; }
  socklen_t bytes() const { return is_local() ? local_bytes : is_six() ? sizeof six : sizeof four; }
  std::uint16_t port() const { return ntohs(is_six() ? six.sin6_port : four.sin_port); }
  void SetPort(std::uint16_t port) {
    if (!is_local()) (is_six() ? six.sin6_port : four.sin_port) = htons(port);
  }
  // Leads to the own machine alone.
  bool IsNear() const {
    if (is_local()) return true;
    return is_six() ? IN6_IS_ADDR_LOOPBACK(&six.sin6_addr)
                    : ntohl(four.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  }
  // Means something on one link alone, which `six.sin6_scope_id` says.
  bool IsOfLink() const { return is_six() && IN6_IS_ADDR_LINKLOCAL(&six.sin6_addr); }
};

// Calls `visit` for the addresses of all networks of this machine that are up.
template <class Visit>
void EachOwn(const Visit& visit) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    const bool is_up = (each->ifa_flags & IFF_UP) != 0 && (each->ifa_flags & IFF_LOOPBACK) == 0;
    if (!is_up || each->ifa_addr == nullptr) continue;
    Address address;
    if (each->ifa_addr->sa_family == AF_INET)
      std::memcpy(&address.four, each->ifa_addr, sizeof address.four);
    else if (each->ifa_addr->sa_family == AF_INET6)
      std::memcpy(&address.six, each->ifa_addr, sizeof address.six);
    else
      continue;
    visit(address);
  }
  freeifaddrs(all);
}

// False: the text is no address, without a port. "fe80::1%eth0" says on which link it is.
bool ReadHost(const std::string& text, Address* address) {
  *address = Address();
  address->any.sa_family = AF_INET;
  if (inet_pton(AF_INET, text.c_str(), &address->four.sin_addr) == 1) return true;
  const std::size_t percent = text.find('%');
  address->any.sa_family = AF_INET6;
  if (inet_pton(AF_INET6, text.substr(0, percent).c_str(), &address->six.sin6_addr) != 1)
    return false;
  if (percent == text.npos) return true;
  const std::string link = text.substr(percent + 1);
  const auto number = ParseInteger(link);
  address->six.sin6_scope_id =
      number ? static_cast<std::uint32_t>(*number) : if_nametoindex(link.c_str());
  return address->six.sin6_scope_id != 0;
}

Address HostAt(const char* text) {
  Address address;
  ReadHost(text, &address);
  return address;
}

constexpr std::string_view kLocal = "local:";

// "10.0.0.7:40123", "[2001:db8::7]:40123", "local:0001f". On which link an address is, others call
// by names of their own.
std::string Text(const Address& address) {
  char text[INET6_ADDRSTRLEN];
  if (address.is_local()) {
    const std::size_t name = offsetof(sockaddr_un, sun_path) + 1;
    return std::string(kLocal) +
           std::string(address.local.sun_path + 1,
                       std::max<std::size_t>(address.local_bytes, name) - name);
  }
  if (address.is_six()) {
    inet_ntop(AF_INET6, &address.six.sin6_addr, text, sizeof text);
    return Format("[%s]:%u", text, address.port());
  }
  inet_ntop(AF_INET, &address.four.sin_addr, text, sizeof text);
  return Format("%s:%u", text, address.port());
}

bool ReadAddress(const std::string& text, Address* address) {
  if (text.starts_with(kLocal)) {
    *address = Address();
    const std::size_t bytes = text.size() - kLocal.size();
    if (bytes == 0 || bytes >= sizeof address->local.sun_path) return false;
    address->any.sa_family = AF_UNIX;
    std::memcpy(address->local.sun_path + 1, text.data() + kLocal.size(), bytes);
    address->local_bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + bytes);
    return true;
  }
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos) return false;
  const auto port = ParseInteger(std::string_view(text).substr(colon + 1));
  std::string host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (!port || *port <= 0 || *port > UINT16_MAX || !ReadHost(host, address)) return false;
  address->SetPort(static_cast<std::uint16_t>(*port));
  return true;
}

// Returns the addresses of this machine by which others may reach it, those of IPv4 first. One of
// IPv6 that holds on one link alone is there if there is nothing else.
std::vector<Address> OwnAddresses() {
  std::vector<Address> four, six, of_links;
  EachOwn([&](const Address& address) {
    (!address.is_six() ? four : address.IsOfLink() ? of_links : six).push_back(address);
  });
  four.insert(four.end(), six.begin(), six.end());
  return four.empty() ? of_links : four;
}

// Returns what that address may be here: one of a link may be on any link of this machine.
std::vector<Address> OnEachLink(const Address& address) {
  if (!address.IsOfLink() || address.six.sin6_scope_id != 0) return {address};
  std::vector<Address> found;
  EachOwn([&](const Address& own) {
    if (!own.IsOfLink()) return;
    found.push_back(address);
    found.back().six.sin6_scope_id = own.six.sin6_scope_id;
  });
  return found;
}

// Finds out on which link an own address is that was given without.
void FindLink(Address* address) {
  if (!address->IsOfLink() || address->six.sin6_scope_id != 0) return;
  EachOwn([address](const Address& own) {
    if (own.IsOfLink() && IN6_ARE_ADDR_EQUAL(&own.six.sin6_addr, &address->six.sin6_addr))
      address->six.sin6_scope_id = own.six.sin6_scope_id;
  });
}

// A socket of this machine alone does so anyway.
void SendAtOnce(int socket) {
  const int one = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

// Begins a connection. kTimeout: nobody has answered at that address.
Result<Descriptor> Reach(const Address& address, std::uint64_t until_ms) {
  Descriptor made(socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (made.value() < 0) return SystemError(Code::kResource, errno, "cannot make a socket");
  SendAtOnce(made.value());
  if (connect(made.value(), &address.any, address.bytes()) != 0) {
    if (errno != EINPROGRESS) return SystemError(Code::kPeerLost, errno, "%s", "cannot connect");
    pollfd ready{made.value(), POLLOUT, 0};
    if (!AwaitReady({&ready, 1}, std::min(until_ms, MomentIn(kKnockMs))))
      return Error(Code::kTimeout, "no answer");
    int error = 0;
    socklen_t bytes = sizeof error;
    getsockopt(made.value(), SOL_SOCKET, SO_ERROR, &error, &bytes);
    if (error != 0) return SystemError(Code::kPeerLost, error, "%s", "cannot connect");
  }
  return made;
}

bool IsNoSuchAddress(int error) {
  return error == EADDRNOTAVAIL || error == EAFNOSUPPORT || error == EPROTONOSUPPORT;
}

// Listens at that address, whose port is filled in. A socket of IPv6 that listens everywhere hears
// IPv4 as well. kExists: the port is in use. kUnsupported: this machine has no such address.
Result<Descriptor> ListenAt(Address* address) {
  Descriptor made(socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int zero = 0;
  if (made.value() >= 0 && address->is_six())
    setsockopt(made.value(), IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero);
  socklen_t bytes = address->bytes();
  const bool is_bound = made.value() >= 0 && bind(made.value(), &address->any, bytes) == 0;
  bytes = sizeof address->local;
  if (!is_bound || listen(made.value(), kWaiting) != 0 ||
      getsockname(made.value(), &address->any, &bytes) != 0)
    return SystemError(errno == EADDRINUSE      ? Code::kExists
                       : IsNoSuchAddress(errno) ? Code::kUnsupported
                                                : Code::kResource,
                       errno, "cannot listen at %s", Text(*address).c_str());
  address->local_bytes = bytes;
  return made;
}

// The same at the first port of `ports` that is free. Processes begin at different ones.
Result<Descriptor> ListenWithin(PortRange ports, Address* address) {
  const std::uint32_t count = ports.last - ports.first + 1u;
  const std::uint32_t begin = static_cast<std::uint32_t>(getpid()) % count;
  for (std::uint32_t i = 0; i < count; ++i) {
    address->SetPort(static_cast<std::uint16_t>(ports.first + (begin + i) % count));
    Result<Descriptor> made = ListenAt(address);
    if (made.ok() || made.status().code() != Code::kExists || count == 1) return made;
  }
  return Error(Code::kResource, "all ports from %u to %u are in use (dynamic.port.range)",
               ports.first, ports.last);
}

// Proves to the host of the connection that this process knows the secret.
Result<Stream> Prove(Descriptor socket, const Key& secret, std::uint64_t until_ms) {
  std::string greeting;
  while (greeting.size() < kGreetingBytes) {
    pollfd ready{socket.value(), POLLIN, 0};
    if (!AwaitReady({&ready, 1}, until_ms))
      return Error(Code::kTimeout, "nobody has accepted in time");
    char piece[kGreetingBytes];
    const ssize_t got = recv(socket.value(), piece, kGreetingBytes - greeting.size(), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
      return Error(Code::kPeerLost, "the port was closed");
    if (got > 0) greeting.append(piece, static_cast<std::size_t>(got));
  }
  if (!IsGreeting(greeting))
    return Error(Code::kPeerLost, "another program listens where the port was, which is closed");
  const std::string answer = AnswerTo(greeting, secret, NewGreeting());
  if (send(socket.value(), answer.data(), answer.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(answer.size()))
    return Error(Code::kPeerLost, "the port was closed");
  return Stream(std::move(socket), KeyOfBoth(greeting, answer, secret), false);
}

// True if the port can be reached from other machines.
bool HasFarAddress(const PortName& port) {
  return std::any_of(port.addresses.begin(), port.addresses.end(), [](const std::string& text) {
    Address address;
    return ReadAddress(text, &address) && !address.IsNear();
  });
}

std::vector<std::shared_ptr<Port>>& Ports() {
  static std::vector<std::shared_ptr<Port>>* const ports = new std::vector<std::shared_ptr<Port>>;
  return *ports;
}

}  // namespace

Result<PortRange> ReadPortRange(const std::string& text) {
  if (text.empty()) return PortRange{};
  const std::vector<std::string_view> words = Split(text, '-');
  const auto first = ParseInteger(words.front());
  const auto last = ParseInteger(words.back());
  if (words.size() != 2 || !first || !last || *first < 1 || *last > UINT16_MAX || *first > *last)
    return Error(Code::kInvalid,
                 "dynamic.port.range is \"%s\", must be two numbers of TCP ports as in 40000-40099",
                 text.c_str());
  return PortRange{static_cast<std::uint16_t>(*first), static_cast<std::uint16_t>(*last)};
}

// Others of this machine find a port that was not given an address by a local socket as well, so
// that no network need be up.
Result<std::unique_ptr<Port>> Port::Open(const std::string& listen_at, PortRange ports) {
  const bool is_all = listen_at == "all";
  const bool by_word = is_all || listen_at == "loopback";
  Address address = HostAt(is_all ? "::" : "127.0.0.1");
  if (!by_word && !ReadHost(listen_at, &address))
    return Error(Code::kInvalid, "\"%s\" is not loopback, all or an address (dynamic.port.listen)",
                 listen_at.c_str());
  FindLink(&address);
  Result<Descriptor> made = ListenWithin(ports, &address);
  // A machine may have one of the two kinds of addresses alone.
  if (!made.ok() && by_word && made.status().code() == Code::kUnsupported) {
    address = HostAt(is_all ? "0.0.0.0" : "::1");
    made = ListenWithin(ports, &address);
  }
  const bool is_on_network = made.ok();
  if (!is_on_network && (!by_word || made.status().code() != Code::kUnsupported))
    return std::move(made).status();
  PortName name;
  if (getrandom(name.secret.data(), sizeof name.secret, 0) != sizeof name.secret)
    return SystemError(Code::kResource, errno, "cannot make a secret");
  name.loopback = LoopbackNumber();
  std::unique_ptr<Port> port(new Port(name.secret));
  if (is_on_network) {
    std::vector<Address> at{address};
    if (is_all) at = {HostAt("127.0.0.1"), HostAt("::1")};
    for (Address nearest : at) {
      nearest.SetPort(address.port());
      if (!nearest.is_six() || address.is_six()) name.addresses.push_back(Text(nearest));
    }
    port->sockets_.push_back(*std::move(made));
  }
  if (by_word) {
    Address local;
    local.any.sa_family = AF_UNIX;
    Result<Descriptor> here = ListenAt(&local);
    if (!here.ok()) return std::move(here).status();
    name.addresses.insert(name.addresses.begin(), Text(local));
    port->sockets_.push_back(*std::move(here));
  }
  if (is_all && is_on_network)
    for (Address own : OwnAddresses()) {
      own.SetPort(address.port());
      if (!own.is_six() || address.is_six()) name.addresses.push_back(Text(own));
    }
  port->name_ = Write(name);
  return port;
}

void Port::Close() {
  guests_.clear();
  sockets_.clear();
}

bool Port::HasRoom() {
  if (guests_.size() < kGuestsMax) return true;
  std::vector<pollfd> outside;
  for (const Descriptor& socket : sockets_) outside.push_back({socket.value(), POLLIN, 0});
  if (poll(outside.data(), outside.size(), 0) <= 0) return false;
  const auto silent = std::find_if(guests_.begin(), guests_.end(),
                                   [](const Guest& guest) { return !IsProven(guest); });
  if (silent == guests_.end() || silent->until_ms > MonotonicMs() + kGuestMs - kCrowdMs)
    return false;
  guests_.erase(silent);
  return true;
}

void Port::Admit() {
  for (const Descriptor& socket : sockets_)
    while (HasRoom()) {
      Descriptor guest(accept4(socket.value(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (guest.value() < 0) break;
      SendAtOnce(guest.value());
      const std::string greeting = NewGreeting();
      if (send(guest.value(), greeting.data(), greeting.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        continue;
      guests_.push_back({std::move(guest), greeting, "", MonotonicMs() + kGuestMs});
    }
}

bool Port::Hear(Guest* guest) const {
  if (IsProven(*guest)) return true;
  char piece[kAnswerBytes];
  const ssize_t got =
      recv(guest->socket.value(), piece, kAnswerBytes - guest->answer.size(), MSG_DONTWAIT);
  if (got < 0) return (errno == EAGAIN || errno == EINTR) && MonotonicMs() < guest->until_ms;
  if (got == 0) return false;
  guest->answer.append(piece, static_cast<std::size_t>(got));
  return guest->answer.size() < kAnswerBytes || IsAnswer(guest->answer, guest->greeting, secret_);
}

Result<Stream> Port::Accept(std::uint64_t until_ms, int watched) {
  for (;;) {
    if (sockets_.empty()) return Error(Code::kNotFound, "the port was closed meanwhile");
    Admit();
    std::erase_if(guests_, [this](Guest& guest) { return !Hear(&guest); });
    const auto proven = std::find_if(guests_.begin(), guests_.end(),
                                     [](const Guest& guest) { return IsProven(guest); });
    if (proven != guests_.end()) {
      Stream stream(std::move(proven->socket), KeyOfBoth(proven->greeting, proven->answer, secret_),
                    true);
      guests_.erase(proven);
      return stream;
    }
    std::vector<pollfd> ready;
    if (guests_.size() < kGuestsMax)
      for (const Descriptor& socket : sockets_) ready.push_back({socket.value(), POLLIN, 0});
    if (watched >= 0) ready.push_back({watched, POLLIN, 0});
    for (const Guest& guest : guests_) ready.push_back({guest.socket.value(), POLLIN, 0});
    // Another thread may close the port meanwhile, and silent guests have to go.
    const std::uint64_t soon_ms =
        MonotonicMs() + (guests_.size() < kGuestsMax ? kGuestMs / 10 : kCrowdMs);
    AwaitReady(ready, std::min(until_ms, soon_ms));
    for (const pollfd& each : ready)
      if (each.fd == watched && each.revents != 0) return Status(Code::kAgain, "");
    if (MonotonicMs() >= until_ms) return Error(Code::kTimeout, "nobody has connected in time");
  }
}

Result<Stream> KnockAt(const PortName& port, std::uint64_t until_ms) {
  const bool is_here = port.loopback == LoopbackNumber();
  std::string tried;
  for (const std::string& text : port.addresses) {
    Address address;
    if (!ReadAddress(text, &address)) continue;
    const bool is_near = address.IsNear();
    if (is_near && !is_here && (address.is_local() || HasFarAddress(port))) continue;
    for (const Address& at : OnEachLink(address)) {
      Result<Descriptor> reached = Reach(at, until_ms);
      if (reached.ok()) return Prove(*std::move(reached), port.secret, until_ms);
      tried += (tried.empty() ? "" : ", ") + text + ": " + std::string(reached.status().message());
    }
    if (is_near && !is_here)
      tried +=
          ", where others than its own machine cannot reach it: its process needs --param "
          "dynamic.port.listen=all or the info key lamina_listen";
  }
  if (tried.empty()) tried = "it is one of another machine, which has no network";
  return Error(Code::kPeerLost, "nobody listens at the port any more (%s)", tried.c_str());
}

Result<std::string> OpenPort(const std::string& listen_at, PortRange ports) {
  Result<std::unique_ptr<Port>> port = Port::Open(listen_at, ports);
  if (!port.ok()) return std::move(port).status();
  Ports().push_back(*std::move(port));
  return Ports().back()->name();
}

std::shared_ptr<Port> FindPort(std::string_view name) {
  for (const auto& port : Ports())
    if (port->name() == name) return port;
  return nullptr;
}

bool ClosePort(std::string_view name) {
  const std::shared_ptr<Port> port = FindPort(name);
  if (port == nullptr) return false;
  port->Close();
  std::erase(Ports(), port);
  return true;
}

void CloseAllPorts() {
  for (const auto& port : Ports()) port->Close();
  Ports().clear();
}

}  // namespace lamina::dynamic
