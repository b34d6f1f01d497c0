// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/pmix/gatekeeper.h"

#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string_view>
#include <vector>

#include "runtime/base/log.h"

namespace lamina::launcher::pmix {
namespace {

constexpr std::size_t kGreetingBytesMax = 16384;
constexpr timeval kGreetingTime{5, 0};
constexpr std::size_t kStrangersMax = 512;

// What the event loop hands over to libpmix's listening thread.
struct Handover {
  std::mutex mutex;
  std::deque<int> guests;
  std::atomic<std::uint16_t> server_port{0};
  // One end of a pair of sockets whose other end is closed, so that reading it finds its end. It is
  // made before the first server, and stays, because libpmix's thread may outlive the gatekeeper.
  std::atomic<int> silence{-1};
};
Handover& TheHandover() {
  static auto* handover = new Handover;  // for ever: libpmix's thread may outlive us
  return *handover;
}

sockaddr_in Loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

std::uint16_t PortOf(int fd) {
  sockaddr_in address{};
  socklen_t bytes = sizeof address;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) return 0;
  return address.sin_family == AF_INET ? ntohs(address.sin_port) : std::uint16_t{0};
}

int NextGuest() {
  Handover& handover = TheHandover();
  const std::lock_guard lock(handover.mutex);
  if (handover.guests.empty()) return -1;
  const int fd = handover.guests.front();
  handover.guests.pop_front();
  return fd;
}

Status MakeSilence() {
  Handover& handover = TheHandover();
  if (handover.silence.load(std::memory_order_relaxed) >= 0) return {};
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return SystemError(Code::kResource, errno, "cannot make a pair of sockets for PMIx");
  close(pair[1]);
  handover.silence.store(pair[0], std::memory_order_release);
  return {};
}

}  // namespace

// This is what libpmix's accept() does; gatekeeper.h says why.
int PmixAccept(int fd, sockaddr* address, socklen_t* address_bytes) {
  const int knock = accept4(fd, address, address_bytes, SOCK_CLOEXEC);
  if (knock < 0) return knock;
  const std::uint16_t server = TheHandover().server_port.load(std::memory_order_acquire);
  if (server == 0 || PortOf(fd) != server) return knock;
  const int guest = NextGuest();
  if (guest >= 0) {
    close(knock);
    return guest;
  }
  // This is a stranger. A socket that was shut down still gives what had arrived before, which
  // libpmix would read and may not survive; so it gets the silent end under the number of the
  // stranger's socket.
  if (dup3(TheHandover().silence.load(std::memory_order_acquire), knock, O_CLOEXEC) < 0) abort();
  return knock;
}

// The greeting of PMIx 3 to 5 begins with index -1 and tag -1 (32 bits each) and the number of
// bytes that follow (64 bits), in the byte order of this machine.
Greeting Judge(const void* bytes, std::size_t count, const std::string& name) {
  struct Header {
    std::uint32_t index;
    std::uint32_t tag;
    std::uint64_t bytes;
  } header;
  if (count < sizeof header) return Greeting::kIncomplete;
  std::memcpy(&header, bytes, sizeof header);
  if (header.index != 0xffffffffu || header.tag != 0xffffffffu ||
      header.bytes > kGreetingBytesMax - sizeof header)
    return Greeting::kStranger;
  if (count < sizeof header + header.bytes) return Greeting::kIncomplete;
  const std::string_view body(static_cast<const char*>(bytes) + sizeof header, header.bytes);
  return body.find(name) == std::string_view::npos ? Greeting::kStranger : Greeting::kWelcome;
}

struct Gatekeeper::Caller {
  Gatekeeper* gatekeeper;
  int fd;
  event* greeting;
  ~Caller() { event_free(greeting); }
};

Gatekeeper::Gatekeeper(event_base* loop, std::string name, std::size_t guests,
                       std::function<void()> on_guest)
    : loop_(loop),
      name_(std::move(name)),
      callers_max_(guests + kStrangersMax),
      on_guest_(std::move(on_guest)) {}

Result<std::unique_ptr<Gatekeeper>> Gatekeeper::Open(event_base* loop, std::string name,
                                                     std::size_t guests,
                                                     std::function<void()> on_guest) {
  std::unique_ptr<Gatekeeper> gatekeeper(
      new Gatekeeper(loop, std::move(name), guests, std::move(on_guest)));
  gatekeeper->listen_fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const sockaddr_in any = Loopback(0);
  if (Status status = MakeSilence(); !status.ok()) return status;
  if (gatekeeper->listen_fd_ < 0 ||
      bind(gatekeeper->listen_fd_, reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0 ||
      listen(gatekeeper->listen_fd_, 4096) != 0)
    return SystemError(Code::kResource, errno, "cannot listen on 127.0.0.1 for PMIx");
  gatekeeper->port_ = PortOf(gatekeeper->listen_fd_);
  gatekeeper->listening_ =
      event_new(loop, gatekeeper->listen_fd_, EV_READ | EV_PERSIST, OnCaller, gatekeeper.get());
  event_add(gatekeeper->listening_, nullptr);
  return gatekeeper;
}

Gatekeeper::~Gatekeeper() {
  TheHandover().server_port.store(0, std::memory_order_release);
  for (int guest = NextGuest(); guest >= 0; guest = NextGuest()) close(guest);
  for (const auto& [fd, caller] : callers_) close(fd);
  for (const auto& [fd, unused] : waiting_) close(fd);
  if (listening_ != nullptr) event_free(listening_);
  if (listen_fd_ >= 0) close(listen_fd_);
}

void Gatekeeper::OnCaller(int listen_fd, short, void* self) {
  auto* gatekeeper = static_cast<Gatekeeper*>(self);
  for (;;) {
    const int fd = accept4(listen_fd, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;  // all answered, or none left for now: the event comes again
    if (gatekeeper->callers_.size() >= gatekeeper->callers_max_)
      gatekeeper->Drop(gatekeeper->callers_.begin()->first);
    auto caller = std::make_unique<Caller>();
    caller->gatekeeper = gatekeeper;
    caller->fd = fd;
    // The event is edge triggered, so that a greeting that is only half there does not spin the
    // loop.
    caller->greeting =
        event_new(gatekeeper->loop_, fd, EV_READ | EV_ET | EV_PERSIST, OnGreeting, caller.get());
    event_add(caller->greeting, &kGreetingTime);
    gatekeeper->callers_.emplace(fd, std::move(caller));
  }
}

void Gatekeeper::OnGreeting(int, short what, void* self) {
  auto* caller = static_cast<Caller*>(self);
  caller->gatekeeper->Hear(caller, (what & EV_TIMEOUT) != 0);
}

void Gatekeeper::Hear(Caller* caller, bool late) {
  const int fd = caller->fd;
  std::vector<char> bytes(kGreetingBytesMax);
  const ssize_t count = recv(fd, bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
  if (count < 0 && errno == EAGAIN && !late) return;
  const Greeting greeting = count <= 0
                                ? Greeting::kStranger
                                : Judge(bytes.data(), static_cast<std::size_t>(count), name_);
  if (greeting == Greeting::kIncomplete && !late) return;
  if (greeting != Greeting::kWelcome) {
    Log(Level::kInfo, "pmix", "a connection without a proper greeting was closed");
    return Drop(fd);
  }
  callers_.erase(fd);
  if (server_port_ != 0)
    HandOver(fd);
  else
    waiting_.emplace(fd, fd);
  on_guest_();
}

void Gatekeeper::Drop(int fd) {
  ++refused_;
  callers_.erase(fd);
  close(fd);
}

void Gatekeeper::LeadTo(std::uint16_t port) {
  server_port_ = port;
  TheHandover().server_port.store(port, std::memory_order_release);
  const auto guests = std::move(waiting_);
  waiting_.clear();
  for (const auto& [fd, unused] : guests) HandOver(fd);
}

void Gatekeeper::HandOver(int fd) {
  {
    Handover& handover = TheHandover();
    const std::lock_guard lock(handover.mutex);
    handover.guests.push_back(fd);
  }
  Knock();
}

// Over loopback a connect() is done when it returns, because the listener's kernel queue has it.
void Gatekeeper::Knock() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Loopback(server_port_);
  if (fd < 0 || connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    Log(Level::kError, "pmix", "cannot reach the own PMIx server: %s", strerror(errno));
  if (fd >= 0) close(fd);
}

}  // namespace lamina::launcher::pmix

// Takes the place of the C library's accept() in this program, for libpmix's sake. Nothing else
// here calls it: our own code uses accept4().
extern "C" __attribute__((visibility("default"))) int accept(int fd, sockaddr* address,
                                                             socklen_t* address_bytes) {
  return lamina::launcher::pmix::PmixAccept(fd, address, address_bytes);
}
