// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/spawn/pbs/tm_crew.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>
#include <utility>

#include "runtime/base/clock.h"
#include "runtime/base/text.h"

namespace lamina::launcher::pbs {
namespace {

constexpr std::size_t kPieceBytes = 65536;
constexpr int kAnswerTimeoutMs = 10'000;
constexpr int kFarewellMs = 2'000;

Result<int> Connect(const Environment& environment) {
  const auto port = ParseInteger(environment.Get("PBS_MOMPORT").value_or(""));
  if (!port || *port < 1 || *port > 65535)
    return Error(Code::kInvalid, "PBS_MOMPORT is not a port");
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return SystemError(Code::kResource, errno, "cannot make a socket for pbs_mom");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(*port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval patience{kAnswerTimeoutMs / 1000, 0};
  const int yes = 1;
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  const int error = errno;
  close(fd);
  return SystemError(Code::kPeerLost, error, "pbs_mom does not answer on port %d of this host",
                     static_cast<int>(*port));
}

}  // namespace

Result<std::unique_ptr<ShepherdCrew>> TmCrew::StartAll(const Environment& environment,
                                                       std::span<const Start> starts) {
  Result<TmSession> session = TmSession::Open(environment);
  if (!session.ok()) return std::move(session).status();
  Result<int> connection = Connect(environment);
  if (!connection.ok()) return std::move(connection).status();
  std::unique_ptr<TmCrew> crew(new TmCrew(std::move(*session), *connection));
  std::int64_t event = 0;
  if (Status status = crew->Send(crew->session_.Init(&event)); !status.ok()) return status;
  crew->Receive(kAnswerTimeoutMs);
  if (crew->nodes_.empty())
    return Error(
        Code::kPeerLost, "%s",
        crew->events_.empty() ? "pbs_mom does not answer" : crew->events_.front().why.c_str());
  for (const Start& start : starts)
    if (start.line < 0 || static_cast<std::size_t>(start.line) >= crew->nodes_.size())
      return Error(Code::kInvalid, "pbs_mom knows %zu nodes, line %lld of PBS_NODEFILE is none",
                   crew->nodes_.size(), static_cast<long long>(start.line + 1));
  // All are asked for at once, so that none waits for the answer about another.
  for (const Start& start : starts) {
    const std::int64_t node = crew->nodes_[static_cast<std::size_t>(start.line)];
    const std::string request = crew->session_.Spawn(node, start.argv, start.environment, &event);
    crew->by_event_[event] = crew->tasks_.size();
    crew->tasks_.push_back({start.host, node, 0, false});
    if (Status status = crew->Send(request); !status.ok()) return status;
  }
  return std::unique_ptr<ShepherdCrew>(std::move(crew));
}

TmCrew::~TmCrew() {
  std::int64_t event = 0;
  for (const Task& task : tasks_) {
    if (!task.running || connection_ < 0) continue;
    if (!Send(session_.Signal(task.node, task.task, SIGKILL, &event)).ok()) break;
  }
  const std::uint64_t until_ms = MonotonicMs() + kFarewellMs;
  for (std::uint64_t now_ms;
       connection_ >= 0 && AnyRunning() && (now_ms = MonotonicMs()) < until_ms;)
    Receive(static_cast<int>(until_ms - now_ms));
  if (connection_ >= 0) close(connection_);
}

std::optional<ShepherdCrew::Event> TmCrew::Next() {
  if (events_.empty() && connection_ >= 0) Receive(0);
  if (events_.empty()) return std::nullopt;
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

Status TmCrew::Send(const std::string& bytes) {
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t count = send(connection_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError(Code::kPeerLost, errno, "cannot send to pbs_mom");
    sent += static_cast<std::size_t>(count);
  }
  return {};
}

void TmCrew::Receive(int timeout_ms) {
  pollfd readable{connection_, POLLIN, 0};
  if (poll(&readable, 1, timeout_ms) <= 0) return;
  const auto bytes = std::make_unique_for_overwrite<char[]>(kPieceBytes);
  const ssize_t count = recv(connection_, bytes.get(), kPieceBytes, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return Lose("pbs_mom has closed the connection");
  std::vector<TmReply> replies;
  const Status status = session_.Feed({bytes.get(), static_cast<std::size_t>(count)}, &replies);
  for (const TmReply& reply : replies) Take(reply);
  if (!status.ok()) Lose(std::string(status.message()));
}

void TmCrew::Take(const TmReply& reply) {
  if (reply.kind == TmReply::Kind::kInit) {
    nodes_ = reply.nodes;
    if (reply.error != 0) events_.push_back({std::nullopt, "pbs_mom: " + ErrorText(reply.error)});
    return;
  }
  const auto known = by_event_.find(reply.event);
  if (known == by_event_.end()) return;  // the answer to a signal
  Task& task = tasks_[known->second];
  if (reply.kind == TmReply::Kind::kSpawn) {
    if (reply.error != 0) {
      events_.push_back({task.host, "tm_spawn: " + ErrorText(reply.error)});
      return;
    }
    task.task = reply.value;
    task.running = true;
    std::int64_t event = 0;
    const std::string request = session_.Obit(task.node, task.task, &event);
    by_event_[event] = known->second;
    if (Status status = Send(request); !status.ok()) Lose(std::string(status.message()));
    return;
  }
  task.running = false;
  events_.push_back({task.host, reply.value > 255
                                    ? Format("its shepherd was killed by signal %lld",
                                             static_cast<long long>(reply.value - 256))
                                    : Format("its shepherd ended with status %lld",
                                             static_cast<long long>(reply.value))});
}

// Nothing more will come. The descriptor stays open, so that nobody waits for another one under its
// number.
void TmCrew::Lose(const std::string& why) {
  for (Task& task : tasks_) task.running = false;
  shutdown(connection_, SHUT_RDWR);
  if (!lost_) events_.push_back({std::nullopt, why});
  lost_ = true;
}

bool TmCrew::AnyRunning() const {
  return std::any_of(tasks_.begin(), tasks_.end(), [](const Task& task) { return task.running; });
}

}  // namespace lamina::launcher::pbs
