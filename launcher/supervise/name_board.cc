// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/name_board.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <vector>

#include "runtime/base/text.h"

namespace lamina::launcher {

void NameBoard::ForgetTheDead() {
  std::erase_if(entries_, [](const auto& each) {
    pollfd ended{each.second.process.value(), POLLIN, 0};
    return poll(&ended, 1, 0) > 0;
  });
}

std::string NameBoard::Answer(std::string_view question) {
  ForgetTheDead();
  const std::vector<std::string_view> words = Split(question, ' ');
  if (words[0] == "lookup" && words.size() == 2) {
    const auto found = entries_.find(words[1]);
    return found == entries_.end() ? "none\nend\n" : "name " + found->second.port + "\nend\n";
  }
  const auto owner = words.size() > 1 ? ParseInteger(words[1]) : std::nullopt;
  if (!owner || *owner <= 0) return {};
  if (words[0] == "publish" && words.size() == 4) {
    Descriptor process(static_cast<int>(syscall(SYS_pidfd_open, *owner, 0)));
    if (process.value() < 0) return {};
    const bool is_new = entries_
                            .try_emplace(std::string(words[2]), static_cast<pid_t>(*owner),
                                         std::move(process), std::string(words[3]))
                            .second;
    return is_new ? "done\nend\n" : "exists\nend\n";
  }
  if (words[0] == "unpublish" && words.size() == 3) {
    const auto found = entries_.find(words[2]);
    if (found == entries_.end() || found->second.owner != *owner) return "none\nend\n";
    entries_.erase(found);
    return "done\nend\n";
  }
  return {};
}

}  // namespace lamina::launcher
