// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/supervisor.h"

#include <event2/event.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <functional>
#include <optional>
#include <utility>

#include "launcher/plan/advice.h"
#include "launcher/pmix/hint.h"
#include "launcher/supervise/answer.h"
#include "runtime/base/call_names.h"
#include "runtime/base/check.h"
#include "runtime/base/event_ring.h"
#include "runtime/base/log.h"
#include "runtime/base/roster.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

constexpr std::uint64_t kDrainMs = 1000;
constexpr std::size_t kEventsShown = 10;
constexpr std::uint64_t kSlowStartMs = 1000;
constexpr std::uint64_t kProgressMs = 250;

timeval Milliseconds(std::uint64_t ms) {
  return {static_cast<time_t>(ms / 1000), static_cast<suseconds_t>(ms % 1000 * 1000)};
}

std::uint64_t NowMs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

bool EndsProcesses(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

}  // namespace

struct Supervisor::Timer {
  Timer(event_base* loop, std::function<void()> on_time)
      : on_time_(std::move(on_time)), event_(event_new(loop, -1, 0, Fire, this)) {}
  ~Timer() { event_free(event_); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  void Set(std::uint64_t ms) {
    const timeval time = Milliseconds(ms);
    event_add(event_, &time);
  }
  void Clear() { event_del(event_); }
  static void Fire(int, short, void* self) { static_cast<Timer*>(self)->on_time_(); }

 private:
  std::function<void()> on_time_;
  event* event_;
};

Supervisor::Supervisor(const Plan& plan, const RunContext& context)
    : plan_(plan),
      context_(context),
      loop_(nullptr),
      verdict_(plan),
      running_(plan.ranks.size(), false) {}

Supervisor::~Supervisor() {
  if (job_ready_ != nullptr) event_free(job_ready_);
  door_.reset();
  job_.reset();
  server_.reset();
  streams_.reset();
  signals_.reset();
  timers_.clear();
  for (const int ring : rings_) close(ring);
  if (loop_ != nullptr) event_base_free(loop_);
}

Status Supervisor::Prepare() {
  if (Status status = param::Load(context_.settings, kSuperviseFields, &params_); !status.ok())
    return status;
  if (Status status = param::Load(context_.settings, pmix::kFields, &pmix_params_); !status.ok())
    return status;
  if (caps_.own_pmix) pmix_params_ = {.start = "on_demand", .roster = "no"};
  OccupyStandardDescriptors();
  SetLogIdentity("mpiexec", plan_.hosts[plan_.ranks.front().host].name);
  rlimit descriptors;
  if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0) {
    open_files_max_ = descriptors.rlim_cur;
    descriptors.rlim_cur = descriptors.rlim_max;
    setrlimit(RLIMIT_NOFILE, &descriptors);
  }
  loop_ = event_base_new();
  if (loop_ == nullptr) return Error(Code::kResource, "cannot make an event loop");
  auto signals = Signals::Watch(loop_, [this](int signal) { OnSignal(signal); });
  if (!signals.ok()) return std::move(signals).status();
  signals_ = *std::move(signals);

  const auto timer = [this](std::function<void()> on_time) {
    timers_.push_back(std::make_unique<Timer>(loop_, std::move(on_time)));
    return timers_.back().get();
  };
  grace_ = timer([this] { SignalAll(SIGKILL); });
  hint_ = timer([this] {
    if (running_count_ > 0)
      streams_->Say("ctrl-C was passed on to the ranks, " + std::to_string(running_count_) +
                    " still run; press it again to kill them");
  });
  drain_ = timer([this] {
    if (job_->Settled()) streams_->CloseSilent();
    drain_->Set(kDrainMs);
    StopIfDone();
  });
  progress_ = timer([this] { ShowProgress(); });
  limit_ = timer([this] {
    const auto running = Running();
    React(verdict_.TimedOut(running));
    if (plan_.options.verbosity == 0) return;
    for (const auto& [rank, last] : running) SayLastEvents(rank);
  });
  if (plan_.options.timeout_ms > 0) limit_->Set(plan_.options.timeout_ms);

  streams_ = std::make_unique<Streams>(loop_, plan_, [this] { StopIfDone(); });
  if (Status status = streams_->Open(caps_.takes_descriptors); !status.ok()) return status;
  auto server = pmix::Server::Make(
      loop_, plan_, pmix_params_, context_.topology,
      {[this](std::uint32_t rank, int code, const std::string& message) {
         if (rank < running_.size())
           React(rank, verdict_.Aborted(rank, code, message, LastOf(rank)));
       },
       [this](const Status& status) { React(verdict_.Failed(std::string(status.message()))); }});
  if (!server.ok()) return std::move(server).status();
  server_ = *std::move(server);
  return caps_.keeps_rings ? Status() : MakeRings();
}

Status Supervisor::MakeRings() {
  for (std::size_t rank = 0; rank < plan_.ranks.size(); ++rank) {
    const int fd = memfd_create("lamina-events", MFD_CLOEXEC);
    if (fd < 0) return SystemError(Code::kResource, errno, "cannot make an event ring");
    rings_.push_back(fd);
    if (ftruncate(fd, static_cast<off_t>(kEventRingBytes)) != 0)
      return SystemError(Code::kResource, errno, "cannot size an event ring");
  }
  return {};
}

// What the ranks of each app share. Another launcher's PMIx, if we run under one, is not theirs.
std::vector<std::vector<std::string>> Supervisor::EnvironmentsOfApps() const {
  std::vector<std::vector<std::string>> environments;
  for (const App& app : plan_.apps) {
    std::vector<std::string> assignments = plan_.environment;
    assignments.insert(assignments.end(), app.environment.begin(), app.environment.end());
    Environment environment(assignments);
    environment.Unset("LAMINA_EVENT_FD");
    environment.Unset(kRosterVariable);
    if (environment.Get("LAMINA_P2P_WAIT_MODE") == "auto")
      environment.Unset("LAMINA_P2P_WAIT_MODE");
    assignments = environment.Assignments();
    std::erase_if(assignments, [](const std::string& assignment) {
      return assignment.starts_with("PMIX_") && !assignment.starts_with("PMIX_MCA_");
    });
    environments.push_back(std::move(assignments));
  }
  return environments;
}

namespace {

const char* NameOf(WaitMode mode) {
  return mode == WaitMode::kOversubscribed ? "oversubscribed" : "exclusive";
}

// What an app's environment does not leave to the plan.
struct Said {
  std::optional<std::string> how_to_wait;
  bool crowd = false;
};

Said WhatIsSaid(const std::vector<std::string>& assignments) {
  const Environment environment(assignments);
  return {environment.Get("LAMINA_P2P_WAIT_MODE"),
          environment.Get("LAMINA_COLLECTIVE_SELECT_CROWD").has_value()};
}

}  // namespace

Status Supervisor::StartRanks(Spawner* spawner) {
  const auto environments = EnvironmentsOfApps();
  std::vector<Said> said;
  for (const auto& environment : environments) said.push_back(WhatIsSaid(environment));
  // Ranks choose algorithms by it, so all are told the same, however unevenly they lie.
  const bool crowded =
      std::any_of(plan_.ranks.begin(), plan_.ranks.end(), [&](const RankPlan& rank) {
        return said[rank.app].how_to_wait.value_or(NameOf(rank.wait_mode)) == "oversubscribed";
      });
  std::vector<RankStart> starts;
  for (const RankPlan& rank : plan_.ranks) {
    const App& app = plan_.apps[rank.app];
    RankStart start;
    start.rank = rank.rank;
    start.host = plan_.hosts[rank.host].name;
    start.argv = app.argv;
    start.environment = environments[rank.app];
    start.own_environment = server_->EnvironmentOf(rank.rank);
    if (!caps_.keeps_rings)
      start.own_environment.push_back("LAMINA_EVENT_FD=" + std::to_string(rings_[rank.rank]));
    if (!said[rank.app].how_to_wait)
      start.own_environment.push_back(std::string("LAMINA_P2P_WAIT_MODE=") +
                                      NameOf(rank.wait_mode));
    if (!said[rank.app].crowd)
      start.own_environment.push_back(std::string("LAMINA_COLLECTIVE_SELECT_CROWD=") +
                                      (crowded ? "4" : "1"));
    start.wdir = app.wdir;
    start.cpuset = rank.cpuset;
    start.stdio = streams_->OfRank(rank.rank);
    start.output = streams_.get();
    start.event_fd = caps_.keeps_rings ? -1 : rings_[rank.rank];
    start.roster_fd = server_->roster();
    start.open_files_max = open_files_max_;
    starts.push_back(std::move(start));
  }
  // Before the ranks, so that whoever sees one of them can ask.
  door_ = control::Door::Open(loop_, [this](std::string_view asked) { return Answer(asked); });
  Result<std::unique_ptr<Job>> job = spawner->Start(plan_, starts);
  if (!job.ok()) return std::move(job).status();
  job_ = *std::move(job);
  streams_->RanksStarted();
  running_.assign(running_.size(), true);
  running_count_ = running_.size();
  job_ready_ = event_new(
      loop_, job_->ReadyFd(), EV_READ | EV_PERSIST,
      [](int, short, void* self) { static_cast<Supervisor*>(self)->OnJob(); }, this);
  event_add(job_ready_, nullptr);
  started_ms_ = NowMs();
  // For a person in front of a terminal, and not where ranks write to it themselves.
  if (!caps_.takes_descriptors && isatty(STDERR_FILENO) != 0) progress_->Set(kSlowStartMs);
  return {};
}

// Questions are those of launcher/control/README.md; to any other there is no answer.
std::string Supervisor::Answer(std::string_view question) {
  if ((question != "job" && question != "ping") || job_ == nullptr) return {};
  JobNews news;
  constexpr std::string_view kName = "PMIX_NAMESPACE=";
  for (const std::string& assignment : server_->EnvironmentOf(0))
    if (assignment.starts_with(kName)) news.name = assignment.substr(kName.size());
  news.age_ms = NowMs() - started_ms_;
  news.running = running_;
  news.hosts = job_->Hosts(question == "ping");
  return DescribeJob(plan_, news);
}

// One line that is written over again, and wiped once every host has answered or something is to
// be said. The cursor stays at its beginning.
void Supervisor::ShowProgress() {
  const std::string text = ended_ ? "" : StartProgress(plan_, job_->Hosts(false));
  WipeProgress();
  if (text.empty()) return;
  const std::string line = "\r\033[Kmpiexec: " + text + "\r";
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
  progress_shown_ = true;
  progress_->Set(kProgressMs);
}

void Supervisor::WipeProgress() {
  if (!std::exchange(progress_shown_, false)) return;
  constexpr std::string_view kWipe = "\r\033[K";
  if (write(STDERR_FILENO, kWipe.data(), kWipe.size()) < 0) return;  // nobody left to see it
}

// While the ranks are being loaded, where it is clear that they will ask for it.
void Supervisor::StartServerIfNeeded() {
  if (pmix_params_.start == "on_demand" || caps_.own_pmix) return;
  for (const App& app : plan_.apps) {
    const std::string& program = app.argv.front();
    if (program.find('/') == std::string::npos) continue;
    const bool relative = program.front() != '/' && !app.wdir.empty();
    if (!pmix::NeedsServer(relative ? app.wdir + "/" + program : program, server_->roster() >= 0))
      continue;
    if (Status status = server_->Start(); !status.ok())
      React(verdict_.Failed(std::string(status.message())));
    return;
  }
}

Result<int> Supervisor::Run() {
  if (plan_.ranks.empty()) return Error(Code::kInvalid, "the plan has no ranks");
  const SpawnerComponent* component = context_.spawners.Find(plan_.options.spawner);
  if (component == nullptr)
    return Error(Code::kNotFound, "there is no spawner \"%s\"", plan_.options.spawner.c_str());
  auto spawner = component->make(SpawnContext{context_.environment, context_.settings});
  if (!spawner.ok()) return std::move(spawner).status();
  caps_ = (*spawner)->caps();
  if (Status status = Prepare(); !status.ok()) return status;
  if (Status status = StartRanks(spawner->get()); !status.ok()) return status;
  OnJob();  // what failed at once
  if (!ended_) StartServerIfNeeded();
  if (!Done()) event_base_dispatch(loop_);
  return verdict_.status();
}

void Supervisor::OnJob() {
  while (std::optional<RankEvent> event = job_->Next()) {
    const std::uint32_t rank = event->rank;
    CHECK(rank < running_.size());
    if (event->kind == RankEvent::Kind::kAborted) {
      React(rank, verdict_.Aborted(rank, event->code, event->why, LastOf(rank)));
      continue;
    }
    if (event->kind == RankEvent::Kind::kTrouble) {
      React(verdict_.Failed(event->why));
      continue;
    }
    if (event->kind == RankEvent::Kind::kCrowded) {
      SayCrowd(rank, event->why);
      continue;
    }
    CHECK(running_[rank]);
    running_[rank] = false;
    --running_count_;
    if (streams_->output_gone()) verdict_.OutputGone();
    React(rank, verdict_.Ended(*event, LastOf(rank), running_count_));
  }
  if (running_count_ == 0 && !ended_) AllEnded();
  StopIfDone();
}

void Supervisor::React(const Reaction& reaction) {
  if (!reaction.message.empty()) {
    WipeProgress();
    streams_->Say(reaction.message);
  }
  if (reaction.end_job) EndJob();
}

void Supervisor::React(std::uint32_t rank, const Reaction& reaction) {
  React(reaction);
  if (!reaction.message.empty() && plan_.options.verbosity > 0) SayLastEvents(rank);
}

std::vector<std::string> Supervisor::LastEventsOf(std::uint32_t rank) const {
  if (const RankTrace* trace = job_ != nullptr ? job_->TraceOf(rank) : nullptr; trace != nullptr) {
    const auto ring = std::make_unique<EventRing>();
    std::uint64_t next = 0;
    for (const std::string& event : trace->events)
      if (event.size() == sizeof(Event) && next < EventRing::kEvents)
        std::memcpy(&ring->events[next++], event.data(), sizeof(Event));
    ring->next = next;
    return LastEvents(*ring, kEventsShown);
  }
  if (rank >= rings_.size()) return {};
  void* memory = mmap(nullptr, kEventRingBytes, PROT_READ, MAP_SHARED, rings_[rank], 0);
  if (memory == MAP_FAILED) return {};
  const auto* ring = static_cast<const EventRing*>(memory);
  std::vector<std::string> events = LastEvents(*ring, kEventsShown);
  munmap(memory, kEventRingBytes);
  return events;
}

void Supervisor::SayLastEvents(std::uint32_t rank) const {
  const std::vector<std::string> events = LastEventsOf(rank);
  const std::string name = "rank " + std::to_string(rank);
  if (events.empty()) return streams_->Say(name + " has recorded no events");
  streams_->Say("the last events of " + name + ", in seconds of its node's clock:");
  for (const std::string& event : events) streams_->Say("  " + event);
}

// As mpiexec says of what the plan foresaw: to a person, or to who has asked.
void Supervisor::SayCrowd(std::uint32_t rank, const std::string& cpus) {
  const bool person = isatty(STDERR_FILENO) != 0;
  if (!person && plan_.options.verbosity == 0) return;
  WipeProgress();
  streams_->Say((person ? "warning: " : "") +
                CrowdText(plan_.hosts[plan_.ranks[rank].host].name, cpus));
}

void Supervisor::EndJob() {
  if (ending_) return;
  ending_ = true;
  // After a ctrl-C all of them have been told already: let them finish what they do about it.
  if (told_to_end_ms_ == 0 || NowMs() - told_to_end_ms_ > params_.grace_ms) {
    SignalAll(SIGTERM);
    SignalAll(SIGCONT);  // one that is stopped would not hear it
  }
  grace_->Set(params_.grace_ms);
}

void Supervisor::SignalAll(int signal) {
  if (job_ == nullptr) return;
  for (std::uint32_t rank = 0; rank < running_.size(); ++rank)
    if (running_[rank]) job_->Signal(rank, signal);
}

void Supervisor::OnSignal(int signal) {
  switch (signal) {
    case SIGTSTP:
      return Suspend();
    case SIGCONT:
      return SignalAll(SIGCONT);
    case SIGINT:
      if (++interrupts_ > 1) {
        verdict_.PassedOn(SIGKILL);
        return SignalAll(SIGKILL);
      }
      if (params_.hint_ms > 0) hint_->Set(params_.hint_ms);
      break;
    default:
      break;
  }
  verdict_.PassedOn(signal);
  SignalAll(signal);
  if (!EndsProcesses(signal)) return;
  told_to_end_ms_ = NowMs();
  SignalAll(SIGCONT);  // one that is stopped would not hear it
}

// ctrl-Z: the ranks stop, then we do; whoever continues us continues them (SIGCONT).
void Supervisor::Suspend() {
  SignalAll(SIGTSTP);
  raise(SIGSTOP);
}

void Supervisor::AllEnded() {
  ended_ = true;
  job_->Sweep();
  grace_->Clear();
  hint_->Clear();
  limit_->Clear();
  drain_->Set(kDrainMs);
  StopIfDone();
}

void Supervisor::StopIfDone() {
  if (streams_ != nullptr) {
    if (streams_->output_gone()) verdict_.OutputGone();
    if (Status status = streams_->Written(); !status.ok())
      React(verdict_.Failed(std::string(status.message()) +
                            (running_count_ > 0 ? "; the job was ended" : "")));
  }
  if (Done()) event_base_loopbreak(loop_);
}

bool Supervisor::Done() const { return ended_ && streams_->finished() && job_->Settled(); }

LastSeen Supervisor::LastOf(std::uint32_t rank) const {
  std::array<std::uint32_t, 4> head{};
  static_assert(offsetof(EventRing, magic) == 0 && offsetof(EventRing, call) == 4 &&
                offsetof(EventRing, inside) == 8 && offsetof(EventRing, phase) == 12);
  LastSeen last;
  const RankTrace* trace = job_ != nullptr ? job_->TraceOf(rank) : nullptr;
  if (trace != nullptr && trace->head.size() == sizeof head)
    std::memcpy(head.data(), trace->head.data(), sizeof head);
  else if (rank < rings_.size() && pread(rings_[rank], head.data(), sizeof head, 0) < 0)
    return last;
  if (head[0] != EventRing::kMagic) return last;
  if (head[1] < static_cast<std::uint32_t>(Call::kCount))
    last.call = NameOf(static_cast<Call>(head[1]));
  last.inside = head[2] % 2 == 1;
  last.phase = static_cast<Phase>(head[3]);
  return last;
}

std::vector<std::pair<std::uint32_t, LastSeen>> Supervisor::Running() const {
  std::vector<std::pair<std::uint32_t, LastSeen>> running;
  for (std::uint32_t rank = 0; rank < running_.size(); ++rank)
    if (running_[rank]) running.emplace_back(rank, LastOf(rank));
  return running;
}

}  // namespace lamina::launcher
