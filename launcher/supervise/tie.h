// SPDX-License-Identifier: BSD-3-Clause
// What ties this launcher to the process that has started it for MPI_Comm_spawn; the words that
// pass are in runtime/base/dynamic_words.h.
//
// Threads: the event loop's.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "launcher/plan/plan.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/environment.h"

struct event;
struct event_base;

namespace lamina::launcher {

class Tie {
 public:
  // Returns null if this launcher was started by a person or a script.
  static std::unique_ptr<Tie> Take(const Environment& environment);
  ~Tie();
  Tie(const Tie&) = delete;
  Tie& operator=(const Tie&) = delete;

  // Tells the parent why ranks cannot run, in place of standard error. False: the children have met
  // it already, or it has gone, so the words are for people.
  bool SayWhy(std::string_view why);
  // `on_lost` is called if the parent dies while the jobs share a fate, if its job fails after it
  // has finalized, or if nobody looks after it and it has ended a while ago, which `why` says then.
  void Watch(event_base* loop, std::function<void(const std::string& why)> on_lost);
  void Unwatch();
  // The job has failed. A parent that shares its fate ends too, with `status`.
  void EndParent(int status);
  // The job has ended with `status`, and none of its ranks before MPI_Finalize. A parent that
  // shares its fate goes on, and its launcher returns that status if it has no other.
  void TellParent(int status);
  // True while the parent waits for the ranks to meet it.
  bool IsUnmet();
  // True if the launcher that has started this one is gone.
  bool HasLostLauncher() const;
  // Returns the launcher that looks after the parent; 0 if nobody does.
  pid_t launcher() const { return launcher_; }
  // Returns the launcher that looks after the parent, or the parent itself if nobody does.
  pid_t parent() const;
  // Tells the parent how many ranks its programs have, and the launcher that looks after it where
  // they run.
  void SayPlaces(const Plan& plan) const;

 private:
  Tie(Descriptor socket, pid_t launcher) : socket_(std::move(socket)), launcher_(launcher) {}
  pid_t other_end() const;
  bool SharesFate();
  void Tell(const char* word, int status) const;
  void OnWords();
  void OnGone();
  void AwaitFailure();
  void OnFailure();
  void BeForsaken();

  Descriptor socket_;
  const pid_t launcher_;  // of the parent; 0: none
  event_base* loop_ = nullptr;
  event* words_ = nullptr;
  // A process that the parent has started may hold the parent's end of the socket.
  Descriptor process_;
  event* process_gone_ = nullptr;
  event* limit_ = nullptr;  // where no launcher looks after the parent
  // Where one does, it says at this socket whether the parent's job has failed.
  Descriptor above_;
  event* failure_ = nullptr;
  std::function<void(const std::string& why)> on_lost_;
  std::string heard_;
  bool met_ = false;
  bool parted_ = false;
  bool finalized_ = false;
  bool gone_ = false;
};

}  // namespace lamina::launcher
