// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/shepherd/shepherd.h"

#include <event2/event.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <optional>
#include <utility>

#include "launcher/plan/bind_here.h"
#include "launcher/shepherd/dial.h"
#include "launcher/shepherd/heartbeat.h"
#include "launcher/shepherd/herd.h"
#include "launcher/shepherd/poller.h"
#include "launcher/shepherd/relay.h"
#include "launcher/shepherd/seclusion.h"
#include "launcher/shepherd/tuning.h"
#include "launcher/wire/messages.h"
#include "launcher/wire/stream.h"
#include "runtime/base/log.h"
#include "runtime/base/text.h"
#include "runtime/base/version.h"

namespace lamina::launcher {
namespace {

class Shepherd {
 public:
  explicit Shepherd(const ShepherdContext& context) : context_(context) {}
  ~Shepherd();

  Status Prepare();
  Status Greet();
  // Works until the launcher has been told goodbye; returns an error if it could not be.
  Status Work();

 private:
  Status Carry();
  Status Obey(const wire::Frame& frame);
  Status TakeOrders(std::string_view payload);
  Status StartRelay();
  Status StartHerd();
  void OnStream();
  void NoteSuspension(const wire::Frame& frame);
  void OnTick();
  void OnSignal();
  void SayGoodbye();
  void Fail(Status status);

  const ShepherdContext& context_;
  std::unique_ptr<Poller> poller_;
  event_base* loop_ = nullptr;
  event* ready_ = nullptr;
  std::unique_ptr<wire::Stream> stream_;
  int signals_ = -1;
  wire::Orders orders_;
  std::string host_;
  // Its orders make it one of these.
  std::unique_ptr<Relay> relay_;
  std::unique_ptr<Herd> herd_;
  Heartbeat heartbeat_;
  bool suspended_ = false;  // with the launcher, which cannot speak then
  bool goodbye_ = false;
  std::optional<Status> failed_;
};

Shepherd::~Shepherd() {
  relay_.reset();
  herd_.reset();  // kills what still runs
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

// Standard input and output are the stream, unless we are to call, so nobody else may touch them.
Status Shepherd::Greet() {
  Result<Line> line = OpenLine(context_.environment);
  if (!line.ok()) return std::move(line).status();
  Result<std::string> nonce = ReadOpening(line->in, kOpeningMs);
  if (!nonce.ok()) return std::move(nonce).status();
  stream_ = std::make_unique<wire::Stream>(line->in, line->out, SessionKey(line->secret, *nonce),
                                           wire::Direction::kToLauncher);
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

Status Shepherd::Work() {
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

// Sends what waits, and watches for room if not all of it goes.
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
  if (relay_ != nullptr) return relay_->Obey(frame);
  if (herd_ != nullptr) return herd_->Obey(frame);
  return Error(Code::kInvalid, "the stream begins without orders");
}

Status Shepherd::TakeOrders(std::string_view payload) {
  if (herd_ != nullptr || relay_ != nullptr) return Error(Code::kInvalid, "orders came twice");
  Result<wire::Orders> orders = wire::DecodeOrders(payload);
  if (!orders.ok()) return std::move(orders).status();
  orders_ = *std::move(orders);
  SetLogIdentity("shepherd", orders_.plan.hosts[orders_.host].name);
  heartbeat_.Begin(orders_.silence_ms);
  return orders_.below.empty() ? StartHerd() : StartRelay();
}

Status Shepherd::StartRelay() {
  relay_ = std::make_unique<Relay>(
      orders_, poller_.get(), &heartbeat_,
      Relay::Outlets{
          [this](wire::Kind kind, const std::string& payload) { stream_->Send(kind, payload); },
          [this] { SayGoodbye(); }});
  return {};
}

Status Shepherd::StartHerd() {
  orders_.saving.secluded = orders_.saving.secluded && geteuid() != 0;
  if (orders_.saving.secluded)
    if (Status status = Seclude(); !status.ok()) return status;
  if (Status status = BindHere(orders_.host, &orders_.plan); !status.ok()) return status;
  herd_ = std::make_unique<Herd>(
      orders_, context_, poller_.get(), loop_,
      Herd::Outlets{
          [this](wire::Kind kind, const std::string& payload) { stream_->Send(kind, payload); },
          [this] {
            if (Status status = Carry(); !status.ok()) Fail(std::move(status));
          },
          [this] { SayGoodbye(); }, [this](Status status) { Fail(std::move(status)); }});
  return herd_->Prepare();
}

void Shepherd::SayGoodbye() {
  goodbye_ = true;
  stream_->Send(wire::Kind::kBye, "");
}

void Shepherd::OnTick() {
  if (heartbeat_.TooSilent() && !suspended_)
    return Fail(Error(Code::kTimeout, "nothing was heard of the launcher for %g s",
                      static_cast<double>(orders_.silence_ms) / 1000.0));
  wire::Beat beat;
  if (relay_ != nullptr) relay_->Tick(&beat);
  if (herd_ != nullptr) herd_->Tick(&beat);
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
  if (status.ok()) status = shepherd.Work();
  if (status.ok()) return 0;
  // A launcher that has gone needs no telling.
  if (status.code() != Code::kPeerLost) {
    const std::string line = "mpiexec: " + std::string(status.message()) + "\n";
    if (write(STDERR_FILENO, line.data(), line.size()) < 0) return 1;
  }
  return 1;
}

}  // namespace lamina::launcher
