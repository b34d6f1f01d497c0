// SPDX-License-Identifier: BSD-3-Clause
// How long each stage of a job may take, and who is told when the time is up.
//
// Threads: the event loop's.
#pragma once

#include <cstdint>
#include <functional>

#include "launcher/supervise/params.h"
#include "launcher/supervise/timer.h"

namespace lamina::launcher {

class Limits {
 public:
  struct Moments {
    std::function<void()> timed_out;   // the job has run for as long as the user allowed
    std::function<void()> hint;        // the ranks have not followed a ctrl-C yet
    std::function<void()> grace_over;  // the ranks have not followed SIGTERM
    std::function<void()> drain;       // comes again and again once all ranks have ended
  };
  // `timeout_ms`: for the whole job, from now on; 0: for ever.
  Limits(event_base* loop, const SuperviseParams& params, std::uint64_t timeout_ms,
         Moments moments);

  // The user pressed ctrl-C for the first time.
  void Interrupted();
  // The ranks were passed a signal that should end them.
  void ToldToEnd();
  // Do the ranks still have time to follow the last such signal?
  bool StillEnding() const;
  // The ranks have to end within the grace time.
  void EndingBegins();
  // All ranks have ended, and only their output is waited for.
  void DrainingBegins();

 private:
  const SuperviseParams params_;
  Timer timeout_;
  Timer hint_;
  Timer grace_;
  Timer drain_;
  std::uint64_t told_to_end_ms_ = 0;  // 0: never
};

}  // namespace lamina::launcher
