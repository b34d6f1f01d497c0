// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/saving/node_saving.h"

#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "checkpoint/store/folder.h"
#include "launcher/saving/memory_files.h"
#include "runtime/base/agent_word.h"
#include "runtime/base/checkpoint_word.h"
#include "runtime/base/clock.h"
#include "runtime/base/event_ring.h"
#include "runtime/base/node_memory.h"
#include "runtime/base/process_stat.h"
#include "runtime/base/read_file.h"
#include "runtime/base/roster.h"
#include "runtime/base/text.h"

namespace lamina::launcher {

// What this node has of one rank.
struct NodeSaving::Line {
  NodeSaving* owner = nullptr;
  std::uint32_t rank = 0;
  Descriptor orders, reports;
  Descriptor rank_orders, rank_reports;  // the rank's ends, until it has been started
  std::vector<std::string> links;        // what its standard streams and those ends are
  std::string changes;                   // what a rank that was revived is told
  bool revived = false;
  event* reporting = nullptr;
  std::unique_ptr<checkpoint::Errand> errand;  // while it is being saved or revived
  RankStart* start = nullptr;                  // while it is being revived
  std::int64_t process = 0;                    // while it is being saved: as it knows itself
  event* ready = nullptr;
  event* died = nullptr;  // likewise: looks whether the process has
  ~Line() {
    if (reporting != nullptr) event_free(reporting);
    EndErrand();
  }
  void EndErrand() {
    if (ready != nullptr) event_free(std::exchange(ready, nullptr));
    if (died != nullptr) event_free(std::exchange(died, nullptr));
    errand.reset();
  }
};

namespace {

using Word = wire::SavingWord;

// Ranks of different nodes have process ids of their own, so that they can be revived on one node.
constexpr std::uint32_t kProcessesPerNode = 8192;

Status MakePipe(Descriptor* to_read, Descriptor* to_write) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return SystemError(Code::kResource, errno, "cannot make a pipe");
  *to_read = Descriptor(ends[0]);
  *to_write = Descriptor(ends[1]);
  return {};
}

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

// While a process is being saved, it is looked this often whether it has died.
constexpr suseconds_t kLookAgainUs = 200'000;

// True if all that is left of the process is its end.
bool IsDead(std::int64_t process) {
  const std::optional<ProcessStat> stat = StatOf(process);
  return !stat || stat->state == 'Z';
}

// How long is waited for ranks that were stopped, and how often they are looked at.
constexpr std::uint64_t kStopMs = 1000;
constexpr int kLookAtStopMs = 1;

// True if no thread of the process and of those below it runs.
bool StandsStill(std::int64_t process) {
  std::error_code error;
  const std::string tasks = Format("/proc/%lld/task", static_cast<long long>(process));
  for (std::filesystem::directory_iterator task(tasks, error), end; !error && task != end;
       task.increment(error)) {
    const auto stat = StatOf(ParseInteger(task->path().filename().string()).value_or(0));
    if (stat && stat->state != 'T' && stat->state != 'Z') return false;
  }
  const std::vector<pid_t> below = ChildrenOf(process);
  return std::all_of(below.begin(), below.end(), StandsStill);
}

// Returns "4711 (sleep)"; "" for what has ended meanwhile.
std::string NamedProcess(std::int64_t process) {
  const std::optional<ProcessStat> stat = StatOf(process);
  if (!stat || stat->state == 'Z' || stat->state == 'X') return "";
  return Format("%lld (%s)", static_cast<long long>(process), stat->name.c_str());
}

// A rank lets go of this memory before it is saved, but not a child that it has forked.
constexpr std::string_view kNodeMemoryMapping = "/memfd:lamina-node";

// Returns what keeps a process below a process from being saved; "" if nothing does.
std::string WrongBelow(std::int64_t process) {
  for (const pid_t child : ChildrenOf(process)) {
    const std::optional<ProcessStat> stat = StatOf(child);
    if (stat && stat->state == 'T')
      return "process " + NamedProcess(child) +
             " is stopped, and would come back running; continue it (kill -CONT) or end it";
    const std::optional<std::string> maps = ReadFile(Format("/proc/%d/maps", child));
    if (maps && maps->find(kNodeMemoryMapping) != maps->npos)
      return "process " + NamedProcess(child) +
             " was forked by a rank and has the memory that ranks share, which cannot be saved; "
             "end it, or have it call exec";
    if (std::string found = WrongBelow(child); !found.empty()) return found;
  }
  return "";
}

// Returns how many bytes a process has not read yet from the pipe of that name, which is its
// standard input.
std::uint64_t UnreadBy(std::int64_t process, const std::string& link) {
  const std::string path = Format("/proc/%lld/fd/0", static_cast<long long>(process));
  std::error_code error;
  if (link.empty() || std::filesystem::read_symlink(path, error).string() != link) return 0;
  const Descriptor input(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  int bytes = 0;
  if (input.value() < 0 || ioctl(input.value(), FIONREAD, &bytes) != 0) return 0;
  return static_cast<std::uint64_t>(bytes);
}

// What this process has open is found in a pid namespace at its first process.
void NameKeeper(std::string* assignment) {
  for (const std::string name : {kRosterVariable, kNodeMemoryVariable})
    if (assignment->starts_with(name + "="))
      *assignment = name + "=1" + assignment->substr(assignment->find(':'));
}

// What a revived rank is told of its new launcher. A name alone stands for a variable that it has
// no longer.
std::string ChangesFor(const RankStart& start) {
  std::string changes;
  for (const std::string name : {kRosterVariable, kNodeMemoryVariable}) changes += name + '\0';
  for (const std::string& assignment : start.own_environment)
    if (assignment.starts_with("PMIX_") || assignment.starts_with(kRosterVariable) ||
        assignment.starts_with(kNodeMemoryVariable))
      changes += assignment + '\0';
  if (start.event_fd >= 0)
    changes += Format("%s=/proc/1/fd/%d", kMovedEventRingVariable, start.event_fd) + '\0';
  return changes;
}

// The reason of the first engine that cannot run here stands for all.
Status WhyNone(const checkpoint::EngineRegistry& engines,
               const checkpoint::EngineContext& context) {
  for (const auto& [component, offer] : engines.Ask(context))
    if (offer.priority < 0) return Error(Code::kUnsupported, "%s", offer.why.c_str());
  return Error(Code::kUnsupported, "there is no engine that saves processes");
}

}  // namespace

Result<NamedEngine> ChooseEngine(const checkpoint::EngineRegistry& engines,
                                 const checkpoint::EngineContext& context,
                                 const std::string& name) {
  const checkpoint::EngineComponent* chosen = engines.Find(name);
  if (name == "auto") chosen = engines.Ask(context).front().first;
  if (chosen == nullptr)
    return Error(Code::kNotFound, "parameter checkpoint.engine.use: there is no engine \"%s\"",
                 name.c_str());
  Result<std::unique_ptr<checkpoint::CheckpointEngine>> engine = chosen->make(context);
  if (!engine.ok()) return std::move(engine).status();
  if (!(*engine)->caps().whole_process) return WhyNone(engines, context);
  return NamedEngine{chosen->info.name, *std::move(engine)};
}

Result<std::unique_ptr<NodeSaving>> NodeSaving::Make(
    event_base* loop, const Options& options, std::unique_ptr<checkpoint::CheckpointEngine> engine,
    Outlets outlets) {
  std::unique_ptr<NodeSaving> made(new NodeSaving(loop, std::move(engine), std::move(outlets)));
  if (Status status = made->Open(options); !status.ok()) return status;
  return made;
}

NodeSaving::NodeSaving(event_base* loop, std::unique_ptr<checkpoint::CheckpointEngine> engine,
                       Outlets outlets)
    : loop_(loop), engine_(std::move(engine)), outlets_(std::move(outlets)) {}

NodeSaving::~NodeSaving() = default;

Status NodeSaving::Open(const Options& options) {
  secluded_ = options.secluded;
  first_process_ = options.last_process + options.host * kProcessesPerNode;
  for (const std::uint32_t rank : options.ranks) {
    Line& line = *(lines_[rank] = std::make_unique<Line>());
    line.owner = this;
    line.rank = rank;
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
  return engine_->caps().keeps_process_ids ? OpenSpace(options) : Status();
}

Status NodeSaving::OpenSpace(const Options& options) {
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
  return options.revives ? Status() : space_->SetLastId(first_process_);
}

void NodeSaving::Equip(RankStart* start) const {
  Line& line = *lines_.at(start->rank);
  start->checkpoint_fds = {line.rank_orders.value(), line.rank_reports.value()};
  start->own_environment.push_back(
      Format("%s=%d:%d", kAgentVariable, line.rank_orders.value(), line.rank_reports.value()));
  if (space_ == nullptr) return;
  start->space = space_.get();
  start->without_rights = secluded_;
  // The library finds it at the keeper. A wrapper would have it open for ever, and no engine can
  // save a file of that length.
  start->node_memory_fd = -1;
  start->own_environment.push_back(
      Format("%s=%s", kWindowFolderVariable, ProcessSpace::kMemoryFolder));
  for (std::string& assignment : start->own_environment) NameKeeper(&assignment);
  if (LinkOf(start->stdio[0]).empty()) start->stdio[0] = nothing_.value();
  line.links.clear();
  for (const int fd : DescriptorsOf(*start)) line.links.push_back(LinkOf(fd));
}

// Several ranks may have one thing to complain of, which is told once.
Status NodeSaving::CheckFits(const checkpoint::Opened& saved) const {
  std::string sentences;
  std::set<std::string> told;
  for (const auto& [rank, line] : lines_) {
    if (rank >= saved.manifest.ranks.size() || saved.manifest.ranks[rank].ended) continue;
    const Result<Descriptor> folder = FolderOf(saved, rank);
    if (!folder.ok()) continue;  // reviving will tell
    for (const std::string& cause : engine_->Misfits(folder->value()))
      if (told.insert(cause).second)
        sentences += (sentences.empty() ? "" : "; ") + Format("rank %u: ", rank) + cause;
  }
  if (sentences.empty()) return {};
  return Error(Code::kUnsupported,
               "%s; bring back what it had, or take other hosts (-H) or an older generation "
               "(--generation)",
               sentences.c_str());
}

Status NodeSaving::BeginToRevive(const checkpoint::Opened& saved, std::span<RankStart> starts,
                                 std::function<void(Status)> revived) {
  const checkpoint::Manifest& manifest = saved.manifest;
  if (space_ == nullptr || manifest.round == 0)
    return Error(Code::kUnsupported, "it was saved by %s, which cannot revive it",
                 manifest.engine.c_str());
  for (const RankStart& start : starts) {
    const Result<Descriptor> folder = FolderOf(saved, start.rank);
    Status status = folder.ok()
                        ? LayMemoryDown(folder->value(), space_->memory_folder())
                        : Status(folder.status().code(), std::string(folder.status().message()));
    if (!status.ok()) return std::move(status).Within(Format("rank %u", start.rank));
  }
  for (RankStart& start : starts) {
    Result<std::unique_ptr<checkpoint::Errand>> errand = Begin(saved, &start);
    if (!errand.ok()) {
      GiveUpReviving();
      return std::move(errand).status().Within(Format("rank %u", start.rank));
    }
    if (*errand == nullptr) continue;
    Line& line = *lines_.at(start.rank);
    line.start = &start;
    ++reviving_;
    Watch(&line, *std::move(errand));
  }
  revived_ = std::move(revived);
  if (reviving_ == 0) std::exchange(revived_, nullptr)(space_->SetLastId(first_process_));
  return {};
}

void NodeSaving::GiveUpReviving() {
  revived_ = nullptr;
  reviving_ = 0;
  for (const auto& [rank, line] : lines_)
    if (std::exchange(line->start, nullptr) != nullptr) line->EndErrand();
}

Result<Descriptor> NodeSaving::FolderOf(const checkpoint::Opened& saved, std::uint32_t rank) {
  return checkpoint::OpenFolder(saved.folder.value(), RankFolderName(rank));
}

// Begins to revive a rank; null: it had ended.
Result<std::unique_ptr<checkpoint::Errand>> NodeSaving::Begin(const checkpoint::Opened& saved,
                                                              RankStart* start) {
  if (start->rank >= saved.manifest.ranks.size())
    return Error(Code::kInvalid, "it is not in the manifest");
  const checkpoint::Manifest::Rank& rank = saved.manifest.ranks[start->rank];
  if (rank.ended) {
    start->revived = RankStart::kHadEnded;
    return std::unique_ptr<checkpoint::Errand>();
  }
  Result<Descriptor> folder = FolderOf(saved, start->rank);
  if (!folder.ok()) return std::move(folder).status();
  const std::array<int, 5> descriptors = DescriptorsOf(*start);
  const ProcessSpace::Inside inside(space_.get());
  if (!inside.status().ok())
    return Error(inside.status().code(), "%s", std::string(inside.status().message()).c_str());
  return engine_->Revive({start->rank, rank.process, rank.links}, folder->value(), descriptors);
}

void NodeSaving::OnRevived(Line* line, Status outcome) {
  if (outcome.ok()) NoteRevived(line);
  if (outcome.ok() && line->start->revived == 0)
    outcome = Error(Code::kPeerLost, "it has ended at once");
  line->start = nullptr;
  line->EndErrand();
  if (outcome.ok() && --reviving_ > 0) return;
  const auto revived = std::exchange(revived_, nullptr);
  if (outcome.ok()) return revived(space_->SetLastId(first_process_));
  GiveUpReviving();
  revived(std::move(outcome).Within(Format("rank %u", line->rank)));
}

void NodeSaving::NoteRevived(Line* line) {
  line->start->revived = line->errand->revived();
  line->changes = ChangesFor(*line->start);
  line->revived = true;
  stands_still_ = true;
}

void NodeSaving::RanksStarted() {
  for (const auto& [rank, line] : lines_) {
    line->rank_orders = Descriptor();
    line->rank_reports = Descriptor();
    if (!line->revived) continue;
    Word word;
    word.rank = rank;
    word.kind = Word::Kind::kRevived;
    outlets_.say(word);
  }
}

void NodeSaving::RankEnded(std::uint32_t rank) {
  if (const auto found = lines_.find(rank); found != lines_.end()) OnReports(found->second.get());
}

void NodeSaving::OnReports(Line* line) {
  Word word;
  word.rank = line->rank;
  word.kind = Word::Kind::kAgent;
  char bytes[4096];
  ssize_t got;
  while ((got = read(line->reports.value(), bytes, sizeof bytes)) > 0)
    word.bytes.append(bytes, static_cast<std::size_t>(got));
  if (got == 0) event_del(line->reporting);  // all its processes have ended
  if (!word.bytes.empty()) outlets_.say(word);
}

void NodeSaving::Take(const Word& word) {
  const auto found = lines_.find(word.rank);
  if (found == lines_.end()) return;
  Line* line = found->second.get();
  switch (word.kind) {
    case Word::Kind::kAgent:
      // An agent reads whatever it is told, so there is room in the pipe. One that has died is told
      // in vain.
      static_cast<void>(!write(line->orders.value(), word.bytes.data(), word.bytes.size()));
      return;
    case Word::Kind::kGoOn:
      return GoOn(line, word.bytes);
    case Word::Kind::kSave:
      if (Status status = Save(line, word.bytes); !status.ok()) SaySaved(line, status);
      return;
    default:
      return;
  }
}

void NodeSaving::GoOn(Line* line, std::string_view order) {
  if (line->errand != nullptr && saves_ > 0) --saves_;
  line->EndErrand();
  generation_.clear();
  // Why that fails is nothing a rank can be told; the launcher finds that ranks do not go on.
  if (std::exchange(stands_still_, false) && space_ != nullptr)
    static_cast<void>(space_->Continue());
  AgentWord word;
  if (order.size() != sizeof word) return;
  std::memcpy(&word, order.data(), sizeof word);
  const std::string changes = std::exchange(line->changes, {});
  word.number = changes.size();
  std::string bytes(reinterpret_cast<const char*>(&word), sizeof word);
  bytes += changes;
  static_cast<void>(!write(line->orders.value(), bytes.data(), bytes.size()));
}

Status NodeSaving::Save(Line* line, const std::string& path) {
  line->process = OwnNumberOf(outlets_.process(line->rank));
  Result<Descriptor> folder = checkpoint::OpenStore(path);
  if (!folder.ok()) return std::move(folder).status();
  const std::string above = path.substr(0, path.rfind('/'));
  const bool is_first = std::exchange(generation_, above) != above;
  const int into = folder->value();
  if (is_first) {
    if (Status status = CheckProcesses(); !status.ok()) {
      generation_.clear();  // the next rank has them looked at again
      return status;
    }
    StopAll();
    memory_into_ = *std::move(folder);
  }
  Result<std::unique_ptr<checkpoint::Errand>> errand = Error(Code::kInternal, "not begun");
  {
    const ProcessSpace::Inside inside(space_.get());
    if (!inside.status().ok())
      return Error(inside.status().code(), "%s", std::string(inside.status().message()).c_str());
    errand = engine_->Save({line->rank, line->process, line->links}, into);
  }
  if (!errand.ok()) return std::move(errand).status();
  stands_still_ = true;
  ++saves_;
  Watch(line, *std::move(errand));
  WatchSubject(line);
  return {};
}

// All processes of the space are stopped and continued together, and what is saved is what is below
// a rank.
Status NodeSaving::CheckProcesses() const {
  if (space_ == nullptr) return {};
  for (const pid_t orphan : space_->Orphans())
    if (const std::string named = NamedProcess(orphan); !named.empty())
      return Error(Code::kUnsupported,
                   "process %s, which a rank has left behind, is below no rank, so it would not be "
                   "saved; end it, or wait until it ends",
                   named.c_str());
  for (const auto& [rank, line] : lines_)
    if (const std::string wrong = WrongBelow(outlets_.process(rank)); !wrong.empty())
      return Error(Code::kUnsupported, "%s", wrong.c_str());
  return {};
}

// A file that several ranks write has to be the same for all of them, so none of them may write
// while the first one is saved. One that is in a long system call stops when it comes out of that;
// it is not waited for, and cannot do harm if it writes such a file: the launcher looks.
void NodeSaving::StopAll() {
  if (space_ == nullptr || !space_->Stop().ok()) return;
  stands_still_ = true;
  const std::uint64_t until_ms = MonotonicMs() + kStopMs;
  for (const auto& [rank, line] : lines_)
    while (!StandsStill(outlets_.process(rank)) && MonotonicMs() < until_ms)
      poll(nullptr, 0, kLookAtStopMs);
}

// Once no rank is being saved any more they all stand still, and so does what they share. A rank
// whose order comes later has that saved again.
Status NodeSaving::SavedAnother(Status outcome) {
  if (--saves_ > 0 || !outcome.ok() || space_ == nullptr) return outcome;
  return KeepMemory(space_->memory_folder(), memory_into_.value());
}

// An engine may wait for ever for a process that was killed under its hands. As long as it traces
// the process, nobody else is told of that death, not even by a pidfd; so it is looked for.
void NodeSaving::WatchSubject(Line* line) {
  line->died = event_new(
      loop_, -1, EV_PERSIST,
      [](int, short, void* self) {
        auto* its = static_cast<Line*>(self);
        if (!IsDead(its->owner->outlets_.process(its->rank))) return;
        its->EndErrand();
        its->owner->SaySaved(
            its, its->owner->SavedAnother(Error(Code::kPeerLost, "it has ended meanwhile")));
      },
      line);
  const timeval again{0, kLookAgainUs};
  event_add(line->died, &again);
}

void NodeSaving::Watch(Line* line, std::unique_ptr<checkpoint::Errand> errand) {
  line->errand = std::move(errand);
  line->ready = event_new(
      loop_, line->errand->ReadyFd(), EV_READ | EV_PERSIST,
      [](int, short, void* self) {
        auto* its = static_cast<Line*>(self);
        its->owner->OnErrand(its);
      },
      line);
  event_add(line->ready, nullptr);
}

void NodeSaving::OnErrand(Line* line) {
  std::optional<Status> outcome = line->errand->Outcome();
  if (!outcome) return;
  if (line->start != nullptr) return OnRevived(line, *std::move(outcome));
  line->EndErrand();
  SaySaved(line, SavedAnother(*std::move(outcome)));
}

void NodeSaving::SaySaved(Line* line, const Status& outcome) {
  Word word;
  word.rank = line->rank;
  word.kind = Word::Kind::kSaved;
  word.bytes = outcome.message();
  if (!outcome.ok() && word.bytes.empty()) word.bytes = "it could not be saved";
  word.process = static_cast<std::uint64_t>(line->process);
  word.links = line->links;
  const std::uint64_t given = outlets_.given(line->rank);
  if (given > 0 && !line->links.empty())
    word.input_bytes =
        given - std::min(given, UnreadBy(outlets_.process(line->rank), line->links.front()));
  if (space_ != nullptr)
    if (const Result<std::uint32_t> last = space_->LastId(); last.ok()) word.last_process = *last;
  outlets_.say(word);
}

}  // namespace lamina::launcher
