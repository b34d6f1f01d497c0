// SPDX-License-Identifier: BSD-3-Clause
// An Agent is a command that brings a shepherd to life: ssh, an agent of the user's, srun, or the
// shepherd itself on this machine. It has a process group of its own, so that a ctrl-C is ours to
// deal with, and the kernel ends it when we die.
//
// Ownership: the process; the destructor kills its group and waits for it.
// Threads:   the event loop's.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launcher/spawn/spawner.h"
#include "runtime/base/status.h"

namespace lamina::launcher {

// Returns the path of the program that runs in this process, which is what a shepherd on this
// machine runs; "mpiexec" if the kernel does not tell it.
std::string OwnProgram();

class Agent {
 public:
  // `environment` is complete, as "NAME=value"; null stands for ours. With `with_pipes` standard
  // input and output are pipes to us; otherwise input is empty and output goes to our standard
  // error.
  static Result<std::unique_ptr<Agent>> Start(const CommandLine& command,
                                              const std::vector<std::string>* environment,
                                              bool with_pipes);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Hands our ends of its standard input and output to the caller, who reads from the first and
  // writes to the second.
  std::pair<int, int> TakePipes() { return {std::exchange(from_, -1), std::exchange(to_, -1)}; }
  // The descriptor of what it says on standard error; it stays ours.
  int words_fd() const { return words_; }
  // Reads what it has said. False: it will say nothing more.
  bool Listen();
  // Returns the last lines of that on one line, without the usage text of a command.
  std::string Words() const;
  const std::string& heard() const { return heard_; }
  // Forgets what it has said until now.
  void ForgetWords();
  // Takes the whole lines that begin with `beginning` out of what was heard.
  std::string TakeLines(std::string_view beginning);
  // A descriptor that is readable when it has ended. Old kernels have none (-1), and Status() has
  // to be looked at now and then.
  int end_fd() const { return pidfd_; }
  // Returns how it ended, as a shell says it (128 + signal), or nothing while it runs.
  std::optional<int> Status();
  // Returns the signal that killed it, if the kernel says that one did. A status above 128 may be
  // its own: ssh returns 255.
  std::optional<int> KilledBy() const { return killed_by_; }
  void Kill(int signal);
  // Waits for at most `ms` until it has ended, and returns whether it has.
  bool Await(int ms);

 private:
  Agent() = default;

  pid_t process_ = -1;
  int pidfd_ = -1;
  int from_ = -1;
  int to_ = -1;
  int words_ = -1;
  std::string heard_;
  std::optional<int> status_;
  std::optional<int> killed_by_;
};

}  // namespace lamina::launcher
