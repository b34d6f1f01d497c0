// SPDX-License-Identifier: BSD-3-Clause
// An endpoint of a profiled process, which counts the messages that leave by it and hands
// everything on. A process that is not profiled has none, so counting costs it nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "runtime/base/ids.h"
#include "transports/transport.h"

namespace lamina::p2p {

// True for messages that the library sends for collectives and of its own.
constexpr bool IsOwn(ContextId context) {
  const std::uint64_t plane = Index(context) % kPlanes;
  return plane == 1 || plane == 2;
}

std::unique_ptr<transport::Endpoint> Counted(std::unique_ptr<transport::Endpoint> endpoint,
                                             PeerId peer, std::string_view carrier);

}  // namespace lamina::p2p
