// SPDX-License-Identifier: BSD-3-Clause
// The names that processes of this job have published. A name ends with the connection over which
// it was published, and so with its process, wherever that runs. With a file (--name-server) the
// names stand there too, for jobs whose launchers are on other machines.
//
// Threads: the event loop's.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/base/descriptor.h"
#include "runtime/base/name_file.h"

namespace lamina::launcher {

class NameBoard {
 public:
  explicit NameBoard(std::optional<NameFile> file);
  ~NameBoard();
  NameBoard(const NameBoard&) = delete;
  NameBoard& operator=(const NameBoard&) = delete;

  // Readable when an owner has gone; ForgetTheDead() is to be called then. -1: nobody need call it.
  int fd() const { return owners_.value(); }
  void ForgetTheDead();
  // Answers "publish NAME PORT", the same with "run" behind it for a name that other runs are not
  // to find, "unpublish NAME" and "lookup NAME", which another run asks, in lines. Names and ports
  // are words without blanks. `keep` takes the asker's connection over, who is told then, and the
  // answer is empty. Returns nothing for any other question.
  std::optional<std::string> Answer(std::string_view question,
                                    const std::function<Descriptor()>& keep);
  // Returns the port of that name as this run sees it; empty if there is none.
  std::string Find(std::string_view name);

 private:
  struct Entry {
    Descriptor owner;
    std::string port;
    bool of_run = false;
  };
  void Withdraw(const std::string& name) const;

  const std::optional<NameFile> file_;
  const Descriptor owners_;  // an epoll set of those whose names stand in the file
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace lamina::launcher
