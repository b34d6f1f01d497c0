// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/checkpoints.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "checkpoint/store/folder.h"
#include "launcher/saving/memory_files.h"
#include "runtime/base/agent_word.h"
#include "runtime/base/checkpoint_word.h"
#include "runtime/base/clock.h"
#include "runtime/base/text.h"

namespace lamina::launcher {

namespace {

using Word = wire::SavingWord;

constexpr const char* kInputName = "input";
constexpr std::uint64_t kInputBytesMax = std::uint64_t{1} << 24;

double Seconds(std::uint64_t from_ms, std::uint64_t to_ms) {
  return static_cast<double>(to_ms - std::min(from_ms, to_ms)) / 1000;
}

// Images that hosts have in directories of their own may not be here.
Status CheckHere(const checkpoint::Opened& saved) {
  if (!saved.manifest.apart) return {};
  for (const checkpoint::Manifest::Rank& rank : saved.manifest.ranks)
    if (!rank.ended)
      if (Status status = checkpoint::VerifyImage(saved, rank.rank); !status.ok())
        return std::move(status).Within(Format("the image of rank %u is not here", rank.rank));
  return {};
}

}  // namespace

std::vector<std::string> KeptInput(const checkpoint::Opened& saved) {
  std::vector<std::string> kept;
  for (const checkpoint::Manifest::Rank& rank : saved.manifest.ranks) {
    kept.emplace_back();
    const Result<Descriptor> folder =
        checkpoint::OpenFolder(saved.folder.value(), RankFolderName(rank.rank));
    if (!folder.ok()) continue;
    Result<std::string> input = checkpoint::ReadFile(folder->value(), kInputName, kInputBytesMax);
    if (input.ok()) kept.back() = *std::move(input);
  }
  return kept;
}

Result<std::unique_ptr<Checkpoints>> Checkpoints::Make(event_base* loop, const Plan& plan,
                                                       const Options& options, NamedEngine engine,
                                                       Moments moments) {
  std::unique_ptr<Checkpoints> made(new Checkpoints(loop, plan, options, engine, moments));
  if (Status status = made->Open(options, std::move(engine.engine)); !status.ok()) return status;
  return made;
}

Checkpoints::Checkpoints(event_base* loop, const Plan& plan, const Options& options,
                         const NamedEngine& engine, Moments moments)
    : loop_(loop),
      plan_(plan),
      job_(options.job),
      stop_ms_(options.stop_ms),
      engine_(engine.name),
      engine_version_(engine.engine->version()),
      moments_(std::move(moments)),
      stores_(
          plan,
          [this](std::uint32_t rank, const wire::StoreWord& word) {
            SendTo(rank, Word::Kind::kStore, Encode(word));
          },
          moments_.say),
      rounds_(plan.ranks.size()),
      patience_(loop, [this] { Do(rounds_.TimedOut()); }),
      heard_(plan.ranks.size()) {}

Status Checkpoints::Open(const Options& options,
                         std::unique_ptr<checkpoint::CheckpointEngine> engine) {
  Result<std::unique_ptr<Archive>> archive = Archive::Open(
      loop_, plan_.options.checkpoint, options.local, options.claim,
      {[this](Epoch epoch, const Status& outcome) { OnStored(epoch, outcome); }, moments_.say});
  if (!archive.ok()) return std::move(archive).status();
  archive_ = *std::move(archive);
  orders_ = {
      engine_, archive_->path(), 0, "", kFirstProcess, engine->caps().keeps_process_ids, false, ""};
  if (options.revived != nullptr) {
    if (Status status = CheckTies(options.revived->manifest); !status.ok()) return status;
    TakeSaved(options.revived->manifest);
    orders_.revived_in = plan_.options.checkpoint.restored_in;
  }
  if (!options.here) {
    reader_ = std::move(engine);
    if (Status status = stores_.Open(archive_->directory()); !status.ok()) return status;
    orders_.mark = stores_.mark();
    if (options.revived == nullptr || !options.revived->manifest.apart) return {};
    orders_.apart = true;
    Result<std::string> text =
        checkpoint::ReadFile(options.revived->folder.value(), checkpoint::kPlanName,
                             options.revived->manifest.plan_bytes);
    if (!text.ok()) return std::move(text).status();
    looked_for_plan_ = *std::move(text);
    looked_for_ = options.revived->manifest;
    return {};
  }
  NodeSaving::Options node;
  for (const RankPlan& rank : plan_.ranks) node.ranks.push_back(rank.rank);
  node.last_process = orders_.last_process;
  node.revives = orders_.revived != 0;
  node.shared = options.shared;
  node.roster = options.roster;
  Result<std::unique_ptr<NodeSaving>> here = NodeSaving::Make(
      loop_, node, std::move(engine),
      {[this](const Word& word) { Take(word); }, moments_.process, moments_.given});
  if (!here.ok()) return std::move(here).status();
  here_ = *std::move(here);
  if (options.revived != nullptr) {
    if (Status status = CheckHere(*options.revived); !status.ok()) return status;
    if (Status status = here_->CheckFits(*options.revived); !status.ok()) return status;
  }
  send_ = [this](const Word& word) { here_->Take(word); };
  return {};
}

// Notes what nodes have to know of the state that the job goes on from.
void Checkpoints::TakeSaved(const checkpoint::Manifest& manifest) {
  orders_.revived = Index(manifest.epoch);
  orders_.last_process = std::max(manifest.last_process, kFirstProcess);
  revived_round_ = manifest.round;
  for (const checkpoint::Manifest::Rank& rank : manifest.ranks)
    if (rank.ended)
      ended_.push_back(rank.rank);
    else
      ++awaited_;
}

// Ranks that share the memory of windows are revived on one host.
Status Checkpoints::CheckTies(const checkpoint::Manifest& manifest) const {
  for (const checkpoint::Manifest::Part& part : manifest.parts) {
    if (!part.name.starts_with(kMemoryName) || part.rank >= manifest.ranks.size()) continue;
    std::vector<std::uint32_t> tied;
    bool apart = false;
    for (const checkpoint::Manifest::Rank& rank : manifest.ranks) {
      if (rank.ended || rank.node != manifest.ranks[part.rank].node) continue;
      tied.push_back(rank.rank);
      apart = apart || plan_.ranks[rank.rank].host != plan_.ranks[part.rank].host;
    }
    if (apart)
      return Error(Code::kUnsupported, "%s share the memory of a window and must be on one host",
                   RankWords(tied).c_str());
  }
  return {};
}

void Checkpoints::Equip(RankStart* start) {
  if (here_ != nullptr)
    here_->Equip(start);
  else
    start->saving = this;
}

Status Checkpoints::BeginToRevive(const checkpoint::Opened& saved, std::span<RankStart> starts,
                                  std::function<void(Status)> revived) {
  if (here_ != nullptr) return here_->BeginToRevive(saved, starts, std::move(revived));
  revived({});
  return {};
}

void Checkpoints::GiveUpReviving() {
  if (here_ != nullptr) here_->GiveUpReviving();
}

void Checkpoints::RanksStarted() {
  if (here_ != nullptr) here_->RanksStarted();
}

void Checkpoints::RankEnded(std::uint32_t rank) {
  if (here_ != nullptr) here_->RankEnded(rank);
  Do(rounds_.Ended(rank));
}

void Checkpoints::Take(const Word& word) {
  if (word.rank >= heard_.size()) return;
  switch (word.kind) {
    case Word::Kind::kAgent:
      heard_[word.rank] += word.bytes;
      while (TakeAgentWord(word.rank)) continue;
      return;
    case Word::Kind::kSaved:
      return OnRankSaved(word);
    case Word::Kind::kRevived:
      return OnRankRevived();
    case Word::Kind::kStore:
      return TakeStoreWord(word);
    default:
      return;
  }
}

void Checkpoints::TakeStoreWord(const Word& word) {
  const Result<wire::StoreWord> said = wire::DecodeStoreWord(word.bytes);
  if (!said.ok()) return;
  stores_.Take(word.rank, *said);
  if (!stores_.known()) return;
  if (looked_for_) FindImages();
  BeginIfAsked();
}

void Checkpoints::FindImages() {
  const checkpoint::Manifest manifest = *std::exchange(looked_for_, std::nullopt);
  const auto refuse = [this, epoch = manifest.epoch](const Status& why) {
    moments_.lost(Format("generation %u cannot be restarted: ", Index(epoch)) +
                  std::string(why.message()));
  };
  if (!stores_.fit().ok()) return refuse(stores_.fit());
  stores_.Find(manifest, looked_for_plan_, [refuse](Status status) {
    if (!status.ok()) refuse(status);
  });
}

Status Checkpoints::CheckStores() const {
  if (here_ != nullptr || stores_.fit().ok()) return {};
  return Error(stores_.fit().code(), "%s", std::string(stores_.fit().message()).c_str());
}

void Checkpoints::HostLost(std::uint32_t rank) { stores_.Lost(plan_.ranks[rank].host); }

// All are let go on when all are there.
void Checkpoints::OnRankRevived() {
  if (awaited_ == 0 || --awaited_ > 0) return;
  const RoundStep step = rounds_.Revived(revived_round_, ended_);
  ordered_ = rounds_.members();
  Do(step);
}

// Returns false if no whole word is there.
bool Checkpoints::TakeAgentWord(std::uint32_t rank) {
  std::string& heard = heard_[rank];
  AgentWord word;
  if (heard.size() < sizeof word) return false;
  std::memcpy(&word, heard.data(), sizeof word);
  const std::size_t behind =
      word.kind == AgentWord::kTrouble ? std::min(word.number, kTroubleBytesMax) : std::uint64_t{0};
  if (heard.size() < sizeof word + behind) return false;
  const std::string text = heard.substr(sizeof word, behind);
  heard.erase(0, sizeof word + behind);
  Do(rounds_.Report(rank, word, text));
  return true;
}

void Checkpoints::Take(Then then, Reply reply) {
  asked_.any = true;
  asked_.ends = asked_.ends || then == Then::kEnd;
  asked_.replies.push_back(std::move(reply));
  BeginIfAsked();
}

void Checkpoints::BeginIfAsked() {
  if (here_ == nullptr && !stores_.known()) return;
  if (!asked_.any || awaited_ > 0 || rounds_.phase() != Rounds::Phase::kIdle || IsStoring()) return;
  waiting_ = std::exchange(asked_, {});
  began_ms_ = MonotonicMs();
  if (Status status = CheckStores(); !status.ok())
    return Answer(false, "the job cannot be saved: " + std::string(status.message()));
  std::vector<std::uint32_t> ranks;
  for (const RankPlan& rank : plan_.ranks)
    if (here_ != nullptr || stores_.IsShared(rank.rank)) ranks.push_back(rank.rank);
  if (Status status = archive_->Begin(ranks); !status.ok())
    return Answer(false, "the job cannot be saved: " + std::string(status.message()));
  patience_.Set(stop_ms_);
  Do(rounds_.Begin());
}

void Checkpoints::Do(const RoundStep& step) {
  if (step.broken) {
    patience_.Clear();
    saves_ = 0;
    if (!IsStoring()) Drop();
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
  if (kind == AgentWord::kGoOn) going_ms_ = now_ms;
  patience_.Set(stop_ms_);
  const Word::Kind to = kind == AgentWord::kGoOn ? Word::Kind::kGoOn : Word::Kind::kAgent;
  for (const std::uint32_t rank : ordered_) SendTo(rank, to, bytes);
}

void Checkpoints::SendTo(std::uint32_t rank, wire::SavingWord::Kind kind,
                         const std::string& bytes) {
  Word word;
  word.rank = rank;
  word.kind = kind;
  word.bytes = bytes;
  if (send_ != nullptr) send_(word);
}

void Checkpoints::Save() {
  patience_.Clear();  // the engine has a limit of its own
  manifest_ = {};
  manifest_.job = job_;
  manifest_.engine = engine_;
  manifest_.engine_version = engine_version_;
  manifest_.round = rounds_.epoch();
  saving_ = Status();
  read_.assign(plan_.ranks.size(), 0);
  for (std::uint32_t host = 0; host < plan_.hosts.size(); ++host)
    manifest_.nodes.push_back({host, plan_.hosts[host].name});
  const std::vector<std::uint32_t> members = rounds_.members();
  for (const RankPlan& rank : plan_.ranks) {
    manifest_.ranks.push_back({rank.rank, 0, rank.host, 0, {}});
    if (std::find(members.begin(), members.end(), rank.rank) != members.end())
      manifest_.ranks.back().ended.reset();
  }
  manifest_.apart = here_ == nullptr && stores_.apart();
  if (!manifest_.apart) return SendSaves();
  stores_.Begin(archive_->generation()->epoch(), [this](Status status) {
    if (rounds_.phase() != Rounds::Phase::kSaving) return;
    if (!status.ok()) return Do(rounds_.Saved(status));
    SendSaves();
  });
}

// Each rank has its folder before the first is told, because that may be answered at once.
void Checkpoints::SendSaves() {
  const std::vector<std::uint32_t> members = rounds_.members();
  saves_ = members.size();
  const std::string part =
      archive_->path() + "/" + checkpoint::PartName(archive_->generation()->epoch()) + "/";
  for (const std::uint32_t rank : members)
    SendTo(rank, Word::Kind::kSave, part + RankFolderName(rank));
  if (members.empty()) OnSaved();
}

// All are waited for even if one has failed, because an engine that is ended in the middle of its
// work may take a rank with it.
void Checkpoints::OnRankSaved(const Word& word) {
  if (saves_ == 0 || rounds_.phase() != Rounds::Phase::kSaving) return;
  checkpoint::Manifest::Rank& rank = manifest_.ranks[word.rank];
  rank.process = static_cast<std::int64_t>(word.process);
  rank.links = word.links;
  read_[word.rank] = word.input_bytes;
  manifest_.last_process = std::max(manifest_.last_process, word.last_process);
  if (!word.bytes.empty() && saving_.ok())
    saving_ = Error(Code::kUnsupported, "rank %u: %s", word.rank, word.bytes.c_str());
  if (--saves_ == 0) OnSaved();
}

// The ranks of a job that is to end stay as they are until the generation is complete.
void Checkpoints::OnSaved() {
  if (saving_.ok()) saving_ = CheckWhole();
  if (saving_.ok()) saving_ = KeepInput();
  if (!saving_.ok()) return Do(rounds_.Saved(saving_));
  manifest_.streams = moments_.cut(read_);
  if (waiting_.ends)
    Store();
  else
    Do(rounds_.Saved({}));
}

// What the ranks were in the middle of must be the same for all of them. Other hosts look at what
// they have in directories of their own.
Status Checkpoints::CheckWhole() {
  std::vector<int> folders;
  for (const std::uint32_t rank : rounds_.members()) {
    if (here_ == nullptr && !stores_.IsShared(rank)) continue;
    if (const Result<int> folder = archive_->generation()->FolderOf(rank); folder.ok())
      folders.push_back(*folder);
  }
  const checkpoint::CheckpointEngine& engine = here_ != nullptr ? here_->engine() : *reader_;
  const std::string torn = engine.Torn(folders);
  return torn.empty() ? Status() : Error(Code::kUnsupported, "%s", torn.c_str());
}

Status Checkpoints::KeepInput() {
  for (const std::uint32_t rank : rounds_.members()) {
    const std::string unread = moments_.unread(rank, read_[rank]);
    if (unread.empty()) continue;
    if (here_ == nullptr && !stores_.IsShared(rank))
      return Error(
          Code::kUnsupported,
          "rank %u has not read all of standard input, which cannot be kept on a host with "
          "a directory of its own",
          rank);
    const Result<int> folder = archive_->generation()->FolderOf(rank);
    if (!folder.ok()) return Error(folder.status().code(), "cannot keep standard input");
    const Descriptor file(
        openat(*folder, kInputName, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.value() < 0 ||
        write(file.value(), unread.data(), unread.size()) != static_cast<ssize_t>(unread.size()))
      return SystemError(Code::kResource, errno, "cannot keep standard input");
  }
  return {};
}

void Checkpoints::OnRoundOver() {
  patience_.Clear();
  if (IsStoring()) return;  // a rank of a job that is to end has ended by itself
  if (rounds_.outcome().ok() && archive_->generation() != nullptr) return Store();
  Drop();
  Answer(false, std::string(rounds_.outcome().message()));
  BeginIfAsked();
}

void Checkpoints::Store() {
  archive_->Complete(&manifest_);
  if (!manifest_.apart) return archive_->Store(std::exchange(manifest_, {}), waiting_.ends);
  storing_apart_ = true;
  stores_.Measure(&manifest_, [this](Status status) { StoreApart(std::move(status)); });
}

void Checkpoints::StoreApart(Status measured) {
  if (!measured.ok()) return GiveUpStoring(std::move(measured));
  const auto by_rank = [](const auto& one, const auto& other) { return one.rank < other.rank; };
  std::stable_sort(manifest_.parts.begin(), manifest_.parts.end(), by_rank);
  stores_.Copy(manifest_, [this](Status status) { KeepApart(std::move(status)); });
}

void Checkpoints::KeepApart(Status copied) {
  if (!copied.ok()) return GiveUpStoring(std::move(copied));
  stores_.Keep(manifest_, archive_->plan(), [this](Status status) {
    if (!status.ok()) return GiveUpStoring(std::move(status));
    stored_apart_ = manifest_;
    archive_->Store(std::exchange(manifest_, {}), waiting_.ends);
  });
}

void Checkpoints::GiveUpStoring(Status why) {
  const Epoch epoch = archive_->generation()->epoch();
  Drop();
  storing_apart_ = false;
  moments_.say(Format("generation %u could not be kept: ", Index(epoch)) +
               std::string(why.message()));
  TellStored(epoch, why);
}

void Checkpoints::Drop() {
  archive_->Drop();
  if (stores_.apart()) stores_.Drop();
}

// It is valid now. A host that does not know that yet learns it when the job goes on from it.
void Checkpoints::OnStored(Epoch epoch, const Status& outcome) {
  if (!storing_apart_ || forwarding_) {
    storing_apart_ = forwarding_ = false;
    return TellStored(epoch, outcome);
  }
  if (!outcome.ok()) {
    stores_.Drop();
    storing_apart_ = false;
    return TellStored(epoch, outcome);
  }
  stores_.Commit(epoch, [this, epoch](Status status) {
    if (!status.ok())
      moments_.say(Format("generation %u: ", Index(epoch)) + std::string(status.message()));
    if (archive_->IsForwarded(epoch, waiting_.ends)) return ForwardApart(epoch);
    storing_apart_ = false;
    TellStored(epoch, {});
  });
}

void Checkpoints::ForwardApart(Epoch epoch) {
  forwarding_ = true;
  const auto finish = [this](Status status) {
    std::vector<std::uint32_t> here;
    for (const RankPlan& rank : plan_.ranks)
      if (stores_.IsShared(rank.rank)) here.push_back(rank.rank);
    archive_->Forward(std::exchange(stored_apart_, {}), std::move(here), std::move(status),
                      waiting_.ends);
  };
  if (Status status = archive_->BeginForwarding(stored_apart_); !status.ok())
    return finish(std::move(status));
  stores_.Forward(epoch, archive_->final_path(), finish);
}

void Checkpoints::TellStored(Epoch epoch, const Status& outcome) {
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
