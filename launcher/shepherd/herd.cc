// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/shepherd/herd.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "checkpoint/store/folder.h"
#include "checkpoint/store/listing.h"
#include "launcher/plan/rank_variables.h"
#include "launcher/plan/sharing_words.h"
#include "launcher/pmix/hint.h"
#include "launcher/shepherd/ring_copy.h"
#include "launcher/shepherd/shepherds.h"
#include "launcher/shepherd/tuning.h"
#include "launcher/usage/usage.h"
#include "runtime/base/anonymous_file.h"
#include "runtime/base/clock.h"
#include "runtime/base/dynamic_words.h"
#include "runtime/base/event_ring.h"
#include "runtime/base/profile_table.h"
#include "runtime/base/text.h"
#include "runtime/base/trace_table.h"

namespace lamina::launcher {
namespace {

RankEvent KilledBy(int signal, std::uint32_t rank) {
  RankEvent event;
  event.kind = RankEvent::Kind::kKilled;
  event.rank = rank;
  event.signal = signal;
  return event;
}

}  // namespace

Herd::Sheep::~Sheep() {
  if (ring >= 0) close(ring);
  CloseFds();
}

void Herd::Sheep::CloseFds() {
  for (int& fd : fds)
    if (fd >= 0) close(std::exchange(fd, -1));
}

Herd::Herd(const wire::Orders& orders, const ShepherdContext& context, Poller* poller,
           event_base* loop, Outlets outlets)
    : orders_(orders),
      context_(context),
      poller_(poller),
      loop_(loop),
      outlets_(std::move(outlets)) {
  for (const App& app : orders_.plan.apps)
    directories_.push_back(app.wdir.empty()            ? orders_.directory
                           : app.wdir.starts_with('/') ? app.wdir
                                                       : orders_.directory + "/" + app.wdir);
}

Herd::~Herd() {
  job_.reset();
  store_.reset();
  saving_.reset();
  door_.reset();
  server_.reset();
}

Status Herd::MakeRank(const wire::RankOrder& order) {
  Sheep& sheep = sheep_[order.rank];
  if (sheep.ring >= 0) return Error(Code::kInvalid, "rank %u was ordered twice", order.rank);
  Result<int> ring = MakeAnonymousFile("lamina-events");
  if (!ring.ok()) return std::move(ring).status().Within("cannot make an event ring");
  sheep.ring = *ring;
  if (!SizeRingFile(sheep.ring, orders_.profiled, orders_.trace_bytes, orders_.trace_keeps_first))
    return SystemError(Code::kResource, errno, "cannot size an event ring");
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
    sheep.input = std::make_unique<Sink>(poller_, own, [this, rank](std::uint32_t bytes) {
      outlets_.send(wire::Kind::kTaken, Encode(wire::Credit{rank, 0, bytes}));
    });
    outlets_.send(wire::Kind::kTaken, Encode(wire::Credit{rank, 0, kWindowBytes}));
  } else {
    sheep.fds[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
  }
  for (const std::uint8_t which : {std::uint8_t{1}, std::uint8_t{2}}) {
    if (Status status = open_pipe(&sheep.fds[which], &own, false); !status.ok()) return status;
    sheep.output[which - 1u] = std::make_unique<Source>(
        poller_, own, kWindowBytes, [this, rank, which](std::string_view piece) {
          outlets_.send(wire::Kind::kOutput, Encode(wire::Piece{rank, which, piece}));
          if (piece.empty()) EndIfDone();
        });
  }
  return {};
}

// The launcher knows how many slots this host was said to have, but not how many CPUs there are.
Sharing Herd::SharingHere() const {
  return orders_.ranks.size() > machine_.cpus ? Sharing::kShared : Sharing::kExclusive;
}

std::vector<RankStart> Herd::Starts(Sharing in_job) const {
  const Sharing here = SharingHere();
  const RankVariables variables(orders_.plan);
  std::vector<RankStart> starts;
  for (const wire::RankOrder& order : orders_.ranks) {
    const std::uint32_t app = orders_.plan.ranks[order.rank].app;
    const Sheep& sheep = sheep_.at(order.rank);
    if (sheep.cancelled) continue;
    RankStart start;
    start.rank = order.rank;
    start.host = orders_.plan.hosts[orders_.host].name;
    start.argv = orders_.plan.apps[app].argv;
    start.environment = orders_.plan.apps[app].environment;
    start.own_environment = server_->EnvironmentOf(order.rank);
    start.own_environment.push_back("LAMINA_EVENT_FD=" + std::to_string(sheep.ring));
    if (door_ != nullptr)
      start.own_environment.push_back(std::string(kDoorVariable) + "=" + door_->name());
    start.own_environment.insert(start.own_environment.end(), order.own_environment.begin(),
                                 order.own_environment.end());
    for (std::string& assignment : variables.Of(orders_.plan.ranks[order.rank]))
      start.own_environment.push_back(std::move(assignment));
    for (std::string& assignment : start.own_environment) {
      if (assignment == WaitAssignment(Sharing::kExclusive)) assignment = WaitAssignment(here);
      if (assignment == CrowdAssignment(Sharing::kExclusive)) assignment = CrowdAssignment(in_job);
    }
    start.wdir = directories_[app];
    start.path = orders_.plan.apps[app].path;
    start.cpuset = order.cpuset.empty() ? orders_.plan.ranks[order.rank].cpuset : order.cpuset;
    start.stdio = sheep.fds;
    start.event_fd = sheep.ring;
    start.roster_fd = server_->roster();
    start.node_memory_fd = server_->node_memory();
    start.open_files_max = orders_.open_files_max;
    start.held = orders_.held;
    if (saving_ != nullptr) saving_->Equip(&start);
    starts.push_back(std::move(start));
  }
  return starts;
}

param::Settings Herd::Settings() const {
  return param::Settings::FromEnvironment(Environment(orders_.plan.apps.front().environment));
}

Status Herd::MakeServer(const param::Settings& settings) {
  pmix::Params params;
  if (Status status = param::Load(settings, pmix::kFields, &params); !status.ok()) return status;
  const auto send = [this](const std::string& letter) {
    outlets_.send(wire::Kind::kLetter, letter);
    outlets_.flush();
  };
  auto server =
      pmix::Server::MakeAt({orders_.job, orders_.host, send}, loop_, orders_.plan, params,
                           {nullptr, [this](const Status& status) {
                              outlets_.failed(Status(status.code(), std::string(status.message())));
                            }});
  if (!server.ok()) return std::move(server).status();
  server_ = *std::move(server);
  return {};
}

Status Herd::Prepare() {
  machine_ = ThisMachine(false);
  door_ = Door::Open(poller_, orders_.host, [this](const wire::Visit& visit) {
    outlets_.send(wire::Kind::kVisit, Encode(visit));
    outlets_.flush();
  });
  if (Status status = MakeServer(Settings()); !status.ok()) return status;
  for (const wire::RankOrder& rank : orders_.ranks)
    if (Status status = MakeRank(rank); !status.ok()) return status;
  if (!orders_.saving.engine.empty())
    if (Status status = MakeSaving(Settings()); !status.ok()) return status;
  return orders_.saving.apart ? Status() : GetReady();
}

// Images that lie with several hosts are looked for before this.
Status Herd::GetReady() {
  if (orders_.saving.revived != 0)
    if (Status status = CheckFits(); !status.ok()) return std::move(status).Within(NotRestarted());
  const bool news = SharingHere() == Sharing::kShared &&
                    std::any_of(orders_.ranks.begin(), orders_.ranks.end(), [](const auto& rank) {
                      return std::count(rank.own_environment.begin(), rank.own_environment.end(),
                                        WaitAssignment(Sharing::kExclusive)) > 0;
                    });
  outlets_.send(wire::Kind::kReady,
                Encode(news ? wire::Ready{orders_.host, machine_.cpus_why} : wire::Ready{}));
  return {};
}

Status Herd::MakeStore() {
  Result<std::unique_ptr<NodeStore>> store = NodeStore::Open(
      loop_, {[this](const wire::StoreWord& word) {
                wire::SavingWord said;
                said.rank = orders_.ranks.front().rank;
                said.kind = wire::SavingWord::Kind::kStore;
                said.bytes = Encode(word);
                outlets_.send(wire::Kind::kSaving, Encode(said));
                outlets_.flush();
              },
              [this](std::span<const int> folders) { return saving_->engine().Torn(folders); },
              [this] {
                if (Status status = GetReady(); !status.ok()) outlets_.failed(std::move(status));
                outlets_.flush();
              }});
  if (!store.ok()) return std::move(store).status();
  store_ = *std::move(store);
  store_->SayHere(orders_.saving.directory, orders_.saving.mark, orders_.host);
  return {};
}

Status Herd::MakeSaving(const param::Settings& settings) {
  Result<NamedEngine> engine =
      ChooseEngine(context_.engines, {context_.environment, settings}, orders_.saving.engine);
  if (!engine.ok()) return std::move(engine).status();
  NodeSaving::Options options;
  options.host = orders_.host;
  options.last_process = orders_.saving.last_process;
  options.revives = orders_.saving.revived != 0;
  options.secluded = orders_.saving.secluded;
  options.roster = server_->roster();
  options.shared = {server_->roster(), server_->node_memory()};
  for (const wire::RankOrder& order : orders_.ranks) {
    options.ranks.push_back(order.rank);
    options.shared.push_back(sheep_.at(order.rank).ring);
  }
  Result<std::unique_ptr<NodeSaving>> saving = NodeSaving::Make(
      loop_, options, std::move(engine->engine),
      {[this](const wire::SavingWord& word) { SaySaving(word); },
       [this](std::uint32_t rank) { return job_ != nullptr ? job_->ProcessOf(rank) : 0; },
       [this](std::uint32_t rank) {
         const Sheep& sheep = sheep_.at(rank);
         return sheep.input != nullptr ? sheep.input->given() : 0;
       }});
  if (!saving.ok()) return std::move(saving).status();
  saving_ = *std::move(saving);
  return MakeStore();
}

void Herd::TakeStoreWord(const wire::SavingWord& word) {
  const Result<wire::StoreWord> told = wire::DecodeStoreWord(word.bytes);
  if (store_ != nullptr && told.ok()) store_->Take(*told);
}

// What a rank wrote before it was saved is told before that.
void Herd::SaySaving(const wire::SavingWord& word) {
  if (const auto found = sheep_.find(word.rank);
      found != sheep_.end() && word.kind == wire::SavingWord::Kind::kSaved)
    for (const auto& source : found->second.output) source->TakeAll();
  outlets_.send(wire::Kind::kSaving, Encode(word));
  outlets_.flush();
}

Result<checkpoint::Opened> Herd::Saved() const {
  Result<Descriptor> directory = checkpoint::OpenStore(orders_.saving.revived_in);
  if (!directory.ok()) return std::move(directory).status();
  return checkpoint::OpenGeneration(directory->value(), Epoch{orders_.saving.revived});
}

// No rank of any host is revived before all hosts are ready.
Status Herd::CheckFits() const {
  Result<checkpoint::Opened> saved = Saved();
  return saved.ok() ? saving_->CheckFits(*saved) : std::move(saved).status();
}

// The launcher is answered meanwhile, which would otherwise take the silence for a loss.
Status Herd::BeginToRevive() {
  Result<checkpoint::Opened> saved = Saved();
  if (!saved.ok()) return std::move(saved).status();
  return saving_->BeginToRevive(*saved, reviving_, [this](Status status) {
    std::vector<RankStart> starts = std::exchange(reviving_, {});
    if (!status.ok()) return Refuse(std::move(status));
    if (Status taken = TakeRanks(std::move(starts)); !taken.ok())
      return outlets_.failed(std::move(taken));
    for (const wire::SignalOrder& order : std::exchange(held_signals_, {})) Signal(order);
    outlets_.flush();
  });
}

std::string Herd::NotRestarted() const {
  return Format("generation %u cannot be restarted", orders_.saving.revived);
}

// This host is not lost, but of no use to a job that is to go on, as one that does not fit.
void Herd::Refuse(Status why) {
  reviving_.clear();
  held_signals_.clear();
  RankEvent event;
  event.kind = RankEvent::Kind::kStartFailed;
  event.code = kBadInput;
  const std::string where = " on " + orders_.plan.hosts[orders_.host].name;
  event.why = std::move(why).Within(NotRestarted() + where).message();
  for (const wire::RankOrder& order : orders_.ranks) {
    event.rank = order.rank;
    Cancel(event);
    event.why.clear();
  }
  OnJob();
  outlets_.flush();
}

Status Herd::StartRanks(Sharing in_job) {
  if (job_ != nullptr || !reviving_.empty())
    return Error(Code::kInvalid, "the ranks were started twice");
  if (store_ != nullptr) store_->EndMark();
  std::vector<RankStart> starts = Starts(in_job);
  if (starts.empty()) return {};
  if (orders_.saving.revived == 0) return TakeRanks(std::move(starts));
  reviving_ = std::move(starts);
  if (Status status = BeginToRevive(); !status.ok()) Refuse(std::move(status));
  return {};
}

Status Herd::TakeRanks(std::vector<RankStart> starts) {
  const param::Settings settings = Settings();
  auto spawner = context_.spawners.Find(context_.local_spawner)
                     ->make(SpawnContext{context_.environment, settings});
  if (!spawner.ok()) return std::move(spawner).status();
  Plan here = orders_.plan;
  std::erase_if(here.ranks, [this](const RankPlan& rank) { return rank.host != orders_.host; });
  Result<std::unique_ptr<Job>> job = (*spawner)->Start(here, starts);
  if (!job.ok()) return std::move(job).status();
  job_ = *std::move(job);
  for (auto& [rank, sheep] : sheep_) sheep.CloseFds();
  if (saving_ != nullptr) saving_->RanksStarted();
  poller_->Add(job_->ReadyFd(), Poller::kRead, [this] { OnJob(); });
  std::vector<wire::Started> started;
  for (const auto& [rank, sheep] : sheep_)
    if (const std::int64_t process = job_->ProcessThere(rank); process > 0)
      started.push_back({rank, static_cast<std::uint64_t>(process)});
  if (!started.empty()) outlets_.send(wire::Kind::kStarted, Encode(started));
  OnJob();
  outlets_.flush();
  StartServerIfNeeded();
  return {};
}

// Starts the server while the ranks are being loaded, if it is clear that they will need it.
void Herd::StartServerIfNeeded() {
  for (std::size_t app = 0; app < orders_.plan.apps.size(); ++app) {
    const std::string& program = orders_.plan.apps[app].argv.front();
    if (program.find('/') == std::string::npos) continue;
    if (!pmix::NeedsServer(program.front() == '/' ? program : directories_[app] + "/" + program,
                           server_->roster() >= 0))
      continue;
    if (Status status = server_->Start(); !status.ok()) outlets_.failed(std::move(status));
    return;
  }
}

Status Herd::Obey(const wire::Frame& frame) {
  switch (frame.kind) {
    case wire::Kind::kInput:
      return wire::With(wire::DecodePiece(frame.payload), [this](const auto& m) { Deliver(m); });
    case wire::Kind::kWritten:
      return wire::With(wire::DecodeCredit(frame.payload), [this](const auto& m) { Credit(m); });
    case wire::Kind::kSignal:
      return wire::With(wire::DecodeSignal(frame.payload), [this](const auto& m) { Signal(m); });
    case wire::Kind::kVisit:
      return wire::With(wire::DecodeVisit(frame.payload), [this](const wire::Visit& visit) {
        if (door_ != nullptr) door_->Hear(visit);
      });
    case wire::Kind::kLetter:
      return server_->Receive(frame.payload);
    case wire::Kind::kSaving:
      return wire::With(wire::DecodeSavingWord(frame.payload), [this](const wire::SavingWord& m) {
        if (m.kind == wire::SavingWord::Kind::kStore)
          TakeStoreWord(m);
        else if (saving_ != nullptr)
          saving_->Take(m);
      });
    case wire::Kind::kBeat:
      return wire::With(wire::DecodeBeat(frame.payload), [](const auto&) {});
    case wire::Kind::kPing: {
      // Whoever asks wants to know how things are now.
      wire::Beat beat;
      AddHeads(Waits::kAll, &beat);
      if (!beat.heads.empty()) outlets_.send(wire::Kind::kBeat, Encode(beat));
      if (orders_.profiled) SendProfiles();
      return wire::With(wire::DecodePing(frame.payload), [this](wire::Ping ping) {
        if (ping.usage) SendUsage();
        ping.clock_ns = MonotonicNs();
        outlets_.send(wire::Kind::kPing, Encode(ping));
      });
    }
    case wire::Kind::kStart: {
      const Result<wire::Start> start = wire::DecodeStart(frame.payload);
      return start.ok() ? StartRanks(start->sharing)
                        : Status(start.status().code(), std::string(start.status().message()));
    }
    case wire::Kind::kSweep:
      Sweep();
      return {};
    default:
      return Error(Code::kInvalid, "a frame of kind %u on the stream makes no sense",
                   static_cast<unsigned>(frame.kind));
  }
}

void Herd::OnJob() {
  while (std::optional<RankEvent> event = job_ != nullptr ? job_->Next() : std::nullopt)
    TellEnd(*event);
  if (!ends_.empty()) outlets_.send(wire::Kind::kEnded, Encode(std::exchange(ends_, {})));
}

void Herd::SendProfiles() {
  for (const auto& [rank, sheep] : sheep_) {
    if (job_ == nullptr || job_->ProcessThere(rank) == 0) continue;
    const std::string copy = CopyProfile(sheep.ring);
    outlets_.send(wire::Kind::kProfile, Encode(wire::TracePiece{rank, copy}));
  }
}

void Herd::SendUsage() {
  std::vector<RankUsage> usage;
  for (const auto& [rank, sheep] : sheep_)
    if (const std::int64_t process = job_ != nullptr ? job_->ProcessOf(rank) : 0; process > 0)
      usage.push_back(MeasureRank(rank, process, sheep.ring));
  if (!usage.empty()) outlets_.send(wire::Kind::kUsage, wire::Encode(usage));
}

void Herd::SendTrace(std::uint32_t rank, int ring) {
  const std::string copy = Encode(CopyTrace(ring));
  outlets_.send(wire::Kind::kTrace, Encode(wire::TracePiece{rank, copy}));
}

void Herd::TellEnd(const RankEvent& event) {
  if (saving_ != nullptr) saving_->RankEnded(event.rank);
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
  if (orders_.profiled) ended.profile = CopyProfile(sheep.ring);
  if (orders_.trace_bytes > 0) SendTrace(event.rank, sheep.ring);
  ends_.push_back(std::move(ended));
}

void Herd::Deliver(const wire::Piece& piece) {
  const auto found = sheep_.find(piece.rank);
  if (found != sheep_.end() && found->second.input != nullptr)
    found->second.input->Take(piece.bytes);
}

void Herd::Credit(const wire::Credit& credit) {
  const auto found = sheep_.find(credit.rank);
  if (found == sheep_.end() || credit.stream == 0) return;
  Source* source = found->second.output[credit.stream - 1u].get();
  if (source == nullptr) return;
  if (credit.bytes == wire::Credit::kGone)
    source->Refuse();
  else
    source->Grant(credit.bytes);
  EndIfDone();
}

void Herd::Signal(const wire::SignalOrder& order) {
  const int signal = static_cast<int>(order.signal);
  if (!reviving_.empty() && !EndsProcesses(signal)) return held_signals_.push_back(order);
  if (!reviving_.empty()) GiveUpReviving(signal);
  for (const std::uint32_t rank : order.ranks)
    if (job_ != nullptr)
      job_->Signal(rank, signal);
    else if (EndsProcesses(signal))
      Cancel(KilledBy(signal, rank));
  if (job_ == nullptr) OnJob();
}

// None of them is of use without the others.
void Herd::GiveUpReviving(int signal) {
  reviving_.clear();
  held_signals_.clear();
  store_.reset();
  saving_.reset();
  for (const wire::RankOrder& order : orders_.ranks) Cancel(KilledBy(signal, order.rank));
}

// Does away with a rank whose job ends before it is started.
void Herd::Cancel(const RankEvent& event) {
  const auto found = sheep_.find(event.rank);
  if (found == sheep_.end() || std::exchange(found->second.cancelled, true)) return;
  found->second.CloseFds();
  TellEnd(event);
}

void Herd::Sweep() {
  if (!reviving_.empty()) GiveUpReviving(SIGKILL);
  if (job_ != nullptr) job_->Sweep();
  OnJob();
  swept_ = true;
  for (auto& [rank, sheep] : sheep_) {
    sheep.CloseFds();  // of ranks that were never started
    if (sheep.input != nullptr) sheep.input->Close();
    for (auto& source : sheep.output) source->LastCall();
  }
  EndIfDone();
}

void Herd::EndIfDone() {
  if (!swept_ || done_) return;
  for (const auto& [rank, sheep] : sheep_)
    for (const auto& source : sheep.output)
      if (!source->ended()) return;
  done_ = true;
  outlets_.done();
}

void Herd::Tick(wire::Beat* beat) { AddHeads(Waits::kLasting, beat); }

// What a rank waits for changes all the time in a job that is well, and is told only if it lasts.
void Herd::AddHeads(Waits waits, wire::Beat* beat) {
  for (auto& [rank, sheep] : sheep_) {
    std::string head = RingHead(sheep.ring);
    std::string note = CopyWaitNote(sheep.ring);
    if (waits == Waits::kAll || note == sheep.wait_note) head += note;
    sheep.wait_note = std::move(note);
    if (head == sheep.ring_head) continue;
    sheep.ring_head = head;
    beat->heads.push_back({rank, std::move(head)});
  }
}

}  // namespace lamina::launcher
