// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/saving/node_store.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <set>
#include <utility>

#include "checkpoint/store/folder.h"
#include "checkpoint/store/listing.h"
#include "checkpoint/store/tuning.h"
#include "launcher/saving/tuning.h"
#include "runtime/base/checkpoint_word.h"

namespace lamina::launcher {
namespace {

using Word = wire::StoreWord;

constexpr const char* kArrivingEnding = ".arriving";
constexpr const char* kDamagedEnding = ".damaged";

Status Copy(const Status& status) {
  return status.ok() ? Status() : Status(status.code(), std::string(status.message()));
}

// What is on its way from another node is no image yet.
std::string ArrivingName(std::uint32_t rank) { return RankFolderName(rank) + kArrivingEnding; }

// Removes what a sender has left that has died.
Status RemoveArriving(int generation) {
  const Result<std::vector<std::string>> names = checkpoint::NamesIn(generation);
  if (!names.ok()) return Copy(names.status());
  for (const std::string& name : *names)
    if (name.ends_with(kArrivingEnding))
      if (Status status = checkpoint::RemoveFolder(generation, name); !status.ok()) return status;
  return {};
}

Status MeasureInto(int folder, std::uint32_t rank, Word* answer) {
  std::vector<checkpoint::Manifest::Part> parts;
  if (Status status = checkpoint::MeasureFolder(folder, rank, &parts); !status.ok()) return status;
  for (const checkpoint::Manifest::Part& each : parts)
    answer->files.push_back({each.name, each.bytes, each.checksum});
  return {};
}

}  // namespace

Result<std::unique_ptr<NodeStore>> NodeStore::Open(event_base* loop, Outlets outlets) {
  std::unique_ptr<NodeStore> store(new NodeStore(std::move(outlets)));
  Result<std::unique_ptr<Aside>> aside = Aside::Open(loop);
  if (!aside.ok()) return std::move(aside).status();
  store->aside_ = *std::move(aside);
  store->sender_ = std::make_unique<ImageSender>(store->outlets_.say);
  return store;
}

// The launcher may have made the generation valid, and died before it could say so.
NodeStore::~NodeStore() {
  aside_.reset();
  if (generation_ != nullptr && prepared_) generation_->Leave();
}

// A directory that is this host's own has the same path, and nothing of the launcher's in it.
Status NodeStore::LeaveMark(const std::string& path, const std::string& mark, std::uint32_t host) {
  Result<Descriptor> directory = checkpoint::MakeStore(path);
  if (!directory.ok()) return std::move(directory).status();
  directory_ = *std::move(directory);
  Result<std::unique_ptr<Mark>> left = Mark::Leave(directory_.value(), mark, host);
  if (!left.ok()) return std::move(left).status();
  mark_ = *std::move(left);
  return {};
}

// The launcher keeps others out of its own directory.
void NodeStore::SayHere(const std::string& path, const std::string& mark, std::uint32_t host) {
  const Status marked = LeaveMark(path, mark, host);
  Word word;
  word.bytes = marked.message();
  if (marked.ok()) word.host = mark_->first();
  if (!marked.ok() || word.host != host) return outlets_.say(word);
  aside_->Run([this, word, path]() mutable -> std::function<void()> {
    word.bytes = claim_.Take(path).message();
    return [this, word = std::move(word)] { outlets_.say(word); };
  });
}

void NodeStore::Take(const Word& word) {
  switch (word.kind) {
    case Word::Kind::kComplete:
      return outlets_.complete();
    case Word::Kind::kTaken:
      return sender_->Taken(word.at);
    case Word::Kind::kPiece:
      if (!word.name.empty()) return TakePiece(word);
      if (spoilt_.erase(word.rank) > 0) return;  // the launcher knows
      break;
    case Word::Kind::kSend: {
      Result<Descriptor> folder = OpenEither(word.generation);
      if (folder.ok()) folder = checkpoint::OpenFolder(folder->value(), RankFolderName(word.rank));
      if (folder.ok()) return sender_->Send(word, *std::move(folder));
      Word answer;
      answer.kind = Word::Kind::kDone;
      answer.rank = word.rank;
      answer.bytes = folder.status().message();
      return outlets_.say(answer);
    }
    default:
      break;
  }
  aside_->Run([this, word]() -> std::function<void()> {
    Word answer = Do(word);
    if (word.kind == Word::Kind::kDrop) return [] {};
    return [this, answer = std::move(answer)] { outlets_.say(answer); };
  });
}

// Opens what is here of a generation, complete or not.
Result<Descriptor> NodeStore::OpenEither(std::uint32_t generation) const {
  Result<Descriptor> part =
      checkpoint::OpenFolder(directory_.value(), checkpoint::PartName(Epoch{generation}));
  if (part.ok() || part.status().code() != Code::kNotFound) return part;
  return checkpoint::OpenFolder(directory_.value(), checkpoint::FolderName(Epoch{generation}));
}

// An image that cannot be written is taken all the same, and forgotten, so that its sender comes to
// its end.
void NodeStore::TakePiece(const Word& word) {
  if (!spoilt_.contains(word.rank))
    if (const Status status = Write(word); !status.ok()) {
      spoilt_.insert(word.rank);
      Word answer;
      answer.kind = Word::Kind::kDone;
      answer.rank = word.rank;
      answer.bytes = status.message();
      outlets_.say(answer);
    }
  if (word.bytes.empty()) return;
  Word taken;
  taken.kind = Word::Kind::kTaken;
  taken.to = word.to;
  taken.at = word.bytes.size();
  outlets_.say(taken);
}

Status NodeStore::Write(const Word& word) const {
  if (!checkpoint::IsPlainName(word.name)) return Error(Code::kInvalid, "a file has no plain name");
  const Result<Descriptor> generation = OpenEither(word.generation);
  if (!generation.ok()) return Copy(generation.status());
  const std::string name = ArrivingName(word.rank);
  Result<Descriptor> folder = checkpoint::OpenFolder(generation->value(), name);
  if (!folder.ok() && folder.status().code() == Code::kNotFound)
    folder = checkpoint::MakeFolder(generation->value(), name);
  if (!folder.ok()) return std::move(folder).status();
  const Descriptor file(openat(folder->value(), word.name.c_str(),
                               O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.value() < 0)
    return SystemError(checkpoint::CodeOfDisk(errno), errno, "cannot make %s", word.name.c_str());
  const auto at = static_cast<off_t>(word.at);
  const bool done = word.bytes.empty() ? ftruncate(file.value(), at) == 0
                                       : pwrite(file.value(), word.bytes.data(), word.bytes.size(),
                                                at) == static_cast<ssize_t>(word.bytes.size());
  if (!done)
    return SystemError(checkpoint::CodeOfDisk(errno), errno, "cannot write %s", word.name.c_str());
  return {};
}

// All files of an image have come, so it gets its name, once it is on the disk.
Status NodeStore::EndImage(const Word& word, Word* answer) {
  const Result<Descriptor> generation = OpenEither(word.generation);
  if (!generation.ok()) return Copy(generation.status());
  const std::string arriving = ArrivingName(word.rank);
  Result<Descriptor> folder = checkpoint::OpenFolder(generation->value(), arriving);
  if (!folder.ok() && folder.status().code() == Code::kNotFound)  // it has no files
    folder = checkpoint::MakeFolder(generation->value(), arriving);
  if (!folder.ok()) return std::move(folder).status();
  if (Status status = MeasureInto(folder->value(), word.rank, answer); !status.ok()) return status;
  const std::string name = RankFolderName(word.rank);
  if (renameat2(generation->value(), arriving.c_str(), generation->value(), name.c_str(),
                RENAME_NOREPLACE) != 0)
    return SystemError(checkpoint::CodeOfDisk(errno), errno, "cannot rename %s", arriving.c_str());
  return checkpoint::Sync(generation->value(), name);
}

// A place for images of a generation that other directories have.
Status NodeStore::Fetch(const Word& word) {
  Descriptor folder;
  const Status there = OpenSaved(word, &folder);
  if (there.ok()) return RemoveArriving(folder.value());
  if (there.code() != Code::kNotFound) return Copy(there);
  Result<std::unique_ptr<checkpoint::Generation>> begun =
      checkpoint::Generation::BeginAlso(directory_.value(), Epoch{word.generation});
  if (!begun.ok()) return std::move(begun).status();
  checkpoint::Manifest sums;
  if (Status status = (*begun)->WritePlan(word.text, &sums); !status.ok()) return status;
  if (Status status = (*begun)->Prepare(word.bytes); !status.ok()) return status;
  return (*begun)->Finish();
}

Word NodeStore::Do(const Word& word) {
  Word answer;
  answer.kind = Word::Kind::kDone;
  answer.rank = word.rank;
  Status status;
  switch (word.kind) {
    case Word::Kind::kBegin:
      status = Begin(word);
      break;
    case Word::Kind::kMeasure:
      status = Measure(word, &answer);
      break;
    case Word::Kind::kKeep:
      status = Keep(word);
      break;
    case Word::Kind::kCommit:
      status = Commit();
      break;
    case Word::Kind::kForward:
      status = Forward(word);
      break;
    case Word::Kind::kDrop:
      generation_.reset();
      break;
    case Word::Kind::kFetch:
      status = Fetch(word);
      break;
    case Word::Kind::kPiece:
      status = EndImage(word, &answer);
      break;
    case Word::Kind::kLook:
      Look(word, &answer);
      return answer;
    default:
      status = Error(Code::kInvalid, "the launcher's word makes no sense");
  }
  answer.bytes = status.message();
  return answer;
}

Status NodeStore::Begin(const Word& word) {
  generation_.reset();
  Result<std::unique_ptr<checkpoint::Generation>> begun =
      checkpoint::Generation::BeginAlso(directory_.value(), Epoch{word.generation});
  if (!begun.ok()) return std::move(begun).status();
  for (const std::uint32_t rank : word.ranks)
    if (const Result<int> folder = (*begun)->FolderOf(rank); !folder.ok())
      return Copy(folder.status());
  generation_ = *std::move(begun);
  prepared_ = false;
  return {};
}

Status NodeStore::Measure(const Word& word, Word* answer) {
  Result<Descriptor> part =
      checkpoint::OpenFolder(directory_.value(), checkpoint::PartName(Epoch{word.generation}));
  if (!part.ok()) return std::move(part).status();
  const Result<Descriptor> folder =
      checkpoint::OpenFolder(part->value(), RankFolderName(word.rank));
  if (!folder.ok()) return Copy(folder.status());
  return MeasureInto(folder->value(), word.rank, answer);
}

Status NodeStore::Keep(const Word& word) {
  if (generation_ == nullptr) return Error(Code::kInvalid, "no generation was begun");
  std::vector<int> folders;
  for (const std::uint32_t rank : word.ranks)
    if (const Result<int> folder = generation_->FolderOf(rank); folder.ok())
      folders.push_back(*folder);
  if (const std::string torn = outlets_.torn(folders); !torn.empty())
    return Error(Code::kUnsupported, "%s", torn.c_str());
  checkpoint::Manifest sums;
  if (Status status = generation_->WritePlan(word.text, &sums); !status.ok()) return status;
  const Result<checkpoint::Manifest> manifest = checkpoint::ParseManifest(word.bytes);
  if (!manifest.ok()) return Copy(manifest.status());
  since_ = manifest->since;
  Status status = generation_->Prepare(word.bytes);
  prepared_ = status.ok();
  return status;
}

Status NodeStore::Commit() {
  if (generation_ == nullptr) return Error(Code::kInvalid, "no generation was begun");
  if (Status status = generation_->Finish(); !status.ok()) return status;
  generation_.reset();
  return checkpoint::KeepNewest(directory_.value(), kGenerationsKept, since_);
}

// The launcher has made folders for all ranks there.
Status NodeStore::Forward(const Word& word) const {
  const Result<Descriptor> own = OpenEither(word.generation);
  if (!own.ok()) return Copy(own.status());
  const Result<Descriptor> directory = checkpoint::OpenStore(word.text);
  if (!directory.ok()) return Copy(directory.status());
  const Result<Descriptor> part =
      checkpoint::OpenFolder(directory->value(), checkpoint::PartName(Epoch{word.generation}));
  if (!part.ok()) return Copy(part.status());
  for (const std::uint32_t rank : word.ranks)
    if (Status status = checkpoint::CopyRank(own->value(), part->value(), rank); !status.ok())
      return status;
  return {};
}

// Opens what this directory has of the generation whose manifest the word has. A host that has
// ended between the launcher's rename and its own changes the name now.
Status NodeStore::OpenSaved(const Word& word, Descriptor* folder) {
  const std::string whole = checkpoint::FolderName(Epoch{word.generation});
  const std::string part = checkpoint::PartName(Epoch{word.generation});
  for (const std::string& name : {whole, part}) {
    Result<Descriptor> opened = checkpoint::OpenFolder(directory_.value(), name);
    if (!opened.ok() && opened.status().code() == Code::kNotFound) continue;
    if (!opened.ok()) return std::move(opened).status();
    const Result<std::string> manifest = checkpoint::ReadFile(
        opened->value(), checkpoint::kManifestName, checkpoint::kManifestBytesMax);
    if (!manifest.ok() || *manifest != word.bytes) continue;
    if (name == part && renameat2(directory_.value(), part.c_str(), directory_.value(),
                                  whole.c_str(), RENAME_NOREPLACE) != 0)
      return SystemError(Code::kDenied, errno, "cannot rename %s", part.c_str());
    *folder = *std::move(opened);
    return {};
  }
  return Error(Code::kNotFound, "there is nothing of it");
}

void NodeStore::Look(const Word& word, Word* answer) {
  checkpoint::Opened saved;
  if (Status status = OpenSaved(word, &saved.folder); !status.ok()) {
    if (status.code() != Code::kNotFound) answer->bytes = status.message();
    return;
  }
  Result<checkpoint::Manifest> manifest = checkpoint::ParseManifest(word.bytes);
  if (!manifest.ok()) return;
  saved.manifest = *std::move(manifest);
  for (const checkpoint::Manifest::Rank& rank : saved.manifest.ranks) {
    if (rank.ended) continue;
    const Status status = checkpoint::VerifyImage(saved, rank.rank);
    if (status.ok()) answer->ranks.push_back(rank.rank);
    if (status.ok() || status.code() == Code::kNotFound) continue;
    answer->text += (answer->text.empty() ? "" : "; ") + std::string(status.message());
    // It is kept to be looked at, and leaves its place to another one.
    const std::string name = RankFolderName(rank.rank);
    static_cast<void>(renameat(saved.folder.value(), name.c_str(), saved.folder.value(),
                               (name + kDamagedEnding).c_str()));
  }
}

}  // namespace lamina::launcher
