// SPDX-License-Identifier: BSD-3-Clause
// Where the PMIx servers of a job meet: in the launcher, and on the way there in every shepherd.
// Knows behind which edge each host lies, completes fences, passes questions on and answers, keeps
// the board of published names (at the top).
//
// A fence gathers on its way up: each hub waits for all edges that have participants, and sends one
// letter further up, or answers where nobody outside takes part. What a hub cannot answer goes up.
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
  // A server or another hub: of the caller's choice, but for kUp.
  using Edge = std::uint32_t;
  static constexpr Edge kUp = 0xffffffff;  // towards the launcher

  struct Outlets {
    std::function<void(Edge edge, const std::string& letter)> send;
    // At the top alone.
    std::function<void(std::uint32_t rank, int code, std::string message)> abort;
  };
  // `edges`: by host of the plan, which must outlive the hub. `top`: nothing is further up.
  Hub(const Plan& plan, std::vector<Edge> edges, bool top, Outlets outlets);
  // From now on `host` lies behind another edge.
  void Move(std::uint32_t host, Edge edge);
  // A letter that came over `edge`. kInvalid: it makes no sense; nothing was done.
  Status Receive(Edge edge, std::string_view letter);

 private:
  // One fence while it is under way.
  struct Round {
    std::map<Edge, std::uint32_t> ids;  // edge -> the id it expects in the answer
    std::string contributions;
  };
  using Participants = std::vector<std::uint32_t>;  // ranks, ascending; none: all of the job
  // What waits for an answer: who has to be told, each under which id.
  using Askers = std::map<Edge, std::uint32_t>;

  Status Fence(Edge edge, const Letter& letter);
  bool CompleteRound(const Participants& participants);
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
  // By participants; several at once when some edge is already in the next one.
  std::map<Participants, std::deque<Round>> fences_;
  std::map<std::uint32_t, Askers> questions_;  // passed on, not yet answered
  std::uint32_t next_question_ = 1;
  NoticeBoard board_;
};

}  // namespace lamina::launcher::pmix
