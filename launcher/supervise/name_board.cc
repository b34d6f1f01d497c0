// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/name_board.h"

#include <poll.h>
#include <sys/socket.h>

#include <vector>

#include "runtime/base/text.h"

namespace lamina::launcher {

// Owners say nothing more, so a connection with something to read has ended.
void NameBoard::ForgetTheDead() {
  std::erase_if(entries_, [](const auto& each) {
    pollfd ended{each.second.owner.value(), POLLIN, 0};
    return poll(&ended, 1, 0) > 0;
  });
}

std::string NameBoard::Find(std::string_view name) {
  ForgetTheDead();
  const auto found = entries_.find(name);
  return found == entries_.end() ? "" : found->second.port;
}

std::optional<std::string> NameBoard::Answer(std::string_view question,
                                             const std::function<Descriptor()>& keep) {
  const std::vector<std::string_view> words = Split(question, ' ');
  if (words[0] == "lookup" && words.size() == 2) {
    const std::string port = Find(words[1]);
    return port.empty() ? "none\nend\n" : "name " + port + "\nend\n";
  }
  if (words[0] == "publish" && words.size() == 3) {
    if (!Find(words[1]).empty()) return "exists\nend\n";
    Descriptor owner = keep();
    constexpr std::string_view kDone = "done\nend\n";
    if (owner.value() < 0 ||
        send(owner.value(), kDone.data(), kDone.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
      return "";
    entries_.try_emplace(std::string(words[1]), Entry{std::move(owner), std::string(words[2])});
    return "";
  }
  if (words[0] == "unpublish" && words.size() == 2) {
    const auto found = entries_.find(words[1]);
    if (found == entries_.end()) return "none\nend\n";
    entries_.erase(found);
    return "done\nend\n";
  }
  return std::nullopt;
}

}  // namespace lamina::launcher
