// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/name_board.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <utility>
#include <vector>

#include "runtime/base/text.h"

namespace lamina::launcher {

NameBoard::NameBoard(std::optional<NameFile> file)
    : file_(std::move(file)), owners_(file_ ? epoll_create1(EPOLL_CLOEXEC) : -1) {}

NameBoard::~NameBoard() {
  for (const auto& [name, entry] : entries_)
    if (!entry.of_run) Withdraw(name);
}

// A file that cannot be written any more keeps a name whose port is closed, which does no harm.
void NameBoard::Withdraw(const std::string& name) const {
  if (file_) static_cast<void>(file_->Unpublish(name).ok());
}

// Owners say nothing more, so a connection with something to read has ended.
void NameBoard::ForgetTheDead() {
  std::erase_if(entries_, [this](const auto& each) {
    pollfd ended{each.second.owner.value(), POLLIN, 0};
    if (poll(&ended, 1, 0) == 0) return false;
    if (!each.second.of_run) Withdraw(each.first);
    return true;
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
    ForgetTheDead();
    const auto found = entries_.find(words[1]);
    const bool is_there = found != entries_.end() && !found->second.of_run;
    const std::string port = is_there ? found->second.port : "";
    return port.empty() ? "none\nend\n" : "name " + port + "\nend\n";
  }
  const bool of_run = words.size() == 4 && words[3] == "run";
  if (words[0] == "publish" && (words.size() == 3 || of_run)) {
    if (!Find(words[1]).empty()) return "exists\nend\n";
    if (file_ && !of_run)
      if (Status status = file_->Publish(words[1], words[2]); !status.ok())
        return status.code() == Code::kExists
                   ? "exists\nend\n"
                   : "refused " + std::string(status.message()) + "\nend\n";
    Descriptor owner = keep();
    constexpr std::string_view kDone = "done\nend\n";
    if (owner.value() < 0 ||
        send(owner.value(), kDone.data(), kDone.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
      if (!of_run) Withdraw(std::string(words[1]));
      return "";
    }
    epoll_event ended{.events = EPOLLIN | EPOLLRDHUP, .data = {}};
    epoll_ctl(owners_.value(), EPOLL_CTL_ADD, owner.value(), &ended);
    entries_.try_emplace(std::string(words[1]),
                         Entry{std::move(owner), std::string(words[2]), of_run});
    return "";
  }
  if (words[0] == "unpublish" && words.size() == 2) {
    const auto found = entries_.find(words[1]);
    if (found == entries_.end()) return "none\nend\n";
    if (!found->second.of_run) Withdraw(found->first);
    entries_.erase(found);
    return "done\nend\n";
  }
  return std::nullopt;
}

}  // namespace lamina::launcher
