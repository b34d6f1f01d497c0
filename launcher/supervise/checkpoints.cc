// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/checkpoints.h"

#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <optional>

#include "checkpoint/store/folder.h"
#include "runtime/base/agent_word.h"
#include "runtime/base/checkpoint_word.h"
#include "runtime/base/clock.h"
#include "runtime/base/event_ring.h"
#include "runtime/base/node_memory.h"
#include "runtime/base/roster.h"
#include "runtime/base/text.h"

namespace lamina::launcher {

// The pipes to one rank's agent.
struct Checkpoints::Line {
  Checkpoints* owner = nullptr;
  std::uint32_t rank = 0;
  Descriptor orders, reports;
  Descriptor rank_orders, rank_reports;  // the rank's ends, until it has been started
  std::vector<std::string> links;        // what its standard streams and those ends are
  std::string changes;                   // what a rank that was revived is told
  std::string heard;                     // bytes of words that are not whole yet
  event* reporting = nullptr;
  ~Line() {
    if (reporting != nullptr) event_free(reporting);
  }
};

// A rank that an engine is saving.
struct Checkpoints::Working {
  Checkpoints* owner = nullptr;
  std::uint32_t rank = 0;
  std::unique_ptr<checkpoint::Errand> errand;
  event* ready = nullptr;
  ~Working() {
    if (ready != nullptr) event_free(ready);
  }
};

namespace {

Status MakePipe(Descriptor* to_read, Descriptor* to_write) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return SystemError(Code::kResource, errno, "cannot make a pipe");
  *to_read = Descriptor(ends[0]);
  *to_write = Descriptor(ends[1]);
  return {};
}

// Saved ranks have higher process ids than what an engine runs to revive them.
constexpr std::uint32_t kFirstProcess = 9999;

// The descriptors that a rank and this process have between them.
std::array<int, 5> DescriptorsOf(const RankStart& start) {
  return {start.stdio[0], start.stdio[1], start.stdio[2], start.checkpoint_fds[0],
          start.checkpoint_fds[1]};
}

// What /proc/PID/fd says of a pipe, whose two ends have one name; "" for anything else.
std::string LinkOf(int fd) {
  struct stat file;
  if (fd < 0 || fstat(fd, &file) != 0 || !S_ISFIFO(file.st_mode)) return "";
  return Format("pipe:[%llu]", static_cast<unsigned long long>(file.st_ino));
}

// The number by which a process knows itself; 0 if it has ended.
std::int64_t OwnNumberOf(std::int64_t process) {
  std::ifstream status(Format("/proc/%lld/status", static_cast<long long>(process)));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("NSpid:")) return ParseInteger(Split(line, '\t').back()).value_or(0);
  return 0;
}

// What this process has open is found in a pid namespace at its first process.
void NameKeeper(std::string* assignment) {
  for (const std::string name : {kRosterVariable, kNodeMemoryVariable})
    if (assignment->starts_with(name + "="))
      *assignment = name + "=1" + assignment->substr(assignment->find(':'));
}

// What a revived rank is told of its new launcher.
std::string ChangesFor(const RankStart& start) {
  std::string changes;
  for (const std::string& assignment : start.own_environment)
    if (assignment.starts_with("PMIX_") || assignment.starts_with(kRosterVariable) ||
        assignment.starts_with(kNodeMemoryVariable))
      changes += assignment + '\0';
  if (start.event_fd >= 0)
    changes += Format("%s=/proc/1/fd/%d", kMovedEventRingVariable, start.event_fd) + '\0';
  return changes;
}

// Waits until an errand has ended, which its own limit of time sees to.
Status Await(checkpoint::Errand* errand) {
  for (;;) {
    if (std::optional<Status> outcome = errand->Outcome()) return *std::move(outcome);
    pollfd ready{errand->ReadyFd(), POLLIN, 0};
    poll(&ready, 1, -1);
  }
}

double Seconds(std::uint64_t from_ms, std::uint64_t to_ms) {
  return static_cast<double>(to_ms - std::min(from_ms, to_ms)) / 1000;
}

}  // namespace

Result<std::unique_ptr<Checkpoints>> Checkpoints::Make(event_base* loop, const Plan& plan,
                                                       const Options& options, Engine engine,
                                                       Moments moments) {
  std::unique_ptr<Checkpoints> made(
      new Checkpoints(loop, plan, options, std::move(engine), std::move(moments)));
  if (Status status = made->Open(options); !status.ok()) return status;
  return made;
}

Checkpoints::Checkpoints(event_base* loop, const Plan& plan, const Options& options, Engine engine,
                         Moments moments)
    : loop_(loop),
      plan_(plan),
      job_(options.job),
      stop_ms_(options.stop_ms),
      engine_(std::move(engine)),
      moments_(std::move(moments)),
      rounds_(plan.ranks.size()),
      patience_(loop, [this] { Do(rounds_.TimedOut()); }) {}

Checkpoints::~Checkpoints() = default;

Status Checkpoints::Open(const Options& options) {
  Result<std::unique_ptr<Archive>> archive = Archive::Open(
      loop_, plan_.options.checkpoint,
      {[this](Epoch epoch, const Status& outcome) { OnStored(epoch, outcome); }, moments_.say});
  if (!archive.ok()) return std::move(archive).status();
  archive_ = *std::move(archive);
  for (const RankPlan& rank : plan_.ranks) {
    Line& line = *lines_.emplace_back(std::make_unique<Line>());
    line.owner = this;
    line.rank = rank.rank;
    if (Status status = MakePipe(&line.rank_orders, &line.orders); !status.ok()) return status;
    if (Status status = MakePipe(&line.reports, &line.rank_reports); !status.ok()) return status;
    fcntl(line.reports.value(), F_SETFL, O_NONBLOCK);
    fcntl(line.orders.value(), F_SETFL, O_NONBLOCK);
    line.reporting = event_new(
        loop_, line.reports.value(), EV_READ | EV_PERSIST,
        [](int, short, void* self) {
          auto* its = static_cast<Line*>(self);
          its->owner->OnReports(its);
        },
        &line);
    event_add(line.reporting, nullptr);
  }
  return engine_.engine->caps().keeps_process_ids ? OpenSpace(options) : Status();
}

Status Checkpoints::OpenSpace(const Options& options) {
  Result<std::unique_ptr<ProcessSpace>> space = ProcessSpace::Make(options.shared);
  if (!space.ok()) return std::move(space).status();
  space_ = *std::move(space);
  const std::uint32_t number = space_->number();
  if (options.roster >= 0 && pwrite(options.roster, &number, sizeof number,
                                    offsetof(Roster, pid_namespace)) != sizeof number)
    return SystemError(Code::kResource, errno, "cannot write the roster");
  {
    const ProcessSpace::Inside inside(space_.get());
    nothing_ = Descriptor(open("/dev/null", O_RDWR | O_CLOEXEC));
  }
  return options.revived == nullptr ? space_->SetLastId(kFirstProcess) : Status();
}

void Checkpoints::Equip(RankStart* start) const {
  const Line& line = *lines_[start->rank];
  start->checkpoint_fds = {line.rank_orders.value(), line.rank_reports.value()};
  start->own_environment.push_back(
      Format("%s=%d:%d", kAgentVariable, line.rank_orders.value(), line.rank_reports.value()));
  if (space_ == nullptr) return;
  start->space = space_.get();
  for (std::string& assignment : start->own_environment) NameKeeper(&assignment);
  if (LinkOf(start->stdio[0]).empty()) start->stdio[0] = nothing_.value();
  lines_[start->rank]->links.clear();
  for (const int fd : DescriptorsOf(*start)) lines_[start->rank]->links.push_back(LinkOf(fd));
}

Status Checkpoints::Revive(const checkpoint::Opened& saved, std::span<RankStart> starts) {
  const checkpoint::Manifest& manifest = saved.manifest;
  if (space_ == nullptr || manifest.round == 0)
    return Error(Code::kUnsupported, "generation %u was saved by %s, which cannot revive it",
                 Index(manifest.epoch), manifest.engine.c_str());
  for (RankStart& start : starts) {
    const checkpoint::Manifest::Rank& rank = manifest.ranks[start.rank];
    if (rank.ended) {
      ended_.push_back(start.rank);
      start.revived = RankStart::kHadEnded;
      continue;
    }
    Result<Descriptor> folder =
        checkpoint::OpenFolder(saved.folder.value(), RankFolderName(start.rank));
    if (!folder.ok()) return std::move(folder).status();
    const std::array<int, 5> descriptors = DescriptorsOf(start);
    Result<std::unique_ptr<checkpoint::Errand>> errand = Error(Code::kInternal, "not begun");
    {
      const ProcessSpace::Inside inside(space_.get());
      errand = engine_.engine->Revive({start.rank, rank.process, rank.links}, folder->value(),
                                      descriptors);
    }
    Status status = errand.ok() ? Await(errand->get()) : std::move(errand).status();
    if (!status.ok()) return std::move(status).Within(Format("rank %u", start.rank));
    start.revived = (*errand)->revived();
    if (start.revived == 0) return Error(Code::kPeerLost, "rank %u has ended", start.rank);
    lines_[start.rank]->changes = ChangesFor(start);
  }
  revived_round_ = manifest.round;
  return space_->SetLastId(std::max(manifest.last_process, kFirstProcess));
}

void Checkpoints::RanksStarted() {
  for (const auto& line : lines_) {
    line->rank_orders = Descriptor();
    line->rank_reports = Descriptor();
  }
  if (revived_round_ == 0) return;
  const RoundStep step = rounds_.Revived(revived_round_, ended_);
  ordered_ = rounds_.members();
  Do(step);
}

void Checkpoints::RankEnded(std::uint32_t rank) {
  OnReports(lines_[rank].get());  // its last words
  Do(rounds_.Ended(rank));
}

void Checkpoints::OnReports(Line* line) {
  char bytes[4096];
  ssize_t got;
  while ((got = read(line->reports.value(), bytes, sizeof bytes)) > 0)
    line->heard.append(bytes, static_cast<std::size_t>(got));
  if (got == 0) event_del(line->reporting);  // all its processes have ended
  while (TakeWord(line)) continue;
}

// Returns false if no whole word is there.
bool Checkpoints::TakeWord(Line* line) {
  AgentWord word;
  if (line->heard.size() < sizeof word) return false;
  std::memcpy(&word, line->heard.data(), sizeof word);
  const std::size_t behind =
      word.kind == AgentWord::kTrouble ? std::min(word.number, kTroubleBytesMax) : std::uint64_t{0};
  if (line->heard.size() < sizeof word + behind) return false;
  const std::string text = line->heard.substr(sizeof word, behind);
  line->heard.erase(0, sizeof word + behind);
  Do(rounds_.Report(line->rank, word, text));
  return true;
}

void Checkpoints::Take(Then then, Reply reply) {
  asked_.any = true;
  asked_.ends = asked_.ends || then == Then::kEnd;
  asked_.replies.push_back(std::move(reply));
  BeginIfAsked();
}

void Checkpoints::BeginIfAsked() {
  if (!asked_.any || rounds_.phase() != Rounds::Phase::kIdle || IsStoring()) return;
  waiting_ = std::exchange(asked_, {});
  began_ms_ = MonotonicMs();
  if (Status status = archive_->Begin(plan_.ranks.size()); !status.ok())
    return Answer(false, "the job cannot be saved: " + std::string(status.message()));
  patience_.Set(stop_ms_);
  Do(rounds_.Begin());
}

void Checkpoints::Do(const RoundStep& step) {
  if (step.broken) {
    patience_.Clear();
    working_.clear();
    if (!IsStoring()) archive_->Drop();
    Answer(false, std::string(rounds_.outcome().message()));
    return moments_.lost(std::string(rounds_.outcome().message()));
  }
  if (step.order != AgentWord::kGone) Order(step.order);
  if (step.save) Save();
  if (step.over) OnRoundOver();
}

// Every phase may take as long as the first.
void Checkpoints::Order(AgentWord::Kind kind) {
  const std::uint64_t now_ms = MonotonicMs();
  AgentWord word{kind, rounds_.epoch(), 0};
  std::string bytes(reinterpret_cast<const char*>(&word), sizeof word);
  if (kind == AgentWord::kStop) {
    stopped_ms_ = now_ms;
    ordered_ = rounds_.members();
    const std::vector<std::uint32_t> ended = rounds_.ended();
    word.number = ended.size();
    bytes.assign(reinterpret_cast<const char*>(&word), sizeof word);
    bytes.append(reinterpret_cast<const char*>(ended.data()), ended.size() * sizeof ended[0]);
  }
  if (kind == AgentWord::kLetGo) rested_ms_ = now_ms;
  if (kind == AgentWord::kGoOn) {
    going_ms_ = now_ms;
    working_.clear();
    if (space_ != nullptr)
      if (Status status = space_->Continue(); !status.ok())
        moments_.say(std::string(status.message()));
  }
  patience_.Set(stop_ms_);
  // An agent reads whatever it is told, so there is room in the pipe. One that has died is told
  // otherwise.
  for (const std::uint32_t rank : ordered_) {
    std::string its = bytes;
    if (kind == AgentWord::kGoOn) {
      const std::string changes = std::exchange(lines_[rank]->changes, {});
      word.number = changes.size();
      its.assign(reinterpret_cast<const char*>(&word), sizeof word);
      its += changes;
    }
    static_cast<void>(!write(lines_[rank]->orders.value(), its.data(), its.size()));
  }
}

void Checkpoints::Save() {
  patience_.Clear();  // the engine has a limit of its own
  manifest_ = {};
  manifest_.job = job_;
  manifest_.engine = engine_.name;
  manifest_.engine_version = engine_.engine->version();
  manifest_.round = rounds_.epoch();
  saving_ = Status();
  if (space_ != nullptr)
    if (Result<std::uint32_t> last = space_->LastId(); last.ok()) manifest_.last_process = *last;
  for (std::uint32_t host = 0; host < plan_.hosts.size(); ++host)
    manifest_.nodes.push_back({host, plan_.hosts[host].name});
  const std::vector<std::uint32_t> members = rounds_.members();
  for (const RankPlan& rank : plan_.ranks) {
    if (std::find(members.begin(), members.end(), rank.rank) == members.end()) {
      manifest_.ranks.push_back({rank.rank, 0, rank.host, 0, {}});
      continue;
    }
    const std::int64_t process = OwnNumberOf(moments_.process(rank.rank));
    manifest_.ranks.push_back({rank.rank, {}, rank.host, process, lines_[rank.rank]->links});
  }
  for (const std::uint32_t rank : members) {
    saving_ = SaveRank(rank);
    if (!saving_.ok()) break;
  }
  if (working_.empty()) OnSaved();
}

Status Checkpoints::SaveRank(std::uint32_t rank) {
  Result<int> folder = archive_->generation()->FolderOf(rank);
  if (!folder.ok()) return std::move(folder).status();
  Result<std::unique_ptr<checkpoint::Errand>> errand = Error(Code::kInternal, "not begun");
  {
    const ProcessSpace::Inside inside(space_.get());
    errand = engine_.engine->Save(
        {rank, manifest_.ranks[rank].process, manifest_.ranks[rank].links}, *folder);
  }
  if (!errand.ok()) return std::move(errand).status().Within(Format("rank %u", rank));
  Working& working = *working_.emplace_back(std::make_unique<Working>());
  working.owner = this;
  working.rank = rank;
  working.errand = *std::move(errand);
  working.ready = event_new(
      loop_, working.errand->ReadyFd(), EV_READ | EV_PERSIST,
      [](int, short, void* self) {
        auto* its = static_cast<Working*>(self);
        its->owner->OnErrand(its->rank);
      },
      &working);
  event_add(working.ready, nullptr);
  return {};
}

// All are waited for even if one has failed, because an engine that is ended in the middle of its
// work may take a rank with it.
void Checkpoints::OnErrand(std::uint32_t rank) {
  const auto its = std::find_if(working_.begin(), working_.end(),
                                [rank](const auto& working) { return working->rank == rank; });
  if (its == working_.end()) return;
  std::optional<Status> outcome = (*its)->errand->Outcome();
  if (!outcome) return;
  working_.erase(its);
  if (!outcome->ok() && saving_.ok())
    saving_ = (*std::move(outcome)).Within(Format("rank %u", rank));
  if (working_.empty()) OnSaved();
}

// The ranks of a job that is to end stay as they are until the generation is complete.
void Checkpoints::OnSaved() {
  if (!saving_.ok()) return Do(rounds_.Saved(saving_));
  manifest_.streams = moments_.cut();
  if (waiting_.ends)
    archive_->Store(std::exchange(manifest_, {}));
  else
    Do(rounds_.Saved({}));
}

void Checkpoints::OnRoundOver() {
  patience_.Clear();
  if (IsStoring()) return;  // a rank of a job that is to end has ended by itself
  if (rounds_.outcome().ok() && archive_->generation() != nullptr)
    return archive_->Store(std::exchange(manifest_, {}));
  archive_->Drop();
  Answer(false, std::string(rounds_.outcome().message()));
  BeginIfAsked();
}

void Checkpoints::OnStored(Epoch epoch, const Status& outcome) {
  const std::uint64_t now_ms = MonotonicMs();
  const bool frozen = rounds_.phase() == Rounds::Phase::kSaving;
  const bool ends = frozen && outcome.ok();
  std::string sentence =
      Format("generation %u could not be kept: ", Index(epoch)) + std::string(outcome.message());
  if (outcome.ok())
    sentence = Format(
        "generation %u: %zu %s, %llu bytes; at rest after %.3f s, stopped %.3f s, complete after "
        "%.3f s",
        Index(epoch), plan_.ranks.size(), plan_.ranks.size() == 1 ? "rank" : "ranks",
        static_cast<unsigned long long>(archive_->stored_bytes()), Seconds(stopped_ms_, rested_ms_),
        Seconds(rested_ms_, frozen ? now_ms : going_ms_), Seconds(began_ms_, now_ms));
  Answer(outcome.ok(), sentence);
  if (ends) return moments_.end(sentence);
  if (frozen) Do(rounds_.Saved(Error(Code::kResource, "%s", sentence.c_str())));
  moments_.stored();
  BeginIfAsked();
}

void Checkpoints::Answer(bool saved, const std::string& sentence) {
  const Asked told = std::exchange(waiting_, {});
  for (const Reply& reply : told.replies) reply(saved, sentence);
}

}  // namespace lamina::launcher
