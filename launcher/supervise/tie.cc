// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/tie.h"

#include <event2/event.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <map>
#include <utility>

#include "launcher/control/ask.h"
#include "launcher/supervise/tuning.h"
#include "runtime/base/dynamic_words.h"
#include "runtime/base/text.h"

namespace lamina::launcher {

std::unique_ptr<Tie> Tie::Take(const Environment& environment) {
  const std::string text = environment.Get(kTieVariable).value_or("");
  const std::size_t colon = text.find(':');
  if (colon == text.npos) return nullptr;
  const auto fd = ParseInteger(std::string_view(text).substr(0, colon));
  const auto launcher = ParseInteger(std::string_view(text).substr(colon + 1));
  if (!fd || !launcher || fcntl(static_cast<int>(*fd), F_SETFD, FD_CLOEXEC) != 0) return nullptr;
  if (*launcher > 0) {
    // The launcher ends its ranks' jobs with itself, however it ends.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != *launcher) raise(SIGTERM);
  }
  return std::unique_ptr<Tie>(
      new Tie(Descriptor(static_cast<int>(*fd)), static_cast<pid_t>(*launcher)));
}

Tie::~Tie() { Unwatch(); }

bool Tie::SayWhy(std::string_view why) {
  if (met_ || gone_) return false;
  std::string line = "why " + std::string(why);
  std::replace(line.begin(), line.end(), '\n', ' ');
  line += '\n';
  return send(socket_.value(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(line.size());
}

void Tie::Watch(event_base* loop, std::function<void()> on_lost) {
  on_lost_ = std::move(on_lost);
  words_ = event_new(
      loop, socket_.value(), EV_READ | EV_PERSIST,
      [](int, short, void* self) { static_cast<Tie*>(self)->OnWords(); }, this);
  event_add(words_, nullptr);
}

void Tie::Unwatch() {
  if (words_ != nullptr) event_free(std::exchange(words_, nullptr));
}

void Tie::OnWords() {
  char piece[256];
  const ssize_t got = recv(socket_.value(), piece, sizeof piece, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got > 0) heard_.append(piece, static_cast<std::size_t>(got));
  for (std::size_t end; (end = heard_.find('\n')) != heard_.npos; heard_.erase(0, end + 1)) {
    const std::string_view word = std::string_view(heard_).substr(0, end);
    met_ = met_ || word == "met";
    parted_ = parted_ || word == "part";
  }
  if (got > 0) return;
  gone_ = true;
  event_del(words_);
  if (!parted_) on_lost_();
}

// A parent that no launcher of ours looks after is told as any process is.
void Tie::EndParent(int status) {
  OnWords();  // what has been said meanwhile counts
  if (!met_ || parted_ || gone_) return;
  if (launcher_ > 0 &&
      control::Ask({geteuid(), launcher_}, Format("linked %d", status), kTieTimeoutMs).ok())
    return;
  if (const pid_t alone = parent(); alone > 0) kill(alone, SIGTERM);
}

pid_t Tie::parent() const {
  if (launcher_ > 0) return launcher_;
  ucred alone{};
  socklen_t bytes = sizeof alone;
  return getsockopt(socket_.value(), SOL_SOCKET, SO_PEERCRED, &alone, &bytes) == 0 ? alone.pid : 0;
}

void Tie::SayPlaces(const Plan& plan) const {
  if (launcher_ <= 0) return;
  std::map<std::string_view, unsigned> ranks;
  for (const RankPlan& rank : plan.ranks) ++ranks[plan.hosts[rank.host].name];
  std::string places;
  for (const auto& [host, count] : ranks)
    places += Format(" %s %u", std::string(host).c_str(), count);
  static_cast<void>(control::Ask({geteuid(), launcher_},
                                 Format("placed %d%s", getpid(), places.c_str()), kTieTimeoutMs));
}

}  // namespace lamina::launcher
