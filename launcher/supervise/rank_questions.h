// SPDX-License-Identifier: BSD-3-Clause
// Answers what ranks ask their launcher, and what the launchers of jobs that they have spawned tell
// it: jobs to be spawned, published names, the hosts of the run, and failures of one job that are
// those of another. launcher/control/README.md lists the questions.
//
// Threads: the event loop's.
#pragma once

#include <sys/types.h>

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "launcher/control/question_socket.h"
#include "launcher/supervise/further.h"
#include "launcher/supervise/name_board.h"
#include "launcher/supervise/passing_up.h"
#include "launcher/supervise/run_hosts.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/param.h"

struct event;
struct event_base;

namespace lamina::launcher {

class RankQuestions {
 public:
  using Reply = control::QuestionSocket::Reply;
  using Keep = control::QuestionSocket::Keep;
  struct Outlets {
    // A job that was spawned has failed with that status, and this one shares its fate.
    std::function<void(int status)> linked;
    // The same, after its ranks had finalized, so this one goes on.
    std::function<void(int status)> linked_late;
    // A job that was spawned ends, because a rank of this one has failed.
    std::function<void()> abandoned;
    // Returns whether a rank of this job has failed.
    std::function<bool()> has_failed;
  };
  // `launcher_above` is that of the job which has spawned this one; 0: none. All that is referred
  // to must outlive it.
  RankQuestions(event_base* loop, Further& further, RunHosts& hosts, pid_t launcher_above,
                const param::Settings& settings, Outlets outlets);
  ~RankQuestions();
  RankQuestions(const RankQuestions&) = delete;
  RankQuestions& operator=(const RankQuestions&) = delete;

  // False: it is no such question.
  bool Answer(std::string_view question, const Reply& reply, const Keep& keep);
  // A rank of this job has failed.
  void TellForsaken();

 private:
  void StartFurther(std::span<const std::string_view> words, Descriptor tie);

  Further& further_;
  RunHosts& hosts_;
  const pid_t launcher_above_;
  const param::Settings& settings_;
  const Outlets outlets_;
  NameBoard names_;
  PassingUp passing_up_;
  event* owner_gone_ = nullptr;       // null: the names stand in no file
  std::vector<Descriptor> forsaken_;  // lead to launchers of jobs whose parent has finalized
};

}  // namespace lamina::launcher
