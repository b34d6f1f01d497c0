// SPDX-License-Identifier: BSD-3-Clause
// Speaks the task manager protocol (TM) between a PBS job and its pbs_mom, as bytes. Pure: what has
// to be sent comes out, what was received goes in. The bytes are described in the README.
//
// There is one connection to 127.0.0.1:PBS_MOMPORT, which takes only peers on the same host; the
// job's cookie is the proof. Replies come in any order and are matched by event numbers.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/environment.h"
#include "runtime/base/status.h"

namespace lamina::launcher::pbs {

std::string DisInteger(std::int64_t value);  // 5 -> "+5", 15 -> "2+15"
std::string DisText(std::string_view text);  // its length, then the bytes

struct TmReply {
  enum class Kind : std::uint8_t { kInit, kSpawn, kSignal, kObit };
  Kind kind = Kind::kInit;
  std::int64_t event = 0;
  std::int64_t error = 0;           // 0: done; else 17000 and more, see ErrorText
  std::vector<std::int64_t> nodes;  // kInit: one for each line of PBS_NODEFILE
  std::int64_t value = 0;           // kSpawn: the task; kObit: exit code, or 256 + signal
};

// Returns a text like "no such node (17006)".
std::string ErrorText(std::int64_t error);

class TmSession {
 public:
  // Reads PBS_JOBID, PBS_JOBCOOKIE and PBS_TASKNUM; TORQUE is recognised by PBS_VERSION or
  // PBS_VNODENUM. kNotFound names the variable that is missing.
  static Result<TmSession> Open(const Environment& environment);

  // These return bytes to send. `event` gets the number by which the reply will be known.
  std::string Init(std::int64_t* event);
  std::string Spawn(std::int64_t node, std::span<const std::string> argv,
                    std::span<const std::string> environment, std::int64_t* event);
  std::string Signal(std::int64_t node, std::int64_t task, int signal, std::int64_t* event);
  std::string Obit(std::int64_t node, std::int64_t task, std::int64_t* event);

  // Takes what was received and appends the replies that are complete. kInvalid means that this is
  // not TM.
  Status Feed(std::string_view bytes, std::vector<TmReply>* replies);

 private:
  std::string Request(TmReply::Kind kind, std::string_view body, std::int64_t* event);

  std::string job_;
  std::string cookie_;
  std::int64_t task_ = 0;
  bool torque_ = false;
  std::int64_t next_event_ = 1;
  std::map<std::int64_t, TmReply::Kind> waiting_;
  std::string framed_;  // received, frames not yet taken off
  std::string plain_;   // received, to be read
};

}  // namespace lamina::launcher::pbs
