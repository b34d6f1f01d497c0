// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/shepherd/shepherd.h"

#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "launcher/plan/bind_here.h"
#include "launcher/pmix/hint.h"
#include "launcher/pmix/server.h"
#include "launcher/shepherd/dial.h"
#include "launcher/shepherd/flow.h"
#include "launcher/shepherd/heartbeat.h"
#include "launcher/shepherd/poller.h"
#include "launcher/shepherd/relay.h"
#include "launcher/shepherd/ring_copy.h"
#include "launcher/wire/messages.h"
#include "launcher/wire/stream.h"
#include "runtime/base/event_ring.h"
#include "runtime/base/log.h"
#include "runtime/base/text.h"
#include "runtime/base/version.h"

namespace lamina::launcher {
namespace {

constexpr std::size_t kEventsTold = 32;
constexpr int kOpeningMs = 30'000;

// A rank of this node.
struct Sheep {
  int ring = -1;
  std::string ring_head;  // as last told
  std::unique_ptr<Sink> input;
  std::array<std::unique_ptr<Source>, 2> output;
  std::array<int, 3> fds = {-1, -1, -1};  // its own ends, until it has started
  ~Sheep() {
    if (ring >= 0) close(ring);
    for (const int fd : fds)
      if (fd >= 0) close(fd);
  }
};

class Shepherd {
 public:
  explicit Shepherd(const ShepherdContext& context) : context_(context) {}
  ~Shepherd();

  Status Prepare();
  Status Greet();
  // Until the launcher has been told goodbye, or an error.
  Status Herd();

 private:
  Status Carry();
  Status Obey(const wire::Frame& frame);
  Status TakeOrders(std::string_view payload);
  Status StartRanks();
  Status MakeRank(const wire::RankOrder& order);
  std::vector<RankStart> Starts();
  void StartServerIfNeeded();
  void OnStream();
  void NoteSuspension(const wire::Frame& frame);
  void OnJob();
  void OnTick();
  void OnSignal();
  void TellEnd(const RankEvent& event);
  void Deliver(const wire::Piece& piece);
  void Credit(const wire::Credit& credit);
  void Signal(const wire::SignalOrder& order);
  void Sweep();
  void SayGoodbyeIfDone();
  void Fail(Status status);

  const ShepherdContext& context_;
  std::unique_ptr<Poller> poller_;
  event_base* loop_ = nullptr;
  event* ready_ = nullptr;
  std::unique_ptr<wire::Stream> stream_;
  int signals_ = -1;
  wire::Orders orders_;
  std::string host_;
  std::map<std::uint32_t, Sheep> sheep_;
  std::vector<std::vector<std::string>> environments_;  // by app
  std::vector<std::string> directories_;                // by app
  std::unique_ptr<pmix::Server> server_;
  std::unique_ptr<Job> job_;
  std::vector<wire::Ended> ends_;  // to be told
  std::unique_ptr<Relay> relay_;   // in place of all that, where there are hosts below this one
  Heartbeat heartbeat_;
  bool suspended_ = false;  // with the launcher, which cannot speak then
  bool swept_ = false;
  bool goodbye_ = false;
  std::optional<Status> failed_;
};

Shepherd::~Shepherd() {
  relay_.reset();
  job_.reset();  // kills what still runs
  server_.reset();
  sheep_.clear();
  stream_.reset();
  if (ready_ != nullptr) event_free(ready_);
  if (loop_ != nullptr) event_base_free(loop_);
}

Status Shepherd::Prepare() {
  sigset_t blocked;
  sigemptyset(&blocked);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&blocked, signal);
  const sigset_t watched = blocked;
  for (const int signal : {SIGPIPE, SIGCHLD, SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2})
    sigaddset(&blocked, signal);
  sigprocmask(SIG_BLOCK, &blocked, nullptr);
  signals_ = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
  rlimit descriptors;
  if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0) {
    descriptors.rlim_cur = descriptors.rlim_max;
    setrlimit(RLIMIT_NOFILE, &descriptors);
  }
  char name[256] = "?";
  gethostname(name, sizeof name - 1);
  host_ = name;
  SetLogIdentity("shepherd", host_);
  auto poller = Poller::Open();
  if (!poller.ok()) return std::move(poller).status();
  poller_ = *std::move(poller);
  loop_ = event_base_new();
  if (loop_ == nullptr || signals_ < 0) return Error(Code::kResource, "cannot make an event loop");
  poller_->Add(signals_, Poller::kRead, [this] { OnSignal(); });
  return heartbeat_.Open(poller_.get(), [this] { OnTick(); });
}

// Standard input and output are the stream, unless we are to call; nobody else may touch them.
Status Shepherd::Greet() {
  Result<Line> line = OpenLine(context_.environment);
  if (!line.ok()) return std::move(line).status();
  Result<std::string> nonce = ReadOpening(line->in, kOpeningMs);
  if (!nonce.ok()) return std::move(nonce).status();
  stream_ = std::make_unique<wire::Stream>(
      line->in, line->out, wire::SessionKey(line->secret, *nonce), wire::Direction::kToLauncher);
  wire::Hello hello;
  hello.wire_version = wire::kVersion;
  hello.version = kVersion;
  hello.host = host_;
  hello.hint = HostHint(context_.environment);
  hello.process = static_cast<std::uint64_t>(getpid());
  stream_->Open("");
  stream_->Send(wire::Kind::kHello, Encode(hello));
  poller_->Add(stream_->in(), Poller::kRead, [this] { OnStream(); });
  if (stream_->out() != stream_->in()) poller_->Add(stream_->out(), 0, [this] { OnStream(); });
  return {};
}

Status Shepherd::Herd() {
  ready_ = event_new(
      loop_, poller_->fd(), EV_READ | EV_PERSIST,
      [](int, short, void* self) {
        auto* shepherd = static_cast<Shepherd*>(self);
        shepherd->poller_->Turn();
        if (Status status = shepherd->Carry(); !status.ok()) shepherd->Fail(std::move(status));
      },
      this);
  event_add(ready_, nullptr);
  if (Status status = Carry(); !status.ok()) return status;
  event_base_dispatch(loop_);
  return failed_.has_value() ? std::move(*failed_) : Status();
}

void Shepherd::Fail(Status status) {
  if (!failed_.has_value()) failed_ = std::move(status);
  event_base_loopbreak(loop_);
}

// Sends what waits, and watches for room when not all of it goes.
Status Shepherd::Carry() {
  if (relay_ != nullptr) relay_->CarryAll();
  if (Status status = stream_->Flush(); !status.ok()) return status;
  const bool same = stream_->out() == stream_->in();
  const std::uint32_t write = stream_->unsent() ? std::uint32_t{Poller::kWrite} : 0u;
  poller_->Watch(stream_->out(), (same ? std::uint32_t{Poller::kRead} : 0u) | write);
  if (goodbye_ && !stream_->unsent()) event_base_loopbreak(loop_);
  return {};
}

void Shepherd::OnStream() {
  Result<bool> open = stream_->Receive();
  if (!open.ok()) return Fail(std::move(open).status());
  for (;;) {
    Result<std::optional<wire::Frame>> frame = stream_->Next();
    if (!frame.ok()) return Fail(std::move(frame).status());
    if (!frame->has_value()) break;
    heartbeat_.Heard();
    if (Status status = Obey(**frame); !status.ok()) return Fail(std::move(status));
  }
  if (!*open) Fail(Error(Code::kPeerLost, "the launcher has gone"));
}

// A launcher that is to be stopped cannot speak until it is continued.
void Shepherd::NoteSuspension(const wire::Frame& frame) {
  if (frame.kind != wire::Kind::kSignal) return;
  const Result<wire::SignalOrder> order = wire::DecodeSignal(frame.payload);
  if (!order.ok()) return;
  if (order->signal == SIGTSTP || order->signal == SIGSTOP) suspended_ = true;
  if (order->signal == SIGCONT) suspended_ = false;
}

Status Shepherd::Obey(const wire::Frame& frame) {
  NoteSuspension(frame);
  if (frame.kind == wire::Kind::kOrders) return TakeOrders(frame.payload);
  if (frame.kind == wire::Kind::kPing) {
    stream_->Send(wire::Kind::kPing, frame.payload);
    return {};
  }
  if (relay_ != nullptr) return relay_->Obey(frame);
  if (job_ == nullptr) return Error(Code::kInvalid, "the stream begins without orders");
  switch (frame.kind) {
    case wire::Kind::kInput:
      return wire::With(wire::DecodePiece(frame.payload), [this](const auto& m) { Deliver(m); });
    case wire::Kind::kWritten:
      return wire::With(wire::DecodeCredit(frame.payload), [this](const auto& m) { Credit(m); });
    case wire::Kind::kSignal:
      return wire::With(wire::DecodeSignal(frame.payload), [this](const auto& m) { Signal(m); });
    case wire::Kind::kLetter:
      return server_->Receive(frame.payload);
    case wire::Kind::kBeat:
      return wire::With(wire::DecodeBeat(frame.payload), [](const auto&) {});
    case wire::Kind::kSweep:
      Sweep();
      return {};
    default:
      return Error(Code::kInvalid, "a frame of kind %u on the stream makes no sense",
                   static_cast<unsigned>(frame.kind));
  }
}

Status Shepherd::MakeRank(const wire::RankOrder& order) {
  Sheep& sheep = sheep_[order.rank];
  if (sheep.ring >= 0) return Error(Code::kInvalid, "rank %u was ordered twice", order.rank);
  sheep.ring = memfd_create("lamina-events", MFD_CLOEXEC);
  if (sheep.ring < 0 || ftruncate(sheep.ring, static_cast<off_t>(kEventRingBytes)) != 0)
    return SystemError(Code::kResource, errno, "cannot make an event ring");
  const auto open_pipe = [](int* rank_end, int* own_end, bool input) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      return SystemError(Code::kResource, errno, "cannot make a pipe for a rank");
    *rank_end = ends[input ? 0 : 1];
    *own_end = ends[input ? 1 : 0];
    return Status();
  };
  const std::uint32_t rank = order.rank;
  int own = -1;
  if (order.reads_input) {
    if (Status status = open_pipe(&sheep.fds[0], &own, true); !status.ok()) return status;
    sheep.input = std::make_unique<Sink>(poller_.get(), own, [this, rank](std::uint32_t bytes) {
      stream_->Send(wire::Kind::kTaken, Encode(wire::Credit{rank, 0, bytes}));
    });
    stream_->Send(wire::Kind::kTaken, Encode(wire::Credit{rank, 0, kWindowBytes}));
  } else {
    sheep.fds[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
  }
  for (const std::uint8_t which : {std::uint8_t{1}, std::uint8_t{2}}) {
    if (Status status = open_pipe(&sheep.fds[which], &own, false); !status.ok()) return status;
    sheep.output[which - 1u] = std::make_unique<Source>(
        poller_.get(), own, kWindowBytes, [this, rank, which](std::string_view piece) {
          stream_->Send(wire::Kind::kOutput, Encode(wire::Piece{rank, which, piece}));
          if (piece.empty()) SayGoodbyeIfDone();
        });
  }
  return {};
}

std::vector<RankStart> Shepherd::Starts() {
  for (const App& app : orders_.plan.apps) {
    environments_.push_back(app.environment);
    directories_.push_back(app.wdir.empty()            ? orders_.directory
                           : app.wdir.starts_with('/') ? app.wdir
                                                       : orders_.directory + "/" + app.wdir);
  }
  std::vector<RankStart> starts;
  for (const wire::RankOrder& order : orders_.ranks) {
    const std::uint32_t app = orders_.plan.ranks[order.rank].app;
    const Sheep& sheep = sheep_[order.rank];
    RankStart start;
    start.rank = order.rank;
    start.host = orders_.plan.hosts[orders_.host].name;
    start.argv = orders_.plan.apps[app].argv;
    start.environment = environments_[app];
    start.own_environment = server_->EnvironmentOf(order.rank);
    start.own_environment.push_back("LAMINA_EVENT_FD=" + std::to_string(sheep.ring));
    start.own_environment.insert(start.own_environment.end(), order.own_environment.begin(),
                                 order.own_environment.end());
    start.wdir = directories_[app];
    start.cpuset = order.cpuset.empty() ? orders_.plan.ranks[order.rank].cpuset : order.cpuset;
    start.stdio = sheep.fds;
    start.event_fd = sheep.ring;
    start.open_files_max = orders_.open_files_max;
    starts.push_back(std::move(start));
  }
  return starts;
}

Status Shepherd::TakeOrders(std::string_view payload) {
  if (job_ != nullptr || relay_ != nullptr) return Error(Code::kInvalid, "orders came twice");
  Result<wire::Orders> orders = wire::DecodeOrders(payload);
  if (!orders.ok()) return std::move(orders).status();
  orders_ = *std::move(orders);
  SetLogIdentity("shepherd", orders_.plan.hosts[orders_.host].name);
  heartbeat_.Begin(orders_.silence_ms);
  if (orders_.below.empty()) return StartRanks();
  relay_ = std::make_unique<Relay>(
      orders_, poller_.get(), &heartbeat_,
      Relay::Outlets{
          [this](wire::Kind kind, const std::string& payload) { stream_->Send(kind, payload); },
          [this] {
            goodbye_ = true;
            stream_->Send(wire::Kind::kBye, "");
          }});
  return {};
}

Status Shepherd::StartRanks() {
  if (Status status = BindHere(orders_.host, &orders_.plan); !status.ok()) return status;
  const Environment variables(orders_.plan.apps.front().environment);
  const param::Settings settings = param::Settings::FromEnvironment(variables);
  pmix::Params params;
  if (Status status = param::Load(settings, pmix::kFields, &params); !status.ok()) return status;
  const auto send = [this](const std::string& letter) {
    stream_->Send(wire::Kind::kLetter, letter);
    if (Status status = Carry(); !status.ok()) Fail(std::move(status));
  };
  auto server = pmix::Server::MakeAt({orders_.job, orders_.host, send}, loop_, orders_.plan, params,
                                     {nullptr, [this](const Status& status) {
                                        Fail(Status(status.code(), std::string(status.message())));
                                      }});
  if (!server.ok()) return std::move(server).status();
  server_ = *std::move(server);
  for (const wire::RankOrder& rank : orders_.ranks)
    if (Status status = MakeRank(rank); !status.ok()) return status;

  auto spawner = context_.spawners.Find(context_.local_spawner)
                     ->make(SpawnContext{context_.environment, settings});
  if (!spawner.ok()) return std::move(spawner).status();
  Plan here = orders_.plan;
  std::erase_if(here.ranks, [this](const RankPlan& rank) { return rank.host != orders_.host; });
  const std::vector<RankStart> starts = Starts();
  Result<std::unique_ptr<Job>> job = (*spawner)->Start(here, starts);
  if (!job.ok()) return std::move(job).status();
  job_ = *std::move(job);
  for (auto& [rank, sheep] : sheep_)
    for (int& fd : sheep.fds) close(std::exchange(fd, -1));
  poller_->Add(job_->ReadyFd(), Poller::kRead, [this] { OnJob(); });
  OnJob();
  if (Status status = Carry(); !status.ok()) return status;
  StartServerIfNeeded();
  return {};
}

// While the ranks are being loaded, where it is clear that they will ask for it.
void Shepherd::StartServerIfNeeded() {
  for (std::size_t app = 0; app < orders_.plan.apps.size(); ++app) {
    const std::string& program = orders_.plan.apps[app].argv.front();
    if (program.find('/') == std::string::npos) continue;
    if (!pmix::NeedsServer(program.front() == '/' ? program : directories_[app] + "/" + program))
      continue;
    if (Status status = server_->Start(); !status.ok()) Fail(std::move(status));
    return;
  }
}

void Shepherd::OnJob() {
  while (std::optional<RankEvent> event = job_->Next()) TellEnd(*event);
  if (!ends_.empty()) stream_->Send(wire::Kind::kEnded, Encode(std::exchange(ends_, {})));
}

void Shepherd::TellEnd(const RankEvent& event) {
  wire::Ended ended;
  ended.rank = event.rank;
  ended.kind = static_cast<std::uint8_t>(event.kind);
  ended.code = event.code;
  ended.signal = event.signal;
  ended.process = static_cast<std::uint64_t>(event.process);
  ended.why = event.why;
  const Sheep& sheep = sheep_[event.rank];
  ended.ring_head = RingHead(sheep.ring);
  const bool well = event.kind == RankEvent::Kind::kExited && event.code == 0;
  if (!well) ended.events = RingEvents(sheep.ring, kEventsTold);
  ends_.push_back(std::move(ended));
}

void Shepherd::Deliver(const wire::Piece& piece) {
  const auto found = sheep_.find(piece.rank);
  if (found != sheep_.end() && found->second.input != nullptr)
    found->second.input->Take(piece.bytes);
}

void Shepherd::Credit(const wire::Credit& credit) {
  const auto found = sheep_.find(credit.rank);
  if (found == sheep_.end() || credit.stream == 0) return;
  Source* source = found->second.output[credit.stream - 1u].get();
  if (source == nullptr) return;
  if (credit.bytes == wire::Credit::kGone)
    source->Refuse();
  else
    source->Grant(credit.bytes);
  SayGoodbyeIfDone();
}

void Shepherd::Signal(const wire::SignalOrder& order) {
  const int signal = static_cast<int>(order.signal);
  for (const std::uint32_t rank : order.ranks) job_->Signal(rank, signal);
}

void Shepherd::Sweep() {
  job_->Sweep();
  OnJob();
  swept_ = true;
  for (auto& [rank, sheep] : sheep_) {
    if (sheep.input != nullptr) sheep.input->Close();
    for (auto& source : sheep.output) source->LastCall();
  }
  SayGoodbyeIfDone();
}

void Shepherd::SayGoodbyeIfDone() {
  if (!swept_ || goodbye_) return;
  for (const auto& [rank, sheep] : sheep_)
    for (const auto& source : sheep.output)
      if (!source->ended()) return;
  goodbye_ = true;
  stream_->Send(wire::Kind::kBye, "");
}

void Shepherd::OnTick() {
  if (heartbeat_.TooSilent() && !suspended_)
    return Fail(Error(Code::kPeerLost, "nothing was heard of the launcher for %g s",
                      static_cast<double>(orders_.silence_ms) / 1000.0));
  wire::Beat beat;
  if (relay_ != nullptr) relay_->Tick(&beat);
  for (auto& [rank, sheep] : sheep_) {
    std::string head = RingHead(sheep.ring);
    if (head == sheep.ring_head) continue;
    sheep.ring_head = head;
    beat.heads.push_back({rank, std::move(head)});
  }
  stream_->Send(wire::Kind::kBeat, Encode(beat));
}

void Shepherd::OnSignal() {
  signalfd_siginfo info;
  while (read(signals_, &info, sizeof info) == sizeof info)
    Fail(Error(Code::kAborted, "ended by signal %u", info.ssi_signo));
}

}  // namespace

int RunShepherd(const ShepherdContext& context) {
  Shepherd shepherd(context);
  Status status = shepherd.Prepare();
  if (status.ok()) status = shepherd.Greet();
  if (status.ok()) status = shepherd.Herd();
  if (status.ok()) return 0;
  // A launcher that has gone needs no telling.
  if (status.code() != Code::kPeerLost) {
    const std::string line = "mpiexec: " + std::string(status.message()) + "\n";
    if (write(STDERR_FILENO, line.data(), line.size()) < 0) return 1;
  }
  return 1;
}

}  // namespace lamina::launcher
