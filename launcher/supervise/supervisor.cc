// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/supervisor.h"

#include <event2/event.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <utility>

#include "checkpoint/store/folder.h"
#include "launcher/control/ask.h"
#include "launcher/debugger/process_table.h"
#include "launcher/plan/advice.h"
#include "launcher/pmix/hint.h"
#include "launcher/supervise/answer.h"
#include "launcher/supervise/params.h"
#include "launcher/supervise/rank_environment.h"
#include "launcher/supervise/tie.h"
#include "launcher/supervise/tuning.h"
#include "runtime/base/check.h"
#include "runtime/base/clock.h"
#include "runtime/base/dynamic_words.h"
#include "runtime/base/event_ring.h"
#include "runtime/base/log.h"
#include "runtime/base/profile_table.h"
#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

// What comes before the name of a file, in hexadecimal digits.
constexpr std::string_view kProfileWord = "profile ";

// Lets this process open as many files as it is allowed to. Returns the limit it had before, which
// the ranks get; 0 if it is not known.
std::uint64_t RaiseOpenFilesMax() {
  rlimit descriptors;
  if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return 0;
  const std::uint64_t before = descriptors.rlim_cur;
  descriptors.rlim_cur = descriptors.rlim_max;
  setrlimit(RLIMIT_NOFILE, &descriptors);
  return before;
}

}  // namespace

Supervisor::Supervisor(const Plan& plan, const RunContext& context)
    : plan_(plan),
      context_(context),
      loop_(nullptr),
      verdict_(plan, context.tie != nullptr),
      hang_watch_(plan.options.hang_ms),
      hosts_(plan.hosts, plan.options.allocation),
      running_(plan.ranks.size(), false) {}

Supervisor::~Supervisor() {
  if (job_ready_ != nullptr) event_free(job_ready_);
  if (context_.tie != nullptr) context_.tie->Unwatch();
  question_socket_.reset();
  rank_questions_.reset();
  further_.reset();
  job_.reset();
  server_.reset();
  saving_.reset();
  save_again_.reset();
  ask_clocks_.reset();
  look_for_hang_.reset();
  checkpoints_.reset();
  streams_.reset();
  signals_.reset();
  progress_.reset();
  limits_.reset();
  if (loop_ != nullptr) event_base_free(loop_);
}

Status Supervisor::Prepare() {
  SuperviseParams params;
  if (Status status = param::Load(context_.settings, kSuperviseFields, &params); !status.ok())
    return status;
  if (Status status = param::Load(context_.settings, pmix::kFields, &pmix_params_); !status.ok())
    return status;
  if (caps_.own_pmix) pmix_params_ = {.start = "on_demand", .roster = "no", .node_memory = false};
  OccupyStandardDescriptors();
  SetLogIdentity("mpiexec", plan_.hosts[plan_.ranks.front().host].name);
  open_files_max_ = RaiseOpenFilesMax();
  loop_ = event_base_new();
  if (loop_ == nullptr) return Error(Code::kResource, "cannot make an event loop");
  auto signals = Signals::Watch(loop_, [this](int signal) { OnSignal(signal); });
  if (!signals.ok()) return std::move(signals).status();
  signals_ = *std::move(signals);

  further_ = std::make_unique<Further>(loop_, context_.further_words,
                                       Further::Outlets{[this] { return FurtherHosts(); },
                                                        [this] {
                                                          EndIfAllEnded();
                                                          StopIfDone();
                                                        }});
  rank_questions_ = std::make_unique<RankQuestions>(
      loop_, *further_, hosts_, context_.tie != nullptr ? context_.tie->launcher() : 0,
      context_.settings,
      RankQuestions::Outlets{
          .linked = [this](int status) { React(verdict_.Linked(status)); },
          .linked_late = [this](int status) { verdict_.LinkedLate(status); },
          .abandoned = [this] { React(verdict_.Abandoned()); },
          .has_failed = [this] { return verdict_.decided() || verdict_.left_early(); }});
  if (context_.tie != nullptr) {
    context_.tie->SayPlaces(plan_);
    context_.tie->Watch(loop_, [this](const std::string& why) {
      React(why.empty() ? verdict_.Orphaned() : verdict_.Failed(why + "; the job was ended"));
    });
  }
  limits_ = std::make_unique<Limits>(loop_, params, plan_.options.timeout_ms,
                                     Limits::Moments{.timed_out = [this] { OnTimeout(); },
                                                     .hint = [this] { SayHint(); },
                                                     .grace_over =
                                                         [this] {
                                                           SignalAll(SIGKILL);
                                                           if (ends_spawned_)
                                                             further_->Signal(SIGKILL);
                                                         },
                                                     .drain =
                                                         [this] {
                                                           if (job_->Settled())
                                                             streams_->CloseSilent();
                                                           StopIfDone();
                                                         }});
  progress_ = std::make_unique<ProgressLine>(
      loop_,
      [this](std::size_t names_max) {
        return ended_ ? "" : StartProgress(plan_, job_->Hosts(Ping::kNo), names_max);
      },
      [this](const std::string& text) { streams_->Say(text); });
  streams_ = std::make_unique<Streams>(loop_, plan_, [this] { StopIfDone(); });
  if (Status status = OpenRestored(); !status.ok()) return status;
  auto server = pmix::Server::Make(
      loop_, plan_, pmix_params_, context_.topology,
      {[this](std::uint32_t rank, int code, const std::string& message) {
         if (rank < running_.size())
           React(rank, verdict_.Aborted(rank, code, message, LastOf(rank)));
       },
       [this](const Status& status) { React(verdict_.Failed(std::string(status.message()))); }});
  if (!server.ok()) return std::move(server).status();
  server_ = *std::move(server);
  if (!caps_.keeps_rings)
    if (Status status = rings_.Make(plan_.ranks.size(), plan_.options.profiled,
                                    plan_.options.traced ? plan_.options.trace_bytes : 0,
                                    plan_.options.trace_keeps_first);
        !status.ok())
      return status;
  if (plan_.options.traced) {
    Result<std::unique_ptr<Tracing>> tracing = Tracing::Make(plan_);
    if (!tracing.ok()) return std::move(tracing).status();
    tracing_ = *std::move(tracing);
    ask_clocks_ = std::make_unique<Timer>(loop_, [this] { AskClocks(); });
  }
  if (plan_.options.profiled) {
    Result<std::unique_ptr<Profiling>> profiling = Profiling::Make(plan_);
    if (!profiling.ok()) return std::move(profiling).status();
    profiling_ = *std::move(profiling);
  }
  if (Status status = PrepareSaving(); !status.ok()) return status;
  return OpenStreams();
}

// A state that does not fit has been refused before, because output is cut now.
Status Supervisor::OpenStreams() {
  Streams::Give give =
      plan_.options.checkpoint.outside ? Streams::Give::kPipes : Streams::Give::kOurs;
  if (!caps_.takes_descriptors) give = Streams::Give::kNothing;
  return streams_->Open(
      give, restored_ ? restored_->manifest.streams : std::vector<checkpoint::Manifest::Stream>(),
      restored_ ? KeptInput(*restored_) : std::vector<std::string>());
}

// The state has been verified before; what is opened here is held until its ranks are there.
Status Supervisor::OpenRestored() {
  const CheckpointOptions& options = plan_.options.checkpoint;
  if (!options.outside || Index(options.restored) == 0) return {};
  Result<Descriptor> directory = checkpoint::OpenStore(options.restored_in);
  if (!directory.ok()) return std::move(directory).status();
  Result<checkpoint::Opened> opened =
      checkpoint::OpenGeneration(directory->value(), options.restored);
  if (!opened.ok()) return std::move(opened).status();
  restored_ = *std::move(opened);
  return {};
}

// A job that nobody here can save runs as it would have without being asked for that.
Status Supervisor::PrepareSaving() {
  const CheckpointOptions& options = plan_.options.checkpoint;
  if (options.directory.empty()) return {};
  if (!caps_.takes_descriptors && !options.outside)
    return Error(Code::kUnsupported,
                 "--checkpoint-dir without --checkpoint: programs that save their state themselves "
                 "cannot run on other hosts yet");
  const auto say = [this](const std::string& message) { streams_->Say(message); };
  const auto stored = [this] { StopIfDone(); };
  if (!options.outside) {
    CheckpointParams params;
    if (Status status = param::Load(context_.settings, kCheckpointFields, &params); !status.ok())
      return status;
    auto saving = Saving::Make(loop_, plan_, server_->name(), {params.local, params.every},
                               context_.claim, {say, stored});
    if (!saving.ok()) return std::move(saving).status();
    saving_ = *std::move(saving);
    return {};
  }
  Status status = PrepareCheckpoints();
  if (status.code() == Code::kExists) return status;  // another job has the directory
  unfit_ = checkpoints_ == nullptr && restored_.has_value();
  if (unfit_)
    return std::move(status).Within(
        Format("generation %u cannot be restarted", Index(options.restored)));
  if (status.code() == Code::kNotFound) return status;  // the user's own word
  if (!status.ok() && options.required)
    return std::move(status).Within("the processes of this job cannot be saved");
  if (!status.ok()) say("warning: --checkpoint: " + std::string(status.message()));
  if (checkpoints_ == nullptr && context_.claim != nullptr) context_.claim->Release();
  if (checkpoints_ == nullptr || options.every_ms == 0) return {};
  save_again_ = std::make_unique<Timer>(loop_, [this] { SaveUnasked(Checkpoints::Then::kGoOn); });
  save_again_->Set(options.every_ms);
  return {};
}

Status Supervisor::PrepareCheckpoints() {
  CheckpointParams params;
  if (Status status = param::Load(context_.settings, kCheckpointFields, &params); !status.ok())
    return status;
  if (context_.engines == nullptr) return Error(Code::kUnsupported, "there are no engines");
  Result<NamedEngine> engine =
      ChooseEngine(*context_.engines, {context_.environment, context_.settings},
                   restored_ ? restored_->manifest.engine : params.engine);
  if (!engine.ok()) return std::move(engine).status();
  Checkpoints::Options options;
  options.job = server_->name();
  options.stop_ms = params.stop_ms;
  options.here = caps_.takes_descriptors;
  options.roster = server_->roster();
  options.shared = {server_->roster(), server_->node_memory()};
  for (std::uint32_t rank = 0; rank < plan_.ranks.size(); ++rank)
    options.shared.push_back(rings_.Descriptor(rank));
  options.revived = restored_ ? &*restored_ : nullptr;
  options.claim = context_.claim;
  options.local = {params.local, params.every};
  auto checkpoints = Checkpoints::Make(
      loop_, plan_, options, *std::move(engine),
      {[this](const std::string& message) { streams_->Say(message); },
       [this] {
         EndIfAllEnded();
         StopIfDone();
       },
       [this](const std::string& why) { React(verdict_.Failed(why + "; the job was ended")); },
       [this](const std::string& sentence) {
         (move_ ? saved_to_move_ : saved_to_end_) = true;
         SignalAll(SIGKILL);
         React(verdict_.SavedToEnd(move_ ? "" : sentence + "; the job was ended"));
       },
       [this](std::uint32_t rank) { return job_->ProcessOf(rank); },
       [this](std::uint32_t rank) { return streams_->GivenTo(rank); },
       [this](std::span<const std::uint64_t> read) { return streams_->Cut(read); },
       [this](std::uint32_t rank, std::uint64_t read) { return streams_->Unread(rank, read); }});
  if (!checkpoints.ok()) return std::move(checkpoints).status();
  checkpoints_ = *std::move(checkpoints);
  return {};
}

// What comes of it is said only if it fails.
void Supervisor::SaveUnasked(Checkpoints::Then then) {
  if (save_again_ != nullptr) save_again_->Clear();
  checkpoints_->Take(then, [this](bool saved, const std::string& sentence) {
    if (!saved && running_count_ > 0) streams_->Say("the job was not saved: " + sentence);
    if (save_again_ != nullptr) save_again_->Set(plan_.options.checkpoint.every_ms);
  });
}

void Supervisor::Equip(RankStart* start) const {
  for (std::string& assignment : server_->EnvironmentOf(start->rank))
    start->own_environment.push_back(std::move(assignment));
  start->event_fd = rings_.Descriptor(start->rank);
  if (start->event_fd >= 0)
    start->own_environment.push_back("LAMINA_EVENT_FD=" + std::to_string(start->event_fd));
  // Ranks of another PMIx server may be anywhere.
  if (question_socket_ != nullptr && !caps_.own_pmix)
    start->own_environment.push_back(std::string(kDoorVariable) + "=" +
                                     control::NameOf(geteuid(), getpid()));
  start->roster_fd = server_->roster();
  start->node_memory_fd = server_->node_memory();
  if (saving_ != nullptr) saving_->Equip(start);
  start->stdio = streams_->OfRank(start->rank);
  start->output = streams_.get();
  if (checkpoints_ != nullptr) checkpoints_->Equip(start);
  start->open_files_max = open_files_max_;
  start->held = held_;
}

// That may take long, so whoever wants to end the job is heard meanwhile.
Status Supervisor::Revive(std::vector<RankStart>* starts) {
  std::optional<Status> outcome;
  if (Status status = checkpoints_->BeginToRevive(
          *restored_, *starts, [&outcome](Status revived) { outcome = std::move(revived); });
      !status.ok())
    return status;
  while (!outcome && !ending_) event_base_loop(loop_, EVLOOP_ONCE);
  if (outcome) return *std::move(outcome);
  checkpoints_->GiveUpReviving();
  return Error(Code::kAborted, "the job was ended while ranks were being revived");
}

Status Supervisor::StartRanks(Spawner* spawner) {
  // The socket is there before the ranks, so that whoever sees one of them can ask.
  question_socket_ = control::QuestionSocket::Open(
      loop_, [this](std::string_view asked, const control::QuestionSocket::Reply& reply,
                    const control::QuestionSocket::Keep& keep) { Answer(asked, reply, keep); });
  const RankEnvironments environments(plan_);
  std::vector<RankStart> starts = environments.Starts();
  held_ = IsBeingDebugged();
  for (RankStart& start : starts) Equip(&start);
  if (Status status = debugging_.Equip(plan_, caps_.takes_descriptors, &starts); !status.ok())
    return status;
  if (restored_)
    if (Status status = Revive(&starts); !status.ok()) {
      unfit_ = !ending_;
      return std::move(status).Within(
          Format("generation %u cannot be restarted", Index(restored_->manifest.epoch)));
    }
  Result<std::unique_ptr<Job>> job = spawner->Start(plan_, starts);
  if (!job.ok()) return std::move(job).status();
  job_ = *std::move(job);
  streams_->RanksStarted();
  debugging_.RanksStarted(*job_);
  if (ask_clocks_ != nullptr && !caps_.takes_descriptors) ask_clocks_->Set(kAskClocksMs);
  if (saving_ != nullptr) saving_->RanksStarted();
  if (plan_.options.hang_ms > 0) {
    look_for_hang_ = std::make_unique<Timer>(loop_, [this] { LookForHang(); });
    look_for_hang_->Set(kLookForHangMs);
  }
  running_.assign(running_.size(), true);
  running_count_ = running_.size();
  for (const int signal : std::exchange(held_signals_, {})) SignalAll(signal);
  job_ready_ = event_new(
      loop_, job_->ReadyFd(), EV_READ | EV_PERSIST,
      [](int, short, void* self) { static_cast<Supervisor*>(self)->OnJob(); }, this);
  event_add(job_ready_, nullptr);
  started_ms_ = MonotonicMs();
  if (checkpoints_ != nullptr) checkpoints_->RanksStarted();
  // The line is for a person in front of a terminal, unless ranks write there themselves.
  if (!caps_.takes_descriptors && !plan_.options.quiet)
    progress_->Begin(isatty(STDERR_FILENO) != 0);
  return {};
}

// Answers the questions of launcher/control/README.md; any other gets no answer.
void Supervisor::Answer(std::string_view question, const control::QuestionSocket::Reply& reply,
                        const control::QuestionSocket::Keep& keep) {
  if (const std::vector<std::string_view> words = Split(question, ' ');
      words.front() == "checkpoint")
    return AnswerCheckpoint(std::span(words).subspan(1), reply);
  if (rank_questions_->Answer(question, reply, keep)) return;
  if (question.starts_with("profile") && job_ != nullptr)
    return reply(
        ProfileNow(FromHex(question.substr(std::min(question.size(), kProfileWord.size())))));
  if ((question == "why" || question == "why queues") && job_ != nullptr)
    return reply(AnswerWhy(question != "why"));
  if (question == "usage" && job_ != nullptr) return reply(AnswerUsage());
  if ((question != "job" && question != "ping" && question != "ping usage") || job_ == nullptr)
    return reply({});
  JobNews news;
  news.name = server_->name();
  if (context_.tie != nullptr) news.parent = context_.tie->parent();
  news.age_ms = MonotonicMs() - started_ms_;
  news.running = running_;
  news.hosts = job_->Hosts(question == "job"    ? Ping::kNo
                           : question == "ping" ? Ping::kYes
                                                : Ping::kWithUsage);
  std::vector<LocksSeen> locks(running_.size());
  for (std::uint32_t rank = 0; rank < locks.size(); ++rank)
    if (running_[rank]) locks[rank] = rings_.LocksOf(rank, TraceOf(rank));
  news.locks = LockWaits(locks);
  reply(DescribeJob(plan_, news));
}

// That waits while ranks are being revived, as it does while they are saved.
void Supervisor::AnswerCheckpoint(std::span<const std::string_view> words,
                                  const control::QuestionSocket::Reply& reply) {
  const auto answer = [reply](bool saved, const std::string& sentence) {
    reply(std::string(saved ? "saved yes" : "saved no") + "\nsentence " + sentence + "\nend\n");
  };
  const bool moves = words.size() == 3 && words[0] == "move";
  const bool ends = moves || (words.size() == 1 && words[0] == "end");
  if (!words.empty() && !ends) return reply({});
  if (checkpoints_ == nullptr)
    return answer(false, plan_.options.checkpoint.outside
                             ? "no checkpoint engine works here; `lamina info checkpoint` says why"
                             : "the job was started without --checkpoint");
  if (moves)
    if (Status status = PrepareToMove(words[1], words[2]); !status.ok())
      return answer(false, std::string(status.message()));
  checkpoints_->Take(ends ? Checkpoints::Then::kEnd : Checkpoints::Then::kGoOn,
                     [this, answer, moves](bool saved, const std::string& sentence) {
                       if (moves && !saved) move_.reset();
                       answer(saved, sentence);
                     });
}

Status Supervisor::PrepareToMove(std::string_view from, std::string_view to) {
  const auto has_ranks = [this](std::string_view name) {
    return std::any_of(plan_.ranks.begin(), plan_.ranks.end(),
                       [&](const RankPlan& rank) { return plan_.hosts[rank.host].name == name; });
  };
  if (context_.tie != nullptr)
    return Error(Code::kUnsupported, "a job that another one has spawned cannot be moved");
  if (move_) return Error(Code::kExists, "the job is being moved already");
  if (!has_ranks(from))
    return Error(Code::kNotFound, "no rank of the job is on %s", std::string(from).c_str());
  if (has_ranks(to))
    return Error(Code::kExists, "ranks of the job are on %s already", std::string(to).c_str());
  move_ = Loss::Move{std::string(from), std::string(to)};
  return {};
}

Loss Supervisor::loss() const {
  Loss loss = verdict_.loss();
  if (saved_to_move_) loss.move = move_;
  return loss;
}

// Counts who runs where now, in this job and in those that it has spawned.
std::string Supervisor::FurtherHosts() const {
  RanksByHost ranks;
  for (const RankPlan& rank : plan_.ranks)
    if (running_[rank.rank]) ++ranks[plan_.hosts[rank.host].name];
  further_->Count(&ranks);
  return hosts_.Text(std::move(ranks));
}

// Starts the server while the ranks are being loaded, if it is clear that they will need it.
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
  if (Status status = StartRanks(spawner->get()); !status.ok()) {
    if (told_to_end_ == 0) return status;
    streams_->Say("the job was ended while its ranks were being revived");
    return 128 + told_to_end_;
  }
  OnJob();  // some ranks may have failed at once
  if (!ended_) StartServerIfNeeded();
  if (!Done()) event_base_dispatch(loop_);
  if (profiling_ != nullptr) WriteProfile();
  if (tracing_ != nullptr) SayWhatIsWritten(tracing_->Finish());
  return verdict_.status() == 0 && !is_written_ ? 1 : verdict_.status();
}

void Supervisor::PublishOnce() {
  if (published_ || job_ == nullptr || running_count_ == 0) return;
  std::vector<DebuggedProcess> processes;
  for (const RankPlan& rank : plan_.ranks) {
    const std::int64_t process = job_->ProcessThere(rank.rank);
    if (process == 0) return;
    processes.push_back({plan_.hosts[rank.host].name, plan_.apps[rank.app].argv.front(), process});
  }
  published_ = true;
  PublishProcesses(processes);
  if (held_) SignalAll(SIGCONT);
}

// The quicker an answer, the more it tells, so hosts are asked again and again.
void Supervisor::AskClocks() {
  if (ended_) return;
  static_cast<void>(job_->Hosts(Ping::kYes));
  ask_clocks_->Set(kAskClocksMs);
}

// Writes the profile of a job that runs, for whoever asks.
std::string Supervisor::ProfileNow(const std::string& file) {
  if (profiling_ == nullptr) return "refused the job was started without --profile\nend\n";
  for (std::uint32_t rank = 0; rank < running_.size(); ++rank)
    if (running_[rank]) TakeProfile(rank);
  profiling_->SetSpawned(further_->started());
  const Result<std::string> line =
      profiling_->Write(file, "the job goes on", MonotonicMs() - started_ms_);
  return (line.ok() ? "say " + *line : "refused " + std::string(line.status().message())) +
         "\nend\n";
}

void Supervisor::TakeProfile(std::uint32_t rank) {
  const RankTrace* trace = TraceOf(rank);
  profiling_->Take(rank, trace != nullptr ? trace->profile : CopyProfile(rings_.Descriptor(rank)));
}

// All that the ranks wrote is written by now.
void Supervisor::WriteProfile() {
  profiling_->SetSpawned(further_->started());
  const int status = verdict_.status();
  SayWhatIsWritten(
      profiling_->Write("", status == 0 ? "all ranks returned 0" : Format("exit status %d", status),
                        MonotonicMs() - started_ms_));
}

// Tells of a file about the job, or why it is not there, which makes mpiexec fail.
void Supervisor::SayWhatIsWritten(const Result<std::string>& line) {
  is_written_ = is_written_ && line.ok();
  streams_->Say(line.ok() ? *line : std::string(line.status().message()));
}

void Supervisor::OnJob() {
  while (std::optional<RankEvent> event = job_->Next()) {
    const std::uint32_t rank = event->rank;
    CHECK(rank < running_.size());
    if (event->kind == RankEvent::Kind::kAborted)
      React(rank, verdict_.Aborted(rank, event->code, event->why, LastOf(rank)));
    else if (event->kind == RankEvent::Kind::kTrouble)
      React(verdict_.Failed(event->why));
    else if (event->kind == RankEvent::Kind::kHostLost)
      HostLost(*event);
    else if (event->kind == RankEvent::Kind::kSharesCpus)
      SaySharing(rank, event->why);
    else
      OnEnd(*event);
    if (event->kind == RankEvent::Kind::kLost && checkpoints_ != nullptr)
      checkpoints_->HostLost(rank);
  }
  PublishOnce();
  EndIfAllEnded();
  StopIfDone();
}

// True if the rank was to meet those who have spawned this job, which the others cannot do alone.
bool Supervisor::IsMissed(const RankEvent& event) const {
  if (context_.tie == nullptr || running_count_ == 0 || event.kind != RankEvent::Kind::kExited ||
      event.code != 0 || LastOf(event.rank).phase != Phase::kStarted)
    return false;
  const std::string parent = std::string(kParentVariable) + "=";
  return std::ranges::any_of(plan_.environment,
                             [&](const std::string& each) { return each.starts_with(parent); }) &&
         context_.tie->IsUnmet();
}

void Supervisor::HostLost(const RankEvent& event) {
  // It harms nobody, and a job that ends has said why.
  if (!verdict_.decided() && !event.why.empty())
    Log(Level::kWarn, "shepherd", "%s", event.why.c_str());
  verdict_.HostLost(event.rank);
  if (checkpoints_ != nullptr) checkpoints_->HostLost(event.rank);
}

void Supervisor::OnEnd(const RankEvent& event) {
  CHECK(running_[event.rank]);
  running_[event.rank] = false;
  --running_count_;
  if (checkpoints_ != nullptr) checkpoints_->RankEnded(event.rank);
  if (profiling_ != nullptr) TakeProfile(event.rank);
  if (tracing_ != nullptr) {
    const RankTrace* trace = TraceOf(event.rank);
    tracing_->Take(
        event.rank,
        trace != nullptr ? DecodeTrace(trace->timeline) : CopyTrace(rings_.Descriptor(event.rank)),
        job_->Hosts(Ping::kNo));
  }
  if (streams_->output_gone()) verdict_.OutputGone();
  if (IsMissed(event)) return React(verdict_.NeverCame(event.rank));
  React(event.rank, verdict_.Ended(event, LastOf(event.rank), running_count_));
  if (verdict_.left_early()) rank_questions_->TellForsaken();
}

void Supervisor::React(const Reaction& reaction) {
  if (!reaction.message.empty()) {
    progress_->Wipe();
    if (context_.tie == nullptr || !context_.tie->SayWhy(reaction.message))
      streams_->Say(reaction.message);
  }
  if (!reaction.end_job) return;
  if (context_.tie != nullptr) context_.tie->EndParent(verdict_.status());
  rank_questions_->TellForsaken();
  EndJob();
}

void Supervisor::React(std::uint32_t rank, const Reaction& reaction) {
  React(reaction);
  if (!reaction.message.empty() && plan_.options.verbosity > 0) SayLastEvents(rank);
}

void Supervisor::SayLastEvents(std::uint32_t rank) const {
  const std::vector<std::string> events = rings_.LastEventsOf(rank, TraceOf(rank));
  const std::string name = "rank " + std::to_string(rank);
  if (events.empty()) return streams_->Say(name + " has recorded no events");
  streams_->Say("the last events of " + name + ", in seconds of its node's clock:");
  for (const std::string& event : events) streams_->Say("  " + event);
}

// This is said only to a person or with -v, as mpiexec does where the plan foresaw the sharing.
void Supervisor::SaySharing(std::uint32_t rank, const std::string& cpus) {
  const bool person = isatty(STDERR_FILENO) != 0;
  if (plan_.options.quiet || (!person && plan_.options.verbosity == 0)) return;
  progress_->Wipe();
  streams_->Say((person ? "warning: " : "") +
                SharingText(plan_.hosts[plan_.ranks[rank].host].name, cpus));
}

void Supervisor::SayHint() {
  if (running_count_ == 0 || plan_.options.quiet) return;
  streams_->Say("ctrl-C was passed on to the ranks, " + std::to_string(running_count_) +
                " still run; press it again to kill them");
}

void Supervisor::OnTimeout() {
  const auto running = Running();
  const std::vector<std::string> reasons = WhyItHangs();
  const bool first = !verdict_.decided();
  RanksByHost spawned;
  further_->Count(&spawned);
  std::size_t others = 0;
  for (const auto& [host, ranks] : spawned) others += ranks;
  React(verdict_.TimedOut(running, others, others == 0 && !further_->empty()));
  if (first) {
    for (const std::string& reason : reasons) streams_->Say("  " + reason);
    for (const std::string& spawned : further_->Describe()) streams_->Say("  " + spawned);
  }
  EndSpawned();
  if (plan_.options.verbosity == 0 && !plan_.options.events_at_timeout) return;
  for (const auto& [rank, last] : running) SayLastEvents(rank);
}

// The jobs that this one has spawned end as well, also those that share no fate with it.
void Supervisor::EndSpawned() {
  ends_spawned_ = true;
  further_->Signal(SIGTERM);
  limits_->EndingBegins();
}

void Supervisor::EndJob() {
  if (ending_) return;
  ending_ = true;
  // After a ctrl-C all of them have been told already, so they may finish what they do about it.
  if (!limits_->StillEnding()) {
    SignalAll(SIGTERM);
    SignalAll(SIGCONT);  // a stopped rank would not hear it
  }
  limits_->EndingBegins();
}

void Supervisor::SignalAll(int signal) {
  if (job_ == nullptr) return held_signals_.push_back(signal);
  for (std::uint32_t rank = 0; rank < running_.size(); ++rank)
    if (running_[rank]) job_->Signal(rank, signal);
}

void Supervisor::OnSignal(int signal) {
  const CheckpointOptions& options = plan_.options.checkpoint;
  if (checkpoints_ != nullptr && signal == options.signal)
    return SaveUnasked(options.signal_ends ? Checkpoints::Then::kEnd : Checkpoints::Then::kGoOn);
  // Nobody else is left who would end this job.
  if (signal == SIGTERM && context_.tie != nullptr && context_.tie->HasLostLauncher()) {
    EndSpawned();
    return React(verdict_.Orphaned());
  }
  further_->Signal(signal);
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
      limits_->Interrupted();
      break;
    default:
      break;
  }
  verdict_.PassedOn(signal);
  SignalAll(signal);
  if (!EndsProcesses(signal)) return;
  if (job_ == nullptr) {  // no rank is there yet
    ending_ = true;
    told_to_end_ = signal;
  }
  limits_->ToldToEnd();
  SignalAll(SIGCONT);  // a stopped rank would not hear it
}

// On ctrl-Z the ranks stop and then we do; whoever continues us continues them by SIGCONT.
void Supervisor::Suspend() {
  SignalAll(SIGTSTP);
  raise(SIGSTOP);
}

// What further jobs have started is not swept away with the ranks that have spawned them.
void Supervisor::EndIfAllEnded() {
  if (checkpoints_ != nullptr && checkpoints_->IsStoringApart()) return;
  if (running_count_ == 0 && further_->empty() && job_ != nullptr && !ended_) AllEnded();
}

void Supervisor::AllEnded() {
  ended_ = true;
  if (context_.tie != nullptr && !verdict_.decided() && verdict_.status() != 0)
    context_.tie->TellParent(verdict_.status());
  job_->Sweep();
  if (saving_ != nullptr) saving_->RanksEnded();
  limits_->DrainingBegins();
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

bool Supervisor::Done() const {
  return ended_ && streams_->finished() && job_->Settled() &&
         (saving_ == nullptr || !saving_->IsStoring()) &&
         (checkpoints_ == nullptr || !checkpoints_->IsStoring());
}

const RankTrace* Supervisor::TraceOf(std::uint32_t rank) const {
  return job_ != nullptr ? job_->TraceOf(rank) : nullptr;
}

LastSeen Supervisor::LastOf(std::uint32_t rank) const { return rings_.LastOf(rank, TraceOf(rank)); }

std::vector<std::pair<std::uint32_t, LastSeen>> Supervisor::Running() const {
  std::vector<std::pair<std::uint32_t, LastSeen>> running;
  for (std::uint32_t rank = 0; rank < running_.size(); ++rank)
    if (running_[rank]) running.emplace_back(rank, LastOf(rank));
  return running;
}

}  // namespace lamina::launcher
