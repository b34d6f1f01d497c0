// SPDX-License-Identifier: BSD-3-Clause
// Keeps what ranks have published under a name, for others of the job to look up. It is in the
// launcher's memory, so it ends with the job.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lamina::launcher::pmix {

// A published value. `packed` is opaque to the board.
struct Notice {
  std::uint32_t owner = 0;   // rank that published it
  std::vector<char> packed;  // the value, as the server packed it
  bool read_once = false;    // gone after the first lookup
};

class NoticeBoard {
 public:
  // Returns false, and changes nothing, if the name is taken.
  bool Publish(std::string_view name, Notice notice);
  std::optional<Notice> Lookup(std::string_view name);
  // Returns false if there is no such name or another rank published it.
  bool Unpublish(std::string_view name, std::uint32_t owner);
  void UnpublishAllOf(std::uint32_t owner);

 private:
  std::map<std::string, Notice, std::less<>> notices_;
};

}  // namespace lamina::launcher::pmix
