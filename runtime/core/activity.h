// SPDX-License-Identifier: BSD-3-Clause
// An activity is what a request does that is more than one message: a pair of messages, a
// communicator in the making, a partitioned transfer, a persistent collective, or an operation of
// the application's own.
//
//   Start ──> watched requests end ──> Advance ──> ... ──> Finish(owner)
//
// A request with an activity is waited for, tested, cancelled and freed like any other; the virtual
// functions below are where it differs.
//
// Ownership: The request that points to it as `activity` owns it and deletes it at its own end.
// Threads:   The caller holds the library lock at MPI_THREAD_MULTIPLE.
#pragma once

#include <mpi.h>

#include <atomic>
#include <string>

namespace lamina::core {

struct Request;
struct Activity;

// Asks that the next round of progress advances `activity`.
void Notify(Activity* activity);
// Advances what was notified, and returns whether there was any. This is part of p2p::Progress.
bool AdvanceNotified();
// This is null when there is nothing to advance.
extern Activity* first_notified;

// Does what Notify does, and any thread may call it, without the library lock, but only once until
// the activity has been advanced. A caller that sleeps in a wait looks at such notices once a
// millisecond while one is to come.
void NotifyFromAnyThread(Activity* activity);
extern std::atomic<Activity*> first_notified_elsewhere;
// This counts the notices of other threads that are to come. The library lock guards it.
extern int notices_to_come;

inline bool IsAnyNotified() {
  return first_notified != nullptr ||
         first_notified_elsewhere.load(std::memory_order_relaxed) != nullptr;
}

struct Activity {
  Activity() = default;
  virtual ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

  // Starts a persistent request (MPI_Start). `owner` is active and not complete when this is
  // called. An error class other than MPI_SUCCESS leaves it inactive.
  virtual int Start(Request* owner);
  // Says that requests whose `watcher` this is have ended, or that Notify was called: one call for
  // any number of either. AdvanceNotified calls it, never Finish, so it may start messages and
  // finish requests.
  virtual void Advance() {}
  // Carries out MPI_Cancel and returns an error class. What cannot be withdrawn completes normally.
  virtual int Cancel(Request* owner);
  // Has the last word on the status, when a wait or test takes the completed request from the user
  // or looks at it. The status has been filled from the request and may be MPI_STATUS_IGNORE.
  // Returns the request's error class, or another one.
  virtual int Complete(const Request& owner, MPI_Status* status);
  // Comes before the completed request is freed. `error` is what Complete returned; the answer is
  // what the call that frees it returns. It is not called for an orphan, where only the destructor
  // follows.
  virtual int Free(int error) { return error; }
  // Says in words why the request failed; empty if the error class says it all.
  virtual std::string Explain() const { return {}; }
  // True if the request may be neither freed nor cancelled while it is active.
  virtual bool MustComplete() const { return false; }

 private:
  friend void Notify(Activity*);
  friend void NotifyFromAnyThread(Activity*);
  friend bool AdvanceNotified();
  friend void TakeNotices();
  Activity* next_notified_ = nullptr;
  Activity* next_elsewhere_ = nullptr;
  bool notified_ = false;
};

}  // namespace lamina::core
