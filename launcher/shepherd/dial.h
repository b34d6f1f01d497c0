// SPDX-License-Identifier: BSD-3-Clause
// A shepherd finds its launcher on its standard input and output, or calls where its environment
// says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/environment.h"
#include "runtime/base/seal.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

// Says where the launcher may be reached: "address:port,address:port".
inline constexpr std::string_view kCallVariable = "LAMINA_SHEPHERD_CALL";
// Holds the secret as hexadecimal digits.
inline constexpr std::string_view kSecretVariable = "LAMINA_SHEPHERD_SECRET";
inline constexpr std::string_view kHostVariable = "LAMINA_SHEPHERD_HOST";

struct Line {
  int in = -1;
  int out = -1;
  Key secret{};  // zero over pipes, which are private already
};

// Opens the shepherd's side. If the stream is over pipes, descriptors 0 and 1 get something
// harmless in their place.
Result<Line> OpenLine(const Environment& environment);
// Waits for the launcher's mark and returns the nonce after it.
Result<std::string> ReadOpening(int fd, int timeout_ms);
// Returns what goes into wire::Hello::hint.
std::string HostHint(const Environment& environment);

// The launcher's side is a socket that listens on every interface, with what to tell shepherds.
struct Exchange {
  int fd = -1;
  std::string addresses;  // for kCallVariable
};
// Opens it on the first port of `ports` that is free: "40000-40100" is a range, "40000" one port,
// and "" means any.
Result<Exchange> OpenExchange(std::string_view ports);

}  // namespace lamina::launcher
