// SPDX-License-Identifier: BSD-3-Clause
// A send and a receive as one request (MPI-5.0, section 3.11).
#pragma once

#include <cstddef>
#include <memory>

#include "runtime/p2p/p2p.h"

namespace lamina::p2p {

// What an exchange moves. Either peer may be MPI_PROC_NULL.
struct Exchange {
  Envelope to;
  Buffer out;
  Envelope from;
  Buffer in;
  std::unique_ptr<std::byte[]> packed;  // holds `out` if that is a copy made for this exchange
};

// Starts both halves, the receive first. The request is active and has the status of the receive.
core::Request* StartExchange(Exchange exchange);

}  // namespace lamina::p2p
