// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/checkpoints.h"

#include <event2/event.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "runtime/base/agent_word.h"
#include "runtime/base/clock.h"
#include "runtime/base/text.h"

namespace lamina::launcher {

// The pipes to one rank's agent.
struct Checkpoints::Line {
  Checkpoints* owner = nullptr;
  std::uint32_t rank = 0;
  std::int64_t process = 0;  // that the agent is in
  Descriptor orders, reports;
  Descriptor rank_orders, rank_reports;  // the rank's ends, until it has been started
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

// What the descriptors 0 to 2 of a process are, for a revival.
std::vector<std::string> LinksOf(std::int64_t process) {
  std::vector<std::string> links;
  for (int fd = 0; fd < 3; ++fd) {
    char text[256];
    const std::string path = Format("/proc/%lld/fd/%d", static_cast<long long>(process), fd);
    const ssize_t bytes = readlink(path.c_str(), text, sizeof text);
    links.emplace_back(text, bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  }
  return links;
}

double Seconds(std::uint64_t from_ms, std::uint64_t to_ms) {
  return static_cast<double>(to_ms - std::min(from_ms, to_ms)) / 1000;
}

}  // namespace

Result<std::unique_ptr<Checkpoints>> Checkpoints::Make(event_base* loop, const Plan& plan,
                                                       std::string job, std::uint32_t stop_ms,
                                                       Engine engine, Moments moments) {
  std::unique_ptr<Checkpoints> made(
      new Checkpoints(loop, plan, std::move(job), stop_ms, std::move(engine), std::move(moments)));
  if (Status status = made->Open(); !status.ok()) return status;
  return made;
}

Checkpoints::Checkpoints(event_base* loop, const Plan& plan, std::string job, std::uint32_t stop_ms,
                         Engine engine, Moments moments)
    : loop_(loop),
      plan_(plan),
      job_(std::move(job)),
      stop_ms_(stop_ms),
      engine_(std::move(engine)),
      moments_(std::move(moments)),
      rounds_(plan.ranks.size()),
      patience_(loop, [this] { Do(rounds_.TimedOut()); }) {}

Checkpoints::~Checkpoints() = default;

Status Checkpoints::Open() {
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
  return {};
}

void Checkpoints::Equip(RankStart* start) const {
  const Line& line = *lines_[start->rank];
  start->checkpoint_fds = {line.rank_orders.value(), line.rank_reports.value()};
  start->own_environment.push_back(
      Format("%s=%d:%d", kAgentVariable, line.rank_orders.value(), line.rank_reports.value()));
}

void Checkpoints::RanksStarted() {
  for (const auto& line : lines_) {
    line->rank_orders = Descriptor();
    line->rank_reports = Descriptor();
  }
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
  if (word.kind == AgentWord::kHere) line->process = static_cast<std::int64_t>(word.number);
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
  }
  patience_.Set(stop_ms_);
  // An agent reads whatever it is told, so there is room in the pipe. One that has died is told
  // otherwise.
  for (const std::uint32_t rank : ordered_)
    static_cast<void>(!write(lines_[rank]->orders.value(), bytes.data(), bytes.size()));
}

void Checkpoints::Save() {
  patience_.Clear();  // the engine has a limit of its own
  manifest_ = {};
  manifest_.job = job_;
  manifest_.engine = engine_.name;
  manifest_.engine_version = engine_.engine->version();
  for (std::uint32_t host = 0; host < plan_.hosts.size(); ++host)
    manifest_.nodes.push_back({host, plan_.hosts[host].name});
  const std::vector<std::uint32_t> members = rounds_.members();
  for (const RankPlan& rank : plan_.ranks) {
    const std::int64_t process = lines_[rank.rank]->process;
    const bool is_member = std::find(members.begin(), members.end(), rank.rank) != members.end();
    manifest_.ranks.push_back({rank.rank, is_member ? std::optional<std::int32_t>() : 0, rank.host,
                               process, is_member ? LinksOf(process) : std::vector<std::string>()});
  }
  for (const std::uint32_t rank : members) {
    Result<int> folder = archive_->generation()->FolderOf(rank);
    if (!folder.ok()) return Do(rounds_.Saved(std::move(folder).status()));
    Result<std::unique_ptr<checkpoint::Errand>> errand = engine_.engine->Save(
        {rank, manifest_.ranks[rank].process, manifest_.ranks[rank].links}, *folder);
    if (!errand.ok())
      return Do(rounds_.Saved(std::move(errand).status().Within(Format("rank %u", rank))));
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
  }
}

void Checkpoints::OnErrand(std::uint32_t rank) {
  const auto its = std::find_if(working_.begin(), working_.end(),
                                [rank](const auto& working) { return working->rank == rank; });
  if (its == working_.end()) return;
  std::optional<Status> outcome = (*its)->errand->Outcome();
  if (!outcome) return;
  working_.erase(its);
  if (!outcome->ok())
    Do(rounds_.Saved((*std::move(outcome)).Within(Format("rank %u", rank))));
  else if (working_.empty())
    OnSaved();
}

// The ranks of a job that is to end stay as they are until the generation is complete.
void Checkpoints::OnSaved() {
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
