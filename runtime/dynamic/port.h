// SPDX-License-Identifier: BSD-3-Clause
// A port is where processes that share nothing yet meet: a listening socket whose name holds its
// addresses and a secret. It belongs to the process that opened it.
//
// Guests who do not prove that they know the secret learn nothing, and are shown out after a while;
// they keep nobody waiting. A guest who does waits until somebody accepts.
//
// Threads: the caller holds the library lock at MPI_THREAD_MULTIPLE.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/descriptor.h"
#include "runtime/base/seal.h"
#include "runtime/base/status.h"
#include "runtime/dynamic/port_name.h"
#include "runtime/dynamic/stream.h"

namespace lamina::dynamic {

// Numbers of TCP ports; any, if both are 0.
struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
};
// Reads dynamic.port.range; "" stands for any.
Result<PortRange> ReadPortRange(const std::string& text);

class Port {
 public:
  // `listen` is "loopback", "all" or the address of a network, of IPv4 or IPv6.
  static Result<std::unique_ptr<Port>> Open(const std::string& listen, PortRange ports);
  const std::string& name() const { return name_; }

  // Waits for a guest. kAgain: `watched`, a descriptor (-1: none), has become readable before.
  // kNotFound: the port was closed meanwhile.
  Result<Stream> Accept(std::uint64_t until_ms, int watched);
  // Shows everybody out. Whoever waits in Accept() finds that out.
  void Close();

 private:
  struct Guest {
    Descriptor socket;
    std::string greeting;
    std::string answer;
    std::uint64_t until_ms;
  };
  explicit Port(const Key& secret) : secret_(secret) {}
  void Admit();
  // True if one more guest may come in, for whom another one may have to go.
  bool HasRoom();
  // Reads what a guest says. False: it has gone, or cannot prove anything.
  bool Hear(Guest* guest) const;
  static bool IsProven(const Guest& guest) { return guest.answer.size() == kAnswerBytes; }

  std::vector<Descriptor> sockets_;  // none: the port is closed
  const Key secret_;
  std::string name_;
  std::vector<Guest> guests_;
};

// Knocks at that port and waits until somebody accepts. kPeerLost: nobody listens there, or the
// port was closed. kTimeout: nobody has accepted.
Result<Stream> KnockAt(const PortName& port, std::uint64_t until_ms);

// The ports that the application has opened. FindPort returns null for any other name.
Result<std::string> OpenPort(const std::string& listen, PortRange ports);
std::shared_ptr<Port> FindPort(std::string_view name);
bool ClosePort(std::string_view name);
void CloseAllPorts();

}  // namespace lamina::dynamic
