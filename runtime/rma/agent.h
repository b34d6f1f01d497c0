// SPDX-License-Identifier: BSD-3-Clause
// One thread serves other processes while the application computes, because passive targets need
// not call MPI (MPI-5.0, section 12.7.3).
//
// It exists while the process has a window that others may lock and reach by messages, so a program
// without such windows never has it. It looks every few milliseconds whether the application has
// called MPI meanwhile. If not, it progresses, and sleeps on the transports' bells, until the
// application calls again. Meanwhile the library lock is taken by every call, as at
// MPI_THREAD_MULTIPLE.
#pragma once

namespace lamina::rma {

// Threads: one at a time, under the library lock if there is one by then.

// Such a window is made or freed by the call that is under way.
void ServeWindow();
void ForgetWindow();

// The call that makes the first such window began without the lock. One of these, made before its
// Entry, keeps the thread out until the call has ended.
struct AfterCreation {
  AfterCreation() = default;
  ~AfterCreation();
  AfterCreation(const AfterCreation&) = delete;
  AfterCreation& operator=(const AfterCreation&) = delete;
};

// MPI is about to be taken down, whatever windows are left.
void StopServing();

}  // namespace lamina::rma
