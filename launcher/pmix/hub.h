// SPDX-License-Identifier: BSD-3-Clause
// A Hub is where the PMIx servers of a job meet: in the launcher, and on the way there in every
// shepherd. It knows behind which edge each host lies, completes fences, passes questions and
// answers on, and at the top keeps the board of published names.
//
// A fence gathers on its way up: each hub waits for all edges that have participants, and sends one
// letter further up, or answers where nobody outside takes part. What a hub cannot answer goes up.
//
// Pure: letters go in and come out, so that tests play any number of nodes. Threads: one.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
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
  // An edge leads to a server or another hub. The caller chooses its number, but for kUp.
  using Edge = std::uint32_t;
  static constexpr Edge kUp = 0xffffffff;  // towards the launcher

  struct Outlets {
    std::function<void(Edge edge, const std::string& letter)> send;
    // This is called at the top alone.
    std::function<void(std::uint32_t rank, int code, std::string message)> abort;
  };
  // `edges` has one for each host of the plan, which must outlive the hub. With `top` nothing is
  // further up.
  Hub(const Plan& plan, std::vector<Edge> edges, bool top, Outlets outlets);
  // From now on `host` lies behind another edge.
  void Move(std::uint32_t host, Edge edge);
  // Returns what has been waited for longest, counted from the first look at it; nothing if nobody
  // waits.
  struct Wait {
    std::uint64_t ms = 0;
    std::string words;  // "a fence (MPI_Init) waits for ranks on node07 and node09"
  };
  std::optional<Wait> LongestWait(std::uint64_t now_ms);
  // Takes a letter that came over `edge`. kInvalid means that it makes no sense and nothing was
  // done.
  Status Receive(Edge edge, std::string_view letter);

 private:
  // A Round is one fence while it is under way.
  struct Round {
    std::map<Edge, std::uint32_t> ids;  // edge -> the id it expects in the answer
    std::string contributions;
    std::uint64_t since_ms = 0;  // of the first look
  };
  using Participants = std::vector<std::uint32_t>;  // ranks, ascending; none: all of the job
  // These have to be told an answer, each under its own id.
  using Askers = std::map<Edge, std::uint32_t>;
  struct Question {
    Askers askers;
    Subject subject;
    std::uint32_t rank;  // kModex: whose card is wanted
    std::uint64_t since_ms = 0;
  };

  Status Fence(Edge edge, const Letter& letter);
  bool CompleteRound(const Participants& participants);
  std::string MissingIn(const Participants& participants, const Round& round) const;
  std::set<Edge> EdgesOf(const Participants& participants) const;
  Status Modex(Edge edge, const Letter& letter);
  Status Publish(Edge edge, const Letter& letter);
  Status Lookup(Edge edge, const Letter& letter);
  Status Unpublish(Edge edge, const Letter& letter);
  Status Answer(const Letter& letter);
  void Ask(Edge edge, Askers askers, Letter letter);
  void Reply(const Askers& askers, bool good, const std::string& body);

  const Plan& plan_;
  std::vector<Edge> edges_;  // by host
  const bool top_;
  Outlets outlets_;
  // The fences by participants. There are several at once if some edge is already in the next one.
  std::map<Participants, std::deque<Round>> fences_;
  std::map<std::uint32_t, Question> questions_;  // passed on, not yet answered
  std::uint32_t next_question_ = 1;
  NoticeBoard board_;
};

}  // namespace lamina::launcher::pmix
