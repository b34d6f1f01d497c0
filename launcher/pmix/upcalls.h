// SPDX-License-Identifier: BSD-3-Clause
// Takes what libpmix asks of its host: each upcall is copied, handed to the event loop and answered
// there.
//
// Threads: the functions of Module() run on libpmix's thread, everything else on the loop's.
#pragma once

#include <pmix.h>
#include <pmix_server.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "launcher/pmix/letter.h"
#include "launcher/pmix/mailbox.h"

namespace lamina::launcher::pmix {

// A Desk is where upcalls arrive. A process has one at a time, because libpmix hands its upcalls no
// context.
struct Desk {
  Mailbox* mailbox = nullptr;
  // Sends a letter to the job's hub (hub.h); what comes back is for Receive().
  std::function<void(const std::string& letter)> send;
  std::map<std::uint32_t, std::function<void(const Letter& answer)>> questions;  // to the hub
  std::uint32_t next_question = 1;
  bool spawn_refused = false;    // said once
  bool connect_refused = false;  // said once
};

// Takes a letter from the hub: an answer, or a question about a rank of this node in namespace
// `job`.
void Receive(Desk* desk, const std::string& job, const Letter& letter);

// Opens `desk` to upcalls; null closes it, and upcalls are then refused.
void SitAt(Desk* desk);

// Returns the upcalls we answer; libpmix refuses the others by itself.
const pmix_server_module_t& Module();

}  // namespace lamina::launcher::pmix
