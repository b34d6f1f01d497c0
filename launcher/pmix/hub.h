// SPDX-License-Identifier: BSD-3-Clause
// Where the PMIx servers of a job meet: one per job, in the launcher. Knows which node has which
// rank, completes fences, passes questions on and answers, keeps the board of published names.
//
// Pure: letters in, letters out, so that tests play any number of nodes.
// Threads: one.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/plan/plan.h"
#include "launcher/pmix/letter.h"
#include "launcher/pmix/notice_board.h"
#include "runtime/base/status.h"

namespace lamina::launcher::pmix {

class Hub {
 public:
  struct Outlets {
    // To the server of that host (index into the plan's).
    std::function<void(std::uint32_t host, const std::string& letter)> send;
    std::function<void(std::uint32_t rank, int code, std::string message)> abort;
  };
  // `plan` must outlive it.
  Hub(const Plan& plan, Outlets outlets);
  // A letter from the server of `host`. kInvalid: it makes no sense; nothing was done.
  Status Receive(std::uint32_t host, std::string_view letter);

 private:
  // One fence while it is under way.
  struct Round {
    std::map<std::uint32_t, std::uint32_t> ids;  // host -> the id it expects in the answer
    std::string contributions;
  };
  struct Question {
    std::uint32_t host;
    std::uint32_t id;
  };
  Status Fence(std::uint32_t host, const Letter& letter);
  Status Modex(std::uint32_t host, const Letter& letter);
  Status Publish(std::uint32_t host, const Letter& letter);
  Status Lookup(std::uint32_t host, const Letter& letter);
  Status Unpublish(std::uint32_t host, const Letter& letter);
  Status Answer(std::uint32_t host, const Letter& letter);
  void Reply(std::uint32_t host, std::uint32_t id, bool good, std::string body);

  const Plan& plan_;
  Outlets outlets_;
  std::set<std::uint32_t> hosts_;  // that have ranks
  // By participants; several at once when some node is already in the next one.
  std::map<std::vector<std::uint32_t>, std::deque<Round>> fences_;
  std::map<std::uint32_t, Question> questions_;  // passed on, not yet answered
  std::uint32_t next_question_ = 1;
  NoticeBoard board_;
};

}  // namespace lamina::launcher::pmix
