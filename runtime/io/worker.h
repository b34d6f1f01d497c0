// SPDX-License-Identifier: BSD-3-Clause
// One thread carries out the nonblocking accesses of the process, first in, first out. It exists
// from the first of them until the last file is closed, so a program that has none never has it.
#pragma once

namespace lamina::io {

class Job {
 public:
  virtual ~Job() = default;
  // Runs on the thread: system calls and memory only, no MPI and nothing of the user's.
  virtual void Run() = 0;
  // Is called on the thread when Run has ended. The job may be gone when it returns.
  virtual void Ended() = 0;
};

// Threads: one at a time, under the library lock.
// Runs the job at once where there can be no thread.
void Submit(Job* job);
// Says that a file is opened or closed. When the last one is closed the thread ends.
void FileOpened();
void FileClosed();

}  // namespace lamina::io
