// SPDX-License-Identifier: BSD-3-Clause
// How a shepherd finds its launcher: on its standard input and output, or by calling where its
// environment says.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/wire/seal.h"
#include "runtime/base/environment.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

// "address:port,address:port": where the launcher may be reached.
inline constexpr std::string_view kCallVariable = "LAMINA_SHEPHERD_CALL";
// 32 hexadecimal digits.
inline constexpr std::string_view kSecretVariable = "LAMINA_SHEPHERD_SECRET";
inline constexpr std::string_view kHostVariable = "LAMINA_SHEPHERD_HOST";

struct Line {
  int in = -1;
  int out = -1;
  wire::Key secret{};  // zero over pipes, which are private already
};

// The shepherd's side. Over pipes, 0 and 1 are given something harmless in their place.
Result<Line> OpenLine(const Environment& environment);
// Waits for the launcher's mark and returns the nonce after it.
Result<std::string> ReadOpening(int fd, int timeout_ms);
// wire::Hello::hint.
std::string HostHint(const Environment& environment);

// The launcher's side: a socket that listens on every interface, and what to tell shepherds.
struct Exchange {
  int fd = -1;
  std::string addresses;  // for kCallVariable
};
// `ports`: "40000-40100", the first of them that is free; "40000", that one; "", any.
Result<Exchange> OpenExchange(std::string_view ports);

std::string HexOf(std::string_view bytes);

}  // namespace lamina::launcher
