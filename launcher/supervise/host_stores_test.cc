// SPDX-License-Identifier: BSD-3-Clause
// Goal:   where hosts have directories of their own, each generation is kept in two of them, and a
//         job goes on from what is left, on whatever hosts.
// Method: the launcher's part and those of the nodes in one process, with a folder for each host;
//         words pass through their bytes.
#include "launcher/supervise/host_stores.h"

#include <event2/event.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/store/checksum.h"
#include "checkpoint/store/folder.h"
#include "checkpoint/store/generation.h"
#include "checkpoint/store/listing.h"
#include "launcher/saving/node_store.h"
#include "runtime/base/checkpoint_word.h"

namespace lamina::launcher {
namespace {

namespace fs = std::filesystem;
namespace store = lamina::checkpoint;
using List = std::vector<std::string>;

constexpr const char* kPlan = "/home\0./solver\0";

// An image has a hole, and behind that more than may be under way at a time.
constexpr std::uintmax_t kDataAt = 600'000;
constexpr std::uintmax_t kImageBytes = 2'000'000;

// Hosts of a job, and the number of ranks on each. Those whose folder has one name have one
// directory; that of the launcher is "launcher".
struct At {
  std::string folder;
  std::uint32_t ranks = 1;
};

class Job {
 public:
  Job(const std::string& root, const std::vector<At>& hosts) : root_(root) {
    for (const At& at : hosts) {
      const auto host = static_cast<std::uint32_t>(plan_.hosts.size());
      plan_.hosts.emplace_back();
      plan_.hosts.back().name = at.folder;
      for (std::uint32_t i = 0; i < at.ranks; ++i) {
        plan_.ranks.emplace_back();
        plan_.ranks.back().rank = static_cast<std::uint32_t>(plan_.ranks.size() - 1);
        plan_.ranks.back().host = host;
      }
    }
    loop_ = event_base_new();
    Result<Descriptor> own = store::MakeStore(root + "/launcher");
    own_ = *std::move(own);
    stores_ = std::make_unique<HostStores>(
        plan_,
        [this](std::uint32_t rank, const wire::StoreWord& word) {
          const std::string bytes = Encode(word);
          const std::uint32_t host = plan_.ranks[rank].host;
          words_.emplace_back([this, host, bytes] {
            if (!lost_.contains(host)) nodes_[host]->Take(*wire::DecodeStoreWord(bytes));
          });
        },
        [this](const std::string& sentence) { said_.push_back(sentence); });
    EXPECT_TRUE(stores_->Open(own_.value()).ok());
    for (std::uint32_t host = 0; host < plan_.hosts.size(); ++host) AddNode(host);
    Turn([this] { return stores_->known(); });
    for (const auto& node : nodes_) node->EndMark();
  }
  ~Job() {
    nodes_.clear();
    event_base_free(loop_);
  }

  // Returns what came of it.
  Status Do(const std::function<void(HostStores::Done)>& what) {
    std::optional<Status> outcome;
    what([&outcome](Status status) { outcome = std::move(status); });
    Turn([&outcome] { return outcome.has_value(); });
    return *std::move(outcome);
  }

  // Saves the job; `content` is what each image has in its file.
  Status Save(
      const std::string& content, const std::function<void()>& before_copying = [] {},
      bool ends_early = false) {
    Result<std::unique_ptr<store::Generation>> begun = store::Generation::Begin(own_.value(), 0);
    if (!begun.ok()) return std::move(begun).status();
    store::Manifest manifest = NewManifest(*begun->get());
    for (const RankPlan& rank : plan_.ranks) {
      if (!stores_->IsShared(rank.rank)) continue;
      EXPECT_TRUE((*begun)->FolderOf(rank.rank).ok());
    }
    Status status = Do([&](auto done) { stores_->Begin(manifest.epoch, done); });
    if (!status.ok()) return status;
    for (const RankPlan& rank : plan_.ranks) {
      const std::string folder = Folder(rank.rank) + "/" + store::PartName(manifest.epoch) + "/" +
                                 RankFolderName(rank.rank);
      std::ofstream(folder + "/image") << content << rank.rank;
      std::ofstream(folder + "/empty");
      fs::resize_file(folder + "/image", kDataAt);  // a hole
      std::ofstream(folder + "/image", std::ios::app) << std::string(kImageBytes - kDataAt, 'x');
    }
    before_copying();
    if (status.ok()) status = Do([&](auto done) { stores_->Measure(&manifest, done); });
    if (status.ok()) status = Do([&](auto done) { stores_->Copy(manifest, done); });
    const std::string plan = PlanText();
    if (status.ok()) status = Do([&](auto done) { stores_->Keep(manifest, plan, done); });
    if (status.ok()) status = (*begun)->WritePlan(plan, &manifest);
    if (status.ok()) status = (*begun)->Commit(manifest);
    if (ends_early) return status;
    if (status.ok()) status = Do([&](auto done) { stores_->Commit(manifest.epoch, done); });
    if (!status.ok()) stores_->Drop();
    Turn([this] { return words_.empty(); });
    return status;
  }

  // Goes on from the newest generation.
  Status GoOn() {
    std::vector<std::string> damaged;
    Result<store::Opened> saved = store::OpenNewest({own_.value()}, &damaged);
    if (!saved.ok()) return std::move(saved).status();
    Status status = Do([&](auto done) { stores_->Find(saved->manifest, PlanText(), done); });
    if (status.ok()) Turn([this] { return complete_ == nodes_.size(); });
    return status;
  }

  List Names(const std::string& folder, const std::string& generation) const {
    List names;
    for (const auto& entry : fs::directory_iterator(root_ + "/" + folder + "/" + generation))
      if (entry.path().filename() != "lock") names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string Folder(std::uint32_t rank) const {
    return root_ + "/" + plan_.hosts[plan_.ranks[rank].host].name;
  }
  void Lose(std::uint32_t host) {
    lost_.insert(host);
    stores_->Lost(host);
  }
  HostStores& stores() { return *stores_; }
  const List& said() const { return said_; }

 private:
  void AddNode(std::uint32_t host) {
    const std::uint32_t rank =
        std::find_if(plan_.ranks.begin(), plan_.ranks.end(), [host](const RankPlan& each) {
          return each.host == host;
        })->rank;
    Result<std::unique_ptr<NodeStore>> node = NodeStore::Open(
        loop_, {[this, rank](const wire::StoreWord& word) {
                  const std::string bytes = Encode(word);
                  words_.emplace_back(
                      [this, rank, bytes] { stores_->Take(rank, *wire::DecodeStoreWord(bytes)); });
                },
                [](std::span<const int>) { return std::string(); }, [this] { ++complete_; }});
    ASSERT_TRUE(node.ok());
    nodes_.push_back(*std::move(node));
    nodes_.back()->SayHere(root_ + "/" + plan_.hosts[host].name, stores_->mark(), host);
  }
  void Turn(const std::function<bool()>& until) {
    while (!until()) {
      if (words_.empty()) {
        event_base_loop(loop_, EVLOOP_ONCE);
        continue;
      }
      const std::function<void()> word = std::move(words_.front());
      words_.pop_front();
      word();
    }
  }
  static std::string PlanText() { return std::string(kPlan, 15); }
  store::Manifest NewManifest(const store::Generation& generation) const {
    store::Manifest manifest;
    manifest.epoch = generation.epoch();
    manifest.engine = "pretend";
    manifest.engine_version = "1";
    manifest.apart = stores_->apart();
    manifest.plan_bytes = PlanText().size();
    manifest.plan_checksum = store::Checksum(PlanText());
    for (std::uint32_t host = 0; host < plan_.hosts.size(); ++host)
      manifest.nodes.push_back({host, plan_.hosts[host].name});
    for (const RankPlan& rank : plan_.ranks)
      manifest.ranks.push_back({rank.rank, {}, rank.host, 0, {}});
    return manifest;
  }

  const std::string root_;
  Plan plan_;
  event_base* loop_ = nullptr;
  Descriptor own_;
  std::unique_ptr<HostStores> stores_;
  std::vector<std::unique_ptr<NodeStore>> nodes_;
  std::deque<std::function<void()>> words_;
  std::set<std::uint32_t> lost_;
  List said_;
  std::size_t complete_ = 0;
};

class HostStoresTest : public testing::Test {
 protected:
  HostStoresTest() { fs::create_directory(root_); }
  ~HostStoresTest() override { fs::remove_all(root_); }
  std::string Read(const std::string& path) const {
    std::ifstream file(root_ + "/" + path, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    return text.substr(0, text.find('\0'));
  }

  const std::string root_ = testing::TempDir() + "host_stores_test." + std::to_string(getpid());
};

TEST_F(HostStoresTest, OneDirectory) {
  Job job(root_, {{"launcher"}, {"launcher", 2}});
  EXPECT_TRUE(job.stores().fit().ok());
  EXPECT_FALSE(job.stores().apart());
  EXPECT_EQ(fs::exists(root_ + "/launcher"), true);
  EXPECT_TRUE(fs::is_empty(root_ + "/launcher"));
}

TEST_F(HostStoresTest, AHostWithoutADirectory) {
  std::ofstream(root_ + "/a");
  Job job(root_, {{"a"}, {"b"}});
  EXPECT_TRUE(std::string(job.stores().fit().message()).starts_with("a cannot use the directory"));
}

TEST_F(HostStoresTest, ADirectoryIsThatOfOneJob) {
  {
    Job job(root_, {{"a"}, {"b"}, {"b"}});
    EXPECT_TRUE(job.stores().fit().ok());
    Job other(root_, {{"c"}, {"b"}});
    const std::string why(other.stores().fit().message());
    EXPECT_NE(
        why.find(
            "b cannot use the directory of --checkpoint-dir: another job saves its states in "),
        std::string::npos)
        << why;
  }
  Job next(root_, {{"b"}, {"c"}});
  EXPECT_TRUE(next.stores().fit().ok());
}

TEST_F(HostStoresTest, EachHostKeepsItsOwnAndCopiesOfTheOneBefore) {
  Job job(root_, {{"a", 2}, {"b"}, {"b"}, {"c"}});
  for (const char* content : {"one", "two", "three"}) {
    const Status status = job.Save(content);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  EXPECT_EQ(job.Names("launcher", "g000003"), (List{"manifest", "plan"}));
  EXPECT_EQ(job.Names("a", ""), (List{"g000002", "g000003"}));
  EXPECT_EQ(job.Names("a", "g000003"),
            (List{"manifest", "plan", "rank00000", "rank00001", "rank00004"}));
  EXPECT_EQ(job.Names("b", "g000003"),
            (List{"manifest", "plan", "rank00000", "rank00001", "rank00002", "rank00003"}));
  EXPECT_EQ(job.Names("c", "g000003"),
            (List{"manifest", "plan", "rank00002", "rank00003", "rank00004"}));
  EXPECT_EQ(Read("c/g000003/rank00003/image"), "three3");
  EXPECT_EQ(fs::file_size(root_ + "/c/g000003/rank00003/image"), kImageBytes);
  EXPECT_EQ(job.Names("c", "g000003/rank00003"), (List{"empty", "image"}));
}

TEST_F(HostStoresTest, GoesOnWhereItWasAndAfterTheLossOfADirectory) {
  ASSERT_TRUE(Job(root_, {{"launcher"}, {"a"}, {"b"}}).Save("state").ok());
  for (const char* lost : {"", "a", "b"}) {
    if (*lost != '\0') fs::remove_all(root_ + "/" + lost);
    Job job(root_, {{"launcher"}, {"a"}, {"b"}});
    const Status status = job.GoOn();
    ASSERT_TRUE(status.ok()) << lost << ": " << status.message();
    EXPECT_EQ(Read("a/g000001/rank00001/image"), "state1");
    EXPECT_EQ(Read("b/g000001/rank00002/image"), "state2");
    EXPECT_EQ(job.said(), List());
  }
}

TEST_F(HostStoresTest, GoesOnElsewhere) {
  ASSERT_TRUE(Job(root_, {{"a", 2}, {"b"}}).Save("state").ok());
  {
    Job job(root_, {{"b"}, {"c", 2}});
    ASSERT_TRUE(job.GoOn().ok());
    EXPECT_EQ(job.Names("c", "g000001"), (List{"manifest", "plan", "rank00001", "rank00002"}));
    EXPECT_EQ(Read("c/g000001/rank00002/image"), "state2");
    ASSERT_TRUE(job.Save("later").ok());
    EXPECT_EQ(Read("b/g000002/rank00002/image"), "later2");
  }
  Job job(root_, {{"d", 3}});
  EXPECT_EQ(job.GoOn().message(),
            "no host of the job has the image of rank 0, which was written on b; -H must name that "
            "host, or one that has a copy");
}

TEST_F(HostStoresTest, ADamagedImageIsTakenFromTheNextHost) {
  ASSERT_TRUE(Job(root_, {{"a"}, {"b"}}).Save("state").ok());
  {
    std::fstream file(root_ + "/a/g000001/rank00000/image");
    file.seekp(kImageBytes / 2);
    file << "y";
  }
  Job job(root_, {{"a"}, {"b"}});
  ASSERT_TRUE(job.GoOn().ok());
  ASSERT_EQ(job.said().size(), 1u);
  EXPECT_TRUE(job.said().front().starts_with(
      "warning: a: g000001: rank00000/image is damaged: its checksum is"))
      << job.said().front();
  EXPECT_EQ(job.Names("a", "g000001"),
            (List{"manifest", "plan", "rank00000", "rank00000.damaged", "rank00001"}));
  EXPECT_EQ(Read("a/g000001/rank00000/image"), "state0");
}

TEST_F(HostStoresTest, AHostThatCannotWriteFailsTheGenerationAndNotTheNext) {
  Job job(root_, {{"a"}, {"b"}});
  ASSERT_TRUE(job.Save("state").ok());
  const std::string in_the_way = root_ + "/b/g000002.part/rank00000.arriving";
  const Status status = job.Save("never", [&] { std::ofstream(in_the_way) << "x"; });
  EXPECT_TRUE(
      std::string(status.message()).starts_with("rank 0: b: rank00000.arriving is no folder"))
      << status.message();
  ASSERT_TRUE(job.Save("later").ok());
  for (const char* folder : {"a", "b", "launcher"})
    EXPECT_EQ(job.Names(folder, ""), (List{"g000001", "g000002"})) << folder;
  EXPECT_EQ(Read("b/g000002/rank00000/image"), "later0");
}

TEST_F(HostStoresTest, AHostThatEndedBeforeItKnewFinishesLater) {
  ASSERT_TRUE(Job(root_, {{"a"}, {"b"}})
                  .Save(
                      "state", [] {}, true)
                  .ok());
  EXPECT_TRUE(fs::exists(root_ + "/b/g000001.part"));
  Job job(root_, {{"a"}, {"b"}});
  ASSERT_TRUE(job.GoOn().ok());
  for (const char* folder : {"a", "b"}) EXPECT_EQ(job.Names(folder, ""), (List{"g000001"}));
}

TEST_F(HostStoresTest, WhatAnotherJobHasKeptIsInTheWay) {
  ASSERT_TRUE(Job(root_, {{"a"}, {"b"}}).Save("state").ok());
  fs::remove_all(root_ + "/launcher");
  fs::remove_all(root_ + "/b");
  Job job(root_, {{"a"}, {"b"}});
  EXPECT_EQ(job.Save("other").message(), "a: generation 1 is there already");
  EXPECT_EQ(Read("a/g000001/rank00000/image"), "state0");
}

TEST_F(HostStoresTest, ALostHostEndsWhatIsUnderWay) {
  Job job(root_, {{"a"}, {"b"}});
  const Status status = job.Save("state", [&] {
    EXPECT_EQ(job.Do([&](auto done) {
                   job.stores().Begin(Epoch{7}, done);
                   job.Lose(1);
                 })
                  .message(),
              "b is lost");
  });
  EXPECT_EQ(status.message(), "b is lost");
}

}  // namespace
}  // namespace lamina::launcher
