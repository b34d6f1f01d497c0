// SPDX-License-Identifier: BSD-3-Clause
// What libpmix asks of its host: each upcall is copied, handed to the event loop and answered
// there.
//
// Threads: the functions of Module() run on libpmix's thread, everything else on the loop's.
#pragma once

#include <pmix.h>
#include <pmix_server.h>

#include <cstdint>
#include <functional>
#include <string>

#include "launcher/pmix/mailbox.h"
#include "launcher/pmix/notice_board.h"

namespace lamina::launcher::pmix {

// Where upcalls arrive. One at a time per process: libpmix hands its upcalls no context.
struct Desk {
  Mailbox* mailbox = nullptr;
  NoticeBoard board;
  std::function<void(std::uint32_t rank, int code, std::string message)> abort;
  bool spawn_refused = false;    // said once
  bool connect_refused = false;  // said once
};

// Opens `desk` to upcalls; null closes it, and upcalls are then refused.
void SitAt(Desk* desk);

// The upcalls we answer; libpmix refuses the others with PMIX_ERR_NOT_SUPPORTED by itself.
const pmix_server_module_t& Module();

}  // namespace lamina::launcher::pmix
