// SPDX-License-Identifier: BSD-3-Clause
// A command that brings a shepherd to life: ssh, an agent of the user's, srun, or the shepherd
// itself on this machine. It has a process group of its own, so that a ctrl-C is ours to deal with,
// and is told to end when we die.
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

// Where the program that runs in this process lies, which is what a shepherd on this machine runs;
// "mpiexec" where the kernel does not say.
std::string OwnProgram();

class Agent {
 public:
  // `environment`: "NAME=value", complete; null: ours. `with_pipes`: standard input and output are
  // pipes to us, otherwise nothing and our standard error.
  static Result<std::unique_ptr<Agent>> Start(const CommandLine& command,
                                              const std::vector<std::string>* environment,
                                              bool with_pipes);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Our ends of its standard input and output: read from the first, write to the second. The
  // caller's from now on.
  std::pair<int, int> TakePipes() { return {std::exchange(from_, -1), std::exchange(to_, -1)}; }
  // What it says on standard error; ours until it dies.
  int words_fd() const { return words_; }
  // Reads what it has said. False: it will say nothing more.
  bool Listen();
  // The last lines of it, on one line.
  std::string Words() const;
  const std::string& heard() const { return heard_; }
  // What it has said until now is of no interest.
  void ForgetWords();
  // Takes the whole lines that begin so out of what was heard.
  std::string TakeLines(std::string_view beginning);
  // Readable when it has ended; -1 on kernels before 5.3: look at Status() now and then.
  int end_fd() const { return pidfd_; }
  // How it ended, as a shell says it (128 + signal), or nothing while it runs.
  std::optional<int> Status();
  void Kill(int signal);
  // Waits until it has ended, at most so long.
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
};

}  // namespace lamina::launcher
