// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/supervise/host_stores.h"

#include <algorithm>

#include "runtime/base/text.h"

namespace lamina::launcher {
namespace {

using Word = wire::StoreWord;

}  // namespace

HostStores::HostStores(const Plan& plan, Send send, Say say)
    : plan_(plan), send_(std::move(send)), say_(std::move(say)) {
  for (const RankPlan& rank : plan.ranks) hosts_.insert(rank.host);
}

Status HostStores::Open(int directory) {
  Result<std::string> name = Mark::NewName();
  if (!name.ok()) return std::move(name).status();
  Result<std::unique_ptr<Mark>> mark = Mark::Leave(directory, *name, Word::kLauncher);
  if (!mark.ok()) return std::move(mark).status();
  name_ = *std::move(name);
  mark_ = *std::move(mark);
  return {};
}

bool HostStores::IsShared(std::uint32_t rank) const {
  return !apart_ || IsLaunchers(StoreOf(rank));
}

std::uint32_t HostStores::AnyRankOf(std::uint32_t host) const {
  return std::find_if(plan_.ranks.begin(), plan_.ranks.end(),
                      [host](const RankPlan& rank) { return rank.host == host; })
      ->rank;
}

void HostStores::Take(std::uint32_t rank, const Word& word) {
  const std::uint32_t host = plan_.ranks[rank].host;
  if (word.kind == Word::Kind::kHere) return TakeHere(host, word);
  if (word.kind == Word::Kind::kPiece || word.kind == Word::Kind::kTaken) return PassOn(rank, word);
  if (word.kind != Word::Kind::kDone || awaited_ == 0) return;
  const std::string& name = plan_.hosts[host].name;
  if (!word.text.empty()) say_("warning: " + name + ": " + word.text);
  Status status = word.bytes.empty()
                      ? Status()
                      : Error(Code::kResource, "%s: %s", name.c_str(), word.bytes.c_str());
  if (!sent_.empty()) {
    if (sent_.erase(word.rank) == 0) return;  // both ends may complain
    if (status.ok()) status = CheckImage(word.rank, word.files);
    if (!status.ok()) status = std::move(status).Within(Format("rank %u", word.rank));
  }
  if (measured_ != nullptr)
    for (const Word::File& file : word.files)
      measured_->parts.push_back({word.rank, file.name, file.bytes, file.checksum});
  if (!word.ranks.empty())
    stores_[store_of_.at(host)].images.insert(word.ranks.begin(), word.ranks.end());
  Answered(std::move(status));
}

// What arrives tells where it comes from.
void HostStores::PassOn(std::uint32_t rank, const Word& word) const {
  if (word.to >= plan_.ranks.size()) return;
  Word passed = word;
  passed.to = rank;
  send_(word.to, passed);
}

void HostStores::TakeHere(std::uint32_t host, const Word& word) {
  if (fit_.ok() && !word.bytes.empty())
    fit_ = Error(Code::kUnsupported, "%s cannot use the directory of --checkpoint-dir: %s",
                 plan_.hosts[host].name.c_str(), word.bytes.c_str());
  firsts_[host] = word.host;
  known_ = firsts_.size() == hosts_.size();
  if (!known_) return;
  mark_.reset();
  MakeStores();
}

void HostStores::MakeStores() {
  for (const auto& [host, first] : firsts_) {
    const auto same = [first = first](const Store& store) { return store.first == first; };
    auto store = std::find_if(stores_.begin(), stores_.end(), same);
    if (store == stores_.end()) store = stores_.insert(stores_.end(), {first, host, {}, {}});
    store_of_[host] = static_cast<std::size_t>(store - stores_.begin());
    apart_ = apart_ || !IsLaunchers(*store);
  }
  for (const RankPlan& rank : plan_.ranks)
    stores_[store_of_.at(rank.host)].ranks.push_back(rank.rank);
}

void HostStores::Lost(std::uint32_t host) {
  lost_.insert(host);
  if (awaited_ == 0) return;
  awaited_ = 1;
  Answered(WhoIsLost());
}

Status HostStores::WhoIsLost() const {
  if (lost_.empty()) return {};
  return Error(Code::kPeerLost, "%s is lost", plan_.hosts[*lost_.begin()].name.c_str());
}

void HostStores::Ask(std::vector<std::pair<std::uint32_t, Word>> words, Done done) {
  outcome_ = WhoIsLost();
  done_ = std::move(done);
  if (!lost_.empty()) words.clear();
  awaited_ = words.size() + 1;
  for (const auto& [rank, word] : words) send_(rank, word);
  Answered({});  // there may be nobody to ask
}

void HostStores::AskOthers(const Word& word, Done done) {
  std::vector<std::pair<std::uint32_t, Word>> words;
  for (const Store& store : stores_) {
    if (IsLaunchers(store)) continue;
    words.emplace_back(AnyRankOf(store.host), word);
    words.back().second.ranks = store.ranks;
  }
  Ask(std::move(words), std::move(done));
}

void HostStores::Answered(Status status) {
  if (outcome_.ok()) outcome_ = std::move(status);
  if (--awaited_ > 0) return;
  measured_ = nullptr;
  sent_.clear();
  std::exchange(done_, nullptr)(std::exchange(outcome_, Status()));
}

void HostStores::Begin(Epoch epoch, Done done) {
  Word word;
  word.kind = Word::Kind::kBegin;
  word.generation = Index(epoch);
  AskOthers(word, std::move(done));
}

void HostStores::Measure(checkpoint::Manifest* manifest, Done done) {
  std::vector<std::pair<std::uint32_t, Word>> words;
  for (const checkpoint::Manifest::Rank& rank : manifest->ranks) {
    if (rank.ended) continue;
    words.emplace_back(rank.rank, Word());
    words.back().second.kind = Word::Kind::kMeasure;
    words.back().second.generation = Index(manifest->epoch);
    words.back().second.rank = rank.rank;
  }
  measured_ = manifest;
  Ask(std::move(words), std::move(done));
}

void HostStores::Keep(const checkpoint::Manifest& manifest, const std::string& plan, Done done) {
  Word word;
  word.kind = Word::Kind::kKeep;
  word.generation = Index(manifest.epoch);
  word.bytes = Encode(manifest);
  word.text = plan;
  AskOthers(word, std::move(done));
}

void HostStores::Commit(Epoch epoch, Done done) {
  Word word;
  word.kind = Word::Kind::kCommit;
  word.generation = Index(epoch);
  AskOthers(word, std::move(done));
}

void HostStores::Forward(Epoch epoch, const std::string& path, Done done) {
  Word word;
  word.kind = Word::Kind::kForward;
  word.generation = Index(epoch);
  word.text = path;
  AskOthers(word, std::move(done));
}

void HostStores::Drop() {
  Word word;
  word.kind = Word::Kind::kDrop;
  for (const Store& store : stores_)
    if (!IsLaunchers(store)) send_(AnyRankOf(store.host), word);
}

void HostStores::SendImages(const checkpoint::Manifest& manifest,
                            const std::vector<Transfer>& transfers, Done done) {
  std::vector<std::pair<std::uint32_t, Word>> words;
  for (const Transfer& transfer : transfers) {
    words.emplace_back(transfer.from, Word());
    Word& word = words.back().second;
    word.kind = Word::Kind::kSend;
    word.generation = Index(manifest.epoch);
    word.rank = transfer.rank;
    word.to = transfer.to;
    sent_.insert(transfer.rank);
  }
  parts_ = manifest.parts;
  Ask(std::move(words), std::move(done));
}

Status HostStores::CheckImage(std::uint32_t rank, const std::vector<Word::File>& files) const {
  std::map<std::string, std::pair<std::uint64_t, std::uint32_t>> wanted, found;
  for (const checkpoint::Manifest::Part& part : parts_)
    if (part.rank == rank) wanted[part.name] = {part.bytes, part.checksum};
  for (const Word::File& file : files) found[file.name] = {file.bytes, file.checksum};
  if (wanted == found) return {};
  return Error(Code::kInvalid, "the copy of its image is not what it is a copy of");
}

// Directories form a ring.
void HostStores::Copy(const checkpoint::Manifest& manifest, Done done) {
  std::vector<Transfer> transfers;
  for (const checkpoint::Manifest::Rank& rank : manifest.ranks) {
    if (rank.ended || stores_.size() < 2) continue;
    const std::size_t own = store_of_.at(plan_.ranks[rank.rank].host);
    const Store& next = stores_[(own + 1) % stores_.size()];
    transfers.push_back({rank.rank, AnyRankOf(stores_[own].host), AnyRankOf(next.host)});
  }
  SendImages(manifest, transfers, std::move(done));
}

void HostStores::Find(const checkpoint::Manifest& manifest, const std::string& plan, Done done) {
  Word word;
  word.kind = Word::Kind::kLook;
  word.generation = Index(manifest.epoch);
  word.bytes = Encode(manifest);
  std::vector<std::pair<std::uint32_t, Word>> words;
  for (const Store& store : stores_) words.emplace_back(AnyRankOf(store.host), word);
  Ask(std::move(words), [this, manifest, plan, done = std::move(done)](Status status) {
    if (!status.ok()) return done(std::move(status));
    Found(manifest, plan, done);
  });
}

void HostStores::Found(const checkpoint::Manifest& manifest, const std::string& plan, Done done) {
  std::vector<Transfer> transfers;
  std::set<std::uint32_t> targets;  // ranks whose nodes get a place for images
  for (const checkpoint::Manifest::Rank& rank : manifest.ranks) {
    const Store& goes_to = StoreOf(rank.rank);
    if (rank.ended || goes_to.images.contains(rank.rank)) continue;
    const auto has = [&rank](const Store& store) { return store.images.contains(rank.rank); };
    const auto from = std::find_if(stores_.begin(), stores_.end(), has);
    const std::string was =
        rank.node < manifest.nodes.size() ? manifest.nodes[rank.node].name : "?";
    if (from == stores_.end())
      return done(Error(Code::kNotFound,
                        "no host of the job has the image of rank %u, which was written on %s; -H "
                        "must name that host, or one that has a copy",
                        rank.rank, was.c_str()));
    transfers.push_back({rank.rank, AnyRankOf(from->host), AnyRankOf(goes_to.host)});
    targets.insert(AnyRankOf(goes_to.host));
  }
  Word place;
  place.kind = Word::Kind::kFetch;
  place.generation = Index(manifest.epoch);
  place.bytes = Encode(manifest);
  place.text = plan;
  std::vector<std::pair<std::uint32_t, Word>> words;
  for (const std::uint32_t rank : targets) words.emplace_back(rank, place);
  Ask(std::move(words), [this, manifest, transfers, done = std::move(done)](Status status) {
    if (!status.ok()) return done(std::move(status));
    SendImages(manifest, transfers, [this, done](Status sent) {
      if (!sent.ok()) return done(std::move(sent));
      Word complete;
      complete.kind = Word::Kind::kComplete;
      for (const std::uint32_t host : hosts_) send_(AnyRankOf(host), complete);
      done({});
    });
  });
}

}  // namespace lamina::launcher
