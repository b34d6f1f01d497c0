// SPDX-License-Identifier: BSD-3-Clause
// Brings shepherds to life: through pipes, a window of hosts at a time, or all at once by a
// manager, after which they call.
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "launcher/plan/hostlist.h"
#include "launcher/plan/machine.h"
#include "launcher/plan/rank_variables.h"
#include "launcher/shepherd/job.h"
#include "launcher/shepherd/shepherd_word.h"
#include "launcher/shepherd/tuning.h"
#include "runtime/base/check.h"
#include "runtime/base/clock.h"
#include "runtime/base/dynamic_words.h"
#include "runtime/base/log.h"
#include "runtime/base/text.h"
#include "runtime/base/version.h"

namespace lamina::launcher {
namespace {

std::string OwnDirectory() {
  char path[4096];
  return getcwd(path, sizeof path) != nullptr ? path : "/";
}

// True for variables that say something about this host or this login alone.
bool StaysHere(std::string_view assignment) {
  const std::string_view name = assignment.substr(0, assignment.find('='));
  for (const std::string_view own :
       {"HOSTNAME", "SSH_AUTH_SOCK", "SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY", "XDG_RUNTIME_DIR",
        "XDG_SESSION_ID", "DBUS_SESSION_BUS_ADDRESS", "LAMINA_SHEPHERD_CALL",
        "LAMINA_SHEPHERD_SECRET", "LAMINA_SHEPHERD_HOST"})
    if (name == own) return true;
  return false;
}

std::string_view FirstLabel(std::string_view name) { return name.substr(0, name.find('.')); }

}  // namespace

Status ShepherdedJob::Start(std::span<const RankStart> starts) {
  auto poller = Poller::Open();
  if (!poller.ok()) return std::move(poller).status();
  poller_ = *std::move(poller);
  if (Status status = heartbeat_.Open(poller_.get(), [this] { OnTick(); }); !status.ok())
    return status;
  visitors_ = std::make_unique<Visitors>(poller_.get(),
                                         [this](const wire::Visit& visit) { SendVisit(visit); });
  if (Status status = TakeRanks(starts); !status.ok()) return status;
  MakeNodes();
  MakeHub();
  heartbeat_.Begin(params_.silence_ms);
  if (const auto* manager = std::get_if<Manager>(&starter_))
    if (Status status = CallCrew(*manager); !status.ok()) return status;
  shepherds_->StartWaiting();
  return {};
}

void ShepherdedJob::MakeHub() {
  std::vector<pmix::Hub::Edge> edges(plan_.hosts.size(), 0);
  for (const auto& [host, ranks] : ranks_) edges[host] = by_host_[host]->edge;
  hub_ = std::make_unique<pmix::Hub>(
      plan_, std::move(edges), true,
      pmix::Hub::Outlets{[this](pmix::Hub::Edge edge, const std::string& letter) {
                           shepherds_->Send(shepherds_->nodes()[edge].get(), wire::Kind::kLetter,
                                            letter);
                         },
                         [this](std::uint32_t rank, int code, std::string message) {
                           RankEvent event;
                           event.kind = RankEvent::Kind::kAborted;
                           event.rank = rank;
                           event.code = code;
                           event.why = std::move(message);
                           events_.push_back(std::move(event));
                         }});
}

Status ShepherdedJob::TakeRanks(std::span<const RankStart> starts) {
  environments_.resize(plan_.apps.size());
  open_files_max_ = starts.front().open_files_max;
  held_ = starts.front().held;
  output_ = starts.front().output;
  CHECK(output_ != nullptr);
  output_->Tell([this](std::uint32_t rank, std::uint8_t stream, std::uint32_t bytes) {
    Grant(rank, stream, bytes);
  });
  saving_ = starts.front().saving;
  if (saving_ != nullptr)
    saving_->Tell([this](const wire::SavingWord& word) {
      Node* node = NodeOfRank(word.rank);
      if (node->state != Node::State::kHerding) return;
      shepherds_->Send(node, wire::Kind::kSaving, Encode(word));
      shepherds_->Carry(node);
    });
  for (const RankStart& start : starts) {
    const std::uint32_t app = plan_.ranks[start.rank].app;
    if (environments_[app].empty())
      std::copy_if(start.environment.begin(), start.environment.end(),
                   std::back_inserter(environments_[app]),
                   [](const std::string& assignment) { return !StaysHere(assignment); });
    if (Status status = MakeRemote(start, &remotes_[start.rank]); !status.ok()) return status;
  }
  if (job_name_.empty()) return Error(Code::kInternal, "the job has no name");
  return {};
}

// Descriptors are borrowed until Start() returns, so each is duplicated.
Status ShepherdedJob::MakeRemote(const RankStart& start, Remote* remote) {
  const std::uint32_t rank = start.rank;
  remote->order.rank = rank;
  remote->order.cpuset = std::string(start.cpuset);
  for (const std::string& assignment : start.own_environment) {
    if (assignment.starts_with("PMIX_NAMESPACE=")) job_name_ = assignment.substr(15);
    // Its shepherd tells it about PMIx, its ring, its door and its place in the job.
    if (!assignment.starts_with("PMIX_") && !assignment.starts_with("LAMINA_EVENT_FD=") &&
        !assignment.starts_with(kDoorVariable) &&
        !IsRankVariable(std::string_view(assignment).substr(0, assignment.find('='))))
      remote->order.own_environment.push_back(assignment);
  }
  struct stat input {};
  if (start.stdio[0] >= 0 && fstat(start.stdio[0], &input) == 0 && S_ISFIFO(input.st_mode)) {
    const int fd = fcntl(start.stdio[0], F_DUPFD_CLOEXEC, 3);
    if (fd < 0)
      return SystemError(Code::kResource, errno, "cannot keep the input of rank %u", rank);
    remote->order.reads_input = true;
    remote->input = std::make_unique<
        Source>(poller_.get(), fd, 0, [this, rank](std::string_view piece) {
      shepherds_->Send(NodeOfRank(rank), wire::Kind::kInput, Encode(wire::Piece{rank, 0, piece}));
    });
  }
  return {};
}

void ShepherdedJob::MakeNodes() {
  shepherds_ = std::make_unique<Shepherds>(
      plan_, Rules(), params_.silence_ms, &*poller_, &heartbeat_,
      Shepherds::Outlets{
          [this](const Node& node) { return OrdersFor(node); },
          [this](Node* node, const wire::Frame& frame) { return Hear(node, frame); },
          [this](Node* node, bool started, const std::string& why) { Failed(node, started, why); },
          [this](const Node&) { return IsSilenceExcused(); }, [] {}});
  by_host_.resize(plan_.hosts.size());
  for (const RankPlan& rank : plan_.ranks) ranks_[rank.host].push_back(rank.rank);
  const Machine machine = ThisMachine(true);
  std::vector<wire::Below> others;
  for (const auto& [host, ranks] : ranks_) {
    if (IsThisMachine(plan_.hosts[host].name, machine))
      shepherds_->Add(host, true, {OwnProgram(), std::string(kShepherdWord)}, {});
    else if (std::holds_alternative<Manager>(starter_))
      shepherds_->Add(host, false, {}, {});
    else
      others.push_back({host, CommandTo(host)});
  }
  shepherds_->AddTree(others);
  for (const auto& node : shepherds_->nodes()) NoteNode(node.get());
}

void ShepherdedJob::NoteNode(Node* node) {
  for (const std::uint32_t host : node->hosts()) by_host_[host] = node;
}

wire::StartRules ShepherdedJob::Rules() const {
  const auto* pipes = std::get_if<Pipes>(&starter_);
  if (pipes == nullptr) return {0, params_.window, params_.attempts, params_.start_ms, {}, {}};
  std::vector<std::string> passing = pipes->passing_signs;
  for (const std::string_view sign : Split(params_.passing_signs, '|'))
    if (!Trim(sign).empty()) passing.emplace_back(Trim(sign));
  return {pipes->works_everywhere ? params_.width : 0,
          params_.window,
          params_.attempts,
          params_.start_ms,
          std::move(passing),
          pipes->quick_signs};
}

std::vector<std::string> ShepherdedJob::ShepherdCommand(std::uint32_t host) const {
  const std::string& prefix = plan_.hosts[host].prefix;
  std::string program = !params_.program.empty() ? params_.program
                        : prefix.empty()         ? OwnProgram()
                                                 : prefix + "/bin/mpiexec";
  return {std::move(program), std::string(kShepherdWord)};
}

std::vector<std::string> ShepherdedJob::CommandTo(std::uint32_t host) const {
  return std::get<Pipes>(starter_).command(plan_.hosts[host], ShepherdCommand(host));
}

// Everything the manager starts gets the same environment, so callers are told apart by what they
// say of themselves.
Status ShepherdedJob::CallCrew(const Manager& manager) {
  for (const auto& node : shepherds_->nodes())
    if (!node->here) called_.push_back(node->host);
  if (called_.empty()) return {};
  Result<std::string> secret = wire::RandomBytes();
  if (!secret.ok()) return std::move(secret).status();
  secret_ = *std::move(secret);
  Result<Exchange> exchange = OpenExchange(params_.ports);
  if (!exchange.ok()) return std::move(exchange).status();
  exchange_ = *exchange;
  poller_->Add(exchange_.fd, Poller::kRead, [this] { OnGuest(); });
  const Manager::Calling calling = {std::string(kCallVariable) + "=" + exchange_.addresses,
                                    std::string(kSecretVariable) + "=" + HexOf(secret_)};
  for (const auto& node : shepherds_->nodes())
    if (!node->here) shepherds_->Expect(node.get());
  Result<std::unique_ptr<ShepherdCrew>> crew =
      manager.start(plan_, called_, ShepherdCommand(called_.front()), calling);
  if (!crew.ok()) return std::move(crew).status();
  crew_ = *std::move(crew);
  if (crew_->ReadyFd() >= 0) poller_->Add(crew_->ReadyFd(), Poller::kRead, [this] { OnCrew(); });
  return {};
}

void ShepherdedJob::OnGuest() {
  for (;;) {
    const int fd = accept4(exchange_.fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    const Result<std::string> nonce = wire::RandomBytes();
    if (guests_.size() >= kGuestsMax || !nonce.ok()) {
      close(fd);
      continue;
    }
    const int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    Guest& guest = guests_[fd];
    guest.stream = std::make_unique<wire::Stream>(fd, fd, SessionKey(KeyOf(secret_), *nonce),
                                                  wire::Direction::kToShepherd);
    guest.until_ms = MonotonicMs() + kGuestMs;
    guest.stream->Open(*nonce);
    poller_->Add(fd, Poller::kRead, [this, fd] { OnGuestSpeaks(fd); });
    if (Status status = guest.stream->Flush(); !status.ok()) OnGuestSpeaks(fd);
  }
}

void ShepherdedJob::OnGuestSpeaks(int fd) {
  wire::Stream* stream = guests_.at(fd).stream.get();
  const Result<bool> open = stream->Receive();
  Result<std::optional<wire::Frame>> frame = stream->Next();
  if (frame.ok() && frame->has_value() && (*frame)->kind == wire::Kind::kHello) {
    const Result<wire::Hello> hello = wire::DecodeHello((*frame)->payload);
    if (hello.ok()) return Welcome(fd, *hello);
  }
  if (frame.ok() && !frame->has_value() && open.ok() && *open) return;  // not all of it is here
  Log(Level::kInfo, "shepherd", "a call without a proper greeting was refused");
  poller_->Remove(fd);
  guests_.erase(fd);
}

void ShepherdedJob::Welcome(int fd, const wire::Hello& hello) {
  std::unique_ptr<wire::Stream> stream = std::move(guests_.at(fd).stream);
  poller_->Remove(fd);
  guests_.erase(fd);
  Node* node = NodeOf(hello);
  if (node == nullptr) {
    // The caller is late, and its ranks were cancelled. It learns that from the end of the stream.
    Log(Level::kInfo, "shepherd", "a shepherd on %s called, where none is wanted",
        hello.host.c_str());
    return;
  }
  shepherds_->Adopt(node, std::move(stream), hello);
  // Once everybody has called, nobody else has to.
  const bool awaited = std::any_of(called_.begin(), called_.end(), [this](std::uint32_t host) {
    return by_host_[host]->state == Node::State::kStarting;
  });
  if (awaited || exchange_.fd < 0) return;
  poller_->Remove(exchange_.fd);
  close(std::exchange(exchange_.fd, -1));
}

// Finds the host by what the starter gave it, by name, or by its place in the manager's order,
// among those that have not called yet.
Node* ShepherdedJob::NodeOf(const wire::Hello& hello) {
  const auto with_host = [this](std::uint32_t host) -> Node* {
    Node* node = host < by_host_.size() ? by_host_[host] : nullptr;
    const bool awaited = node != nullptr && !node->here && node->stream == nullptr &&
                         node->state == Node::State::kStarting;
    return awaited ? node : nullptr;
  };
  if (!hello.hint.empty() && hello.hint.front() != '#')
    if (const auto index = ParseInteger(hello.hint); index.has_value() && *index >= 0)
      return with_host(static_cast<std::uint32_t>(*index));
  Node* by_label = nullptr;
  bool alone = true;
  for (const std::uint32_t host : called_) {
    Node* node = with_host(host);
    if (node == nullptr) continue;
    if (node->name == hello.host) return node;
    if (FirstLabel(node->name) != FirstLabel(hello.host)) continue;
    alone = by_label == nullptr;
    by_label = node;
  }
  if (by_label != nullptr && alone) return by_label;
  if (!hello.hint.empty())
    if (const auto position = ParseInteger(hello.hint.substr(1));
        position.has_value() && *position >= 0 &&
        static_cast<std::uint64_t>(*position) < called_.size())
      return with_host(called_[static_cast<std::size_t>(*position)]);
  return nullptr;
}

void ShepherdedJob::OnCrew() {
  while (const std::optional<ShepherdCrew::Event> event = crew_->Next()) {
    std::vector<Node*> failed;
    std::vector<std::string> names;
    for (const std::uint32_t host : called_) {
      Node* node = by_host_[host];
      if (node->over() || (event->host.has_value() && *event->host != host)) continue;
      // If it has called, its stream decides about it; this is only the reason for its end.
      node->failure = event->why;
      if (node->stream != nullptr) continue;
      failed.push_back(node);
      names.push_back(node->name);
    }
    if (failed.empty()) continue;
    const std::string program = ShepherdCommand(failed.front()->host).front();
    const std::string hosts = FoldHostNames(names);
    std::string why = IsAbsent(program, event->why)
                          ? AbsentWords(program, hosts)
                          : "cannot start on " + hosts + ": " + event->why;
    for (Node* node : failed) shepherds_->Fail(node, std::exchange(why, ""));
  }
  if (holding_ && question_ == nullptr) Judge();
}

// No rank runs before all hosts are reached, so there is time to learn which others cannot be.
void ShepherdedJob::Failed(Node* node, bool started, const std::string& why) {
  if (started || shepherds_->sweeping()) {
    if (started) Suspect(true);
    shepherds_->StopStarting();
    // A host that was reached, and is not ready, refuses the state that the job is to go on from.
    if (started && !node->ready && saving_ != nullptr && saving_->orders().revived != 0)
      return Lose(node->hosts(), RankEvent::Kind::kStartFailed, kBadInput, why);
    return Lose(node->hosts(), started ? RankEvent::Kind::kLost : RankEvent::Kind::kStartFailed, 1,
                why);
  }
  if (failures_.empty()) {
    others_until_ms_ = MonotonicMs() + kOthersMs;
    heartbeat_.Hurry(kOthersMs + 1);
  }
  failures_.push_back({node->hosts(), why});
  heartbeat_.Hurry(1);
}

// Gives up the hosts that could not be reached, and says why of each, once it is known of all.
void ShepherdedJob::SettleFailures(bool now) {
  if (failures_.empty()) return;
  std::vector<std::string> awaited;
  for (const auto& node : shepherds_->nodes())
    if (node->state == Node::State::kWaiting || node->state == Node::State::kStarting)
      awaited.push_back(node->name);
  if (const std::uint64_t now_ms = MonotonicMs();
      !now && !awaited.empty() && now_ms < others_until_ms_)
    return heartbeat_.Hurry(others_until_ms_ - now_ms + 1);
  shepherds_->StopStarting();
  const std::vector<Failure> failures = std::exchange(failures_, {});
  std::string why;
  std::size_t named = 0;
  for (const Failure& failure : failures)
    if (!failure.why.empty() && ++named <= kReasonsNamed)
      why += (why.empty() ? "" : "\nmpiexec: ") + failure.why;
  if (named > kReasonsNamed) why += Format("\nmpiexec: and %zu more hosts", named - kReasonsNamed);
  if (!now && !awaited.empty()) why += "\nmpiexec: no answer yet from " + FoldHostNames(awaited);
  for (const Failure& failure : failures)
    Lose(failure.hosts, RankEvent::Kind::kStartFailed, 1, std::exchange(why, ""));
}

std::string ShepherdedJob::OrdersFor(const Node& node) {
  if (!failures_.empty()) heartbeat_.Hurry(1);  // this was perhaps the last to be awaited
  SayTakenBack(node.host);
  wire::Orders orders;
  orders.host = node.host;
  orders.job = job_name_;
  orders.directory = OwnDirectory();
  orders.silence_ms = params_.silence_ms;
  orders.open_files_max = open_files_max_;
  orders.profiled = plan_.options.profiled;
  orders.held = held_;
  if (plan_.options.traced) orders.trace_bytes = plan_.options.trace_bytes;
  orders.trace_keeps_first = plan_.options.trace_keeps_first;
  orders.rules = Rules();
  orders.plan = plan_;
  for (std::size_t app = 0; app < plan_.apps.size(); ++app)
    orders.plan.apps[app].environment = environments_[app];
  orders.below = node.below;
  if (saving_ != nullptr) orders.saving = saving_->orders();
  for (const std::uint32_t host : node.hosts())
    for (const std::uint32_t rank : ranks_.at(host))
      orders.ranks.push_back(remotes_.at(rank).order);
  return Encode(orders);
}

}  // namespace lamina::launcher
