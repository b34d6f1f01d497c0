// SPDX-License-Identifier: BSD-3-Clause
// The names that processes of this job have published. A name ends with its process.
//
// Threads: the event loop's.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/base/descriptor.h"

namespace lamina::launcher {

class NameBoard {
 public:
  // Answers "publish PROCESS NAME PORT", "unpublish PROCESS NAME" and "lookup NAME" in lines, where
  // names and ports are words without blanks. Any other question gets no answer.
  std::string Answer(std::string_view question);

 private:
  struct Entry {
    Entry(pid_t of, Descriptor its_process, std::string its_port)
        : owner(of), process(std::move(its_process)), port(std::move(its_port)) {}
    pid_t owner;
    Descriptor process;  // a pidfd
    std::string port;
  };
  void ForgetTheDead();

  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace lamina::launcher
