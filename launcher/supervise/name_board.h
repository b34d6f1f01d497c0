// SPDX-License-Identifier: BSD-3-Clause
// The names that processes of this job have published. A name ends with the connection over which
// it was published, and so with its process, wherever that runs.
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

namespace lamina::launcher {

class NameBoard {
 public:
  // Answers "publish NAME PORT", "unpublish NAME" and "lookup NAME" in lines, where names and ports
  // are words without blanks. `keep` takes the asker's connection over, who is told then, and the
  // answer is empty. Returns nothing for any other question.
  std::optional<std::string> Answer(std::string_view question,
                                    const std::function<Descriptor()>& keep);
  // Returns the port of that name; empty if there is none.
  std::string Find(std::string_view name);

 private:
  struct Entry {
    Descriptor owner;
    std::string port;
  };
  void ForgetTheDead();

  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace lamina::launcher
