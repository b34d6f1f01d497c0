// SPDX-License-Identifier: BSD-3-Clause
// What a request does that is more than one message: a pair of them, a communicator in the making,
// a partitioned transfer, a persistent collective, an operation of the application's own.
//
//   Start ──> watched requests end ──> Advance ──> ... ──> Finish(owner)
//
// A request with an activity is waited for, tested, cancelled and freed like any other; the
// virtual functions below are where it differs.
//
// Ownership: the request that points to it as `activity`; deleted with that request.
// Threads:   the caller holds the library lock at MPI_THREAD_MULTIPLE.
#pragma once

#include <mpi.h>

namespace lamina::core {

struct Request;
struct Activity;

// `activity` is advanced by the next round of progress.
void Notify(Activity* activity);
// Advances what was notified. True if there was any. Part of p2p::Progress.
bool AdvanceNotified();
// Null: there is nothing to advance.
extern Activity* first_notified;

struct Activity {
  Activity() = default;
  virtual ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

  // Of a persistent request (MPI_Start). `owner` is active and not complete when this is called.
  // An error class other than MPI_SUCCESS leaves it inactive.
  virtual int Start(Request* owner);
  // A request whose `watcher` this is has ended, or Notify was called: once for any number of
  // either. Called by AdvanceNotified, never from within Finish, so it may start messages and
  // finish requests.
  virtual void Advance() {}
  // MPI_Cancel. What cannot be withdrawn completes normally. Returns an error class.
  virtual int Cancel(Request* owner);
  // A wait or test takes the completed request from the user, or looks at it: the last word on the
  // status, which has been filled from the request and may be MPI_STATUS_IGNORE. Returns the
  // request's error class, or another one.
  virtual int Complete(const Request& owner, MPI_Status* status);
  // The completed request is about to be freed. `error` is what Complete returned; the answer is
  // what the call that frees it returns. Not called for an orphan: the destructor follows alone.
  virtual int Free(int error) { return error; }
  // While it is active, its request may be neither freed nor cancelled.
  virtual bool MustComplete() const { return false; }

 private:
  friend void Notify(Activity*);
  friend bool AdvanceNotified();
  Activity* next_notified_ = nullptr;
  bool notified_ = false;
};

}  // namespace lamina::core
