// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/tie.h"

#include <event2/event.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <map>
#include <utility>

#include "launcher/control/ask.h"
#include "launcher/supervise/passing_up.h"
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
  if (words_ != nullptr && !gone_) OnWords();  // what has been said meanwhile counts
  if (met_ || gone_) return false;
  std::string line = "why " + std::string(why);
  std::replace(line.begin(), line.end(), '\n', ' ');
  line += '\n';
  return send(socket_.value(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(line.size());
}

void Tie::Watch(event_base* loop, std::function<void(const std::string& why)> on_lost) {
  on_lost_ = std::move(on_lost);
  words_ = event_new(
      loop, socket_.value(), EV_READ | EV_PERSIST,
      [](int, short, void* self) { static_cast<Tie*>(self)->OnWords(); }, this);
  event_add(words_, nullptr);
  if (launcher_ <= 0)
    limit_ = event_new(
        loop, -1, 0,
        [](int, short, void* self) {
          static_cast<Tie*>(self)->on_lost_(
              Format("the process that has spawned this job ended %lld s ago",
                     static_cast<long long>(kOrphanLimit.tv_sec)));
        },
        this);
  process_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, other_end(), 0)));
  loop_ = loop;
  if (process_.value() < 0) return;  // the socket tells
  process_gone_ = event_new(
      loop, process_.value(), EV_READ,
      [](int, short, void* self) {
        auto* const tie = static_cast<Tie*>(self);
        tie->OnWords();
        if (!tie->gone_) tie->OnGone();
      },
      this);
  event_add(process_gone_, nullptr);
}

void Tie::Unwatch() {
  for (event** each : {&words_, &process_gone_, &limit_, &failure_})
    if (*each != nullptr) event_free(std::exchange(*each, nullptr));
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
    finalized_ = finalized_ || word == "finalized";
  }
  if (got <= 0 && !gone_) OnGone();
}

// The children of a process that has finalized are to finalize as well. Its launcher waits for them
// as long as the user likes, unless others of its job fail; where there is none, nobody would end
// them.
void Tie::OnGone() {
  gone_ = true;
  event_del(words_);
  if (parted_) return;
  if (launcher_ > 0) return finalized_ ? AwaitFailure() : BeForsaken();
  if (!finalized_)
    return on_lost_("the process that has spawned this job has ended without MPI_Finalize");
  if (limit_ != nullptr) event_add(limit_, &kOrphanLimit);
}

void Tie::AwaitFailure() {
  constexpr std::string_view kQuestion = "forsaken\n";
  above_ = PassingUp::Reach(launcher_);
  if (above_.value() < 0 ||
      send(above_.value(), kQuestion.data(), kQuestion.size(), MSG_NOSIGNAL) < 0)
    return;
  failure_ = event_new(
      loop_, above_.value(), EV_READ,
      [](int, short, void* self) { static_cast<Tie*>(self)->OnFailure(); }, this);
  event_add(failure_, nullptr);
}

// A launcher that goes without a word ends this one in another way.
void Tie::OnFailure() {
  char word;
  if (recv(above_.value(), &word, 1, MSG_DONTWAIT) > 0) BeForsaken();
}

// The launcher above says why, and knows more about the parent.
void Tie::BeForsaken() {
  static_cast<void>(control::Ask({geteuid(), launcher_}, "abandoned", kLinkedTimeoutMs).ok());
  on_lost_("");
}

// A parent that no launcher of ours looks after is told as any process is.
void Tie::EndParent(int status) {
  if (!SharesFate()) return;
  if (launcher_ > 0) return Tell("linked", status);
  if (finalized_) return;
  if (const pid_t alone = parent(); alone > 0) kill(alone, SIGTERM);
}

void Tie::TellParent(int status) {
  if (SharesFate() && launcher_ > 0) Tell("linked_late", status);
}

bool Tie::SharesFate() {
  OnWords();  // what has been said meanwhile counts
  return met_ && !parted_ && (!gone_ || finalized_);
}

void Tie::Tell(const char* word, int status) const {
  static_cast<void>(
      control::Ask({geteuid(), launcher_}, Format("%s %d", word, status), kLinkedTimeoutMs).ok());
}

bool Tie::IsUnmet() {
  if (!gone_) OnWords();  // what has been said meanwhile counts
  return !met_ && !gone_;
}

bool Tie::HasLostLauncher() const { return launcher_ > 0 && getppid() != launcher_; }

pid_t Tie::parent() const { return launcher_ > 0 ? launcher_ : other_end(); }

pid_t Tie::other_end() const {
  ucred process{};
  socklen_t bytes = sizeof process;
  return getsockopt(socket_.value(), SOL_SOCKET, SO_PEERCRED, &process, &bytes) == 0 ? process.pid
                                                                                     : 0;
}

void Tie::SayPlaces(const Plan& plan) const {
  std::string counts = "ranks";
  for (const App& app : plan.apps) counts += Format(" %u", app.ranks);
  counts += '\n';
  static_cast<void>(
      !send(socket_.value(), counts.data(), counts.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
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
