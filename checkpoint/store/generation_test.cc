// SPDX-License-Identifier: BSD-3-Clause
// Goal:   a generation is complete and ours, or it is none: whatever fails, the ones before are
//         there, and damage is named.
// Method: directories of this test; files cut, flipped, removed, given away, linked; a file system
//         that is full at every write.
#include "checkpoint/store/generation.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "checkpoint/store/folder.h"
#include "checkpoint/store/listing.h"
#include "checkpoint/store/local.h"
#include "runtime/base/text.h"

namespace lamina::checkpoint {
namespace {

namespace fs = std::filesystem;

class GenerationTest : public testing::Test {
 protected:
  GenerationTest() {
    std::string name = std::string(testing::TempDir()) + "/generation.XXXXXX";
    root_ = mkdtemp(name.data());
    path_ = root_ + "/D";
    Result<Descriptor> made = MakeStore(path_);
    if (made.ok()) directory_ = *std::move(made);
  }
  ~GenerationTest() override { fs::remove_all(root_); }

  Manifest NewManifest(const Generation& generation) {
    Manifest manifest;
    manifest.epoch = generation.epoch();
    manifest.engine = "pretend";
    manifest.ranks = {{0, {}, 0, 11, {}}, {1, {}, 0, 12, {}}};
    return manifest;
  }

  // Writes a generation of two ranks, and says how far it came if it fails.
  Status Write(const std::string& content) {
    Result<std::unique_ptr<Generation>> begun = Generation::Begin(directory_.value(), 0);
    if (!begun.ok()) return std::move(begun).status();
    Generation& generation = **begun;
    Manifest manifest = NewManifest(generation);
    if (Status status = generation.WritePlan("the plan", &manifest); !status.ok()) return status;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      Result<int> folder = generation.FolderOf(rank);
      if (!folder.ok()) return std::move(folder).status();
      if (Status status = WriteFile(*folder, "image", content); !status.ok()) return status;
      if (Status status = generation.Measure(rank, &manifest); !status.ok()) return status;
    }
    return generation.Commit(manifest);
  }

  std::vector<std::string> Entries() {
    Result<std::vector<std::string>> names = NamesIn(directory_.value());
    return names.ok() ? *names : std::vector<std::string>{"unreadable"};
  }

  // Returns the epoch of the newest whole generation, and its complaints about newer ones.
  std::uint32_t Newest(std::vector<std::string>* damaged) {
    damaged->clear();
    const Result<Opened> opened = OpenNewest({directory_.value()}, damaged);
    return opened.ok() ? Index(opened->manifest.epoch) : 0;
  }

  std::string root_;
  std::string path_;
  Descriptor directory_;
};

using List = std::vector<std::string>;

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}
void WriteText(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

TEST_F(GenerationTest, TheNewestOfTwoDirectories) {
  const Result<Descriptor> other = MakeStore(root_ + "/other");
  ASSERT_TRUE(other.ok());
  const std::vector<int> both = {other->value(), directory_.value()};
  List damaged;
  EXPECT_EQ(OpenNewest(both, &damaged).status().code(), Code::kNotFound);
  ASSERT_TRUE(Write("one").ok() && Write("two").ok());
  fs::copy(path_ + "/g000001", root_ + "/other/g000001", fs::copy_options::recursive);
  Result<Opened> opened = OpenNewest(both, &damaged);
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(Index(opened->manifest.epoch), 2u);
  EXPECT_EQ(opened->directory, 1u);
  WriteText(path_ + "/g000002/rank00000/image", "owt");
  opened = OpenNewest(both, &damaged);
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(Index(opened->manifest.epoch), 1u);
  EXPECT_EQ(opened->directory, 0u);  // the first that has it
  EXPECT_EQ(damaged.size(), 1u);
  // What is begun is newer than both.
  const auto begun = Generation::Begin(other->value(), 0, Epoch{2});
  ASSERT_TRUE(begun.ok());
  EXPECT_EQ(Index((*begun)->epoch()), 3u);
}

TEST_F(GenerationTest, AnImageIsCopied) {
  ASSERT_TRUE(Write(std::string(3 << 20, 'x')).ok());
  const auto begun = Generation::Begin(directory_.value(), 0);
  ASSERT_TRUE(begun.ok() && (*begun)->FolderOf(1).ok());
  const Result<Descriptor> from = OpenFolder(directory_.value(), "g000001");
  const Result<Descriptor> to = OpenFolder(directory_.value(), "g000002.part");
  ASSERT_TRUE(from.ok() && to.ok());
  EXPECT_TRUE(CopyRank(from->value(), to->value(), 1).ok());
  EXPECT_EQ(ReadText(path_ + "/g000002.part/rank00001/image"), std::string(3 << 20, 'x'));
  EXPECT_EQ(CopyRank(from->value(), to->value(), 1).code(), Code::kExists);
  EXPECT_EQ(CopyRank(from->value(), to->value(), 0).code(), Code::kNotFound);
  EXPECT_EQ(CopyRank(from->value(), to->value(), 2).code(), Code::kNotFound);
}

TEST_F(GenerationTest, ALocalFolderIsFoundByALink) {
  EXPECT_EQ(LocalOf(directory_.value()), "");
  const Result<std::string> first = ChooseLocal(directory_.value(), "/fast");
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(first->starts_with("/fast/lamina-checkpoint-"));
  EXPECT_EQ(LocalOf(directory_.value()), *first);
  EXPECT_EQ(*ChooseLocal(directory_.value(), "/fast"), *first);
  EXPECT_NE(*ChooseLocal(directory_.value(), "/faster"), *first);
  fs::remove(path_ + "/local");
  EXPECT_NE(*ChooseLocal(directory_.value(), "/fast"), *first);
  fs::remove(path_ + "/local");
  fs::create_symlink("elsewhere", path_ + "/local");
  EXPECT_EQ(LocalOf(directory_.value()), "");
}

TEST_F(GenerationTest, IsWrittenAndRead) {
  ASSERT_TRUE(Write("state").ok());
  ASSERT_TRUE(Write("state").ok());
  EXPECT_EQ(Entries(), (List{"g000001", "g000002"}));
  Result<Opened> opened = OpenGeneration(directory_.value(), Epoch{2});
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  EXPECT_TRUE(Verify(*opened).ok());
  EXPECT_EQ(opened->manifest.parts.size(), 2u);
  EXPECT_EQ(opened->manifest.Bytes(), 2 * 5u + 8u);
  for (const char* folder : {"", "/g000002", "/g000002/rank00001"})
    EXPECT_EQ(fs::status(path_ + folder).permissions(), fs::perms::owner_all) << folder;
  for (const char* file : {"/g000002/manifest", "/g000002/plan", "/g000002/rank00001/image"})
    EXPECT_EQ(fs::status(path_ + file).permissions(),
              fs::perms::owner_read | fs::perms::owner_write)
        << file;
}

TEST_F(GenerationTest, IsNothingUntilItIsCommitted) {
  ASSERT_TRUE(Write("state").ok());
  std::vector<std::string> damaged;
  {
    Result<std::unique_ptr<Generation>> begun = Generation::Begin(directory_.value(), 0);
    ASSERT_TRUE(begun.ok());
    ASSERT_TRUE((*begun)->FolderOf(0).ok());
    EXPECT_EQ(Entries(), (List{"g000001", "g000002.part"}));
    EXPECT_EQ(Newest(&damaged), 1u);
    // Only one at a time; the message says why.
    const Result<std::unique_ptr<Generation>> other = Generation::Begin(directory_.value(), 0);
    EXPECT_EQ(other.status().code(), Code::kAgain);
  }
  EXPECT_EQ(Entries(), (List{"g000001"}));
  EXPECT_TRUE(damaged.empty());
}

TEST_F(GenerationTest, WhatADeadWriterLeftIsRemovedByTheNext) {
  ASSERT_TRUE(Write("state").ok());
  fs::create_directories(path_ + "/g000002.part/rank00000/deeper");
  fs::create_symlink("/etc/passwd", path_ + "/g000002.part/rank00000/link");
  fs::create_directories(path_ + "/mine.part");
  std::vector<std::string> damaged;
  EXPECT_EQ(Newest(&damaged), 1u);
  ASSERT_TRUE(Write("state").ok());
  EXPECT_EQ(Entries(), (List{"g000001", "g000002", "mine.part"}));
  EXPECT_TRUE(fs::exists("/etc/passwd"));
}

TEST_F(GenerationTest, TooLittleRoomIsKnownBefore) {
  const Result<std::unique_ptr<Generation>> begun =
      Generation::Begin(directory_.value(), ~std::uint64_t{0});
  EXPECT_EQ(begun.status().code(), Code::kResource);
  EXPECT_NE(begun.status().message().find("bytes are free"), std::string_view::npos);
  EXPECT_TRUE(Entries().empty());
}

TEST_F(GenerationTest, ACommitMayBeRepeated) {
  Result<std::unique_ptr<Generation>> begun = Generation::Begin(directory_.value(), 0);
  ASSERT_TRUE(begun.ok());
  Manifest manifest = NewManifest(**begun);
  ASSERT_TRUE((*begun)->WritePlan("", &manifest).ok());
  fs::create_directories(path_ + "/g000001");  // somebody has taken the name meanwhile
  EXPECT_EQ((*begun)->Commit(manifest).code(), Code::kExists);
  EXPECT_TRUE(fs::exists(path_ + "/g000001.part"));
  fs::remove(path_ + "/g000001");
  EXPECT_TRUE((*begun)->Commit(manifest).ok());
  EXPECT_EQ(Entries(), (List{"g000001"}));
  EXPECT_TRUE(OpenGeneration(directory_.value(), Epoch{1}).ok());
}

TEST_F(GenerationTest, TheNewestAreKept) {
  for (int count = 0; count < 5; ++count) ASSERT_TRUE(Write("state").ok());
  fs::remove(path_ + "/g000005/rank00000/image");  // newer than those that are kept: stays
  fs::remove(path_ + "/g000003/manifest");         // not counted
  ASSERT_TRUE(KeepNewest(directory_.value(), 2, Epoch{1}).ok());
  EXPECT_EQ(Entries(), (List{"g000002", "g000003", "g000004", "g000005"}));
  ASSERT_TRUE(Write("state").ok());
  ASSERT_TRUE(KeepNewest(directory_.value(), 2, Epoch{1}).ok());
  EXPECT_EQ(Entries(), (List{"g000004", "g000005", "g000006"}));
  ASSERT_TRUE(Write("state").ok());
  ASSERT_TRUE(KeepNewest(directory_.value(), 1, Epoch{6}).ok());  // the others are another job's
  EXPECT_EQ(Entries(), (List{"g000004", "g000005", "g000007"}));
}

TEST_F(GenerationTest, DamageIsNamedAndSkipped) {
  const struct {
    const char* what;
    void (*damage)(const std::string& generation);
    const char* message;
  } cases[] = {
      {"no manifest", [](const std::string& g) { fs::remove(g + "/manifest"); },
       "g000002: cannot open manifest: No such file or directory"},
      {"a manifest cut off",
       [](const std::string& g) {
         const std::string text = ReadText(g + "/manifest");
         WriteText(g + "/manifest", text.substr(0, text.size() / 2));
       },
       "g000002: the manifest is cut off"},
      {"a bit of a file", [](const std::string& g) { WriteText(g + "/rank00001/image", "stbte"); },
       "g000002: rank00001/image is damaged: its checksum is 8cf5a8ac, must be 66db68df"},
      {"a bit of the plan", [](const std::string& g) { WriteText(g + "/plan", "the plbn"); },
       "g000002: plan is damaged: its checksum is 853168dd, must be b1d6c044"},
      {"a file cut off", [](const std::string& g) { WriteText(g + "/rank00001/image", "st"); },
       "g000002: rank00001/image has 2 bytes, must have 5"},
      {"a file gone", [](const std::string& g) { fs::remove(g + "/rank00000/image"); },
       "g000002: rank00000: cannot open image: No such file or directory"},
      {"a folder gone", [](const std::string& g) { fs::remove_all(g + "/rank00000"); },
       "g000002: cannot open rank00000: No such file or directory"},
      {"a link for a file",
       [](const std::string& g) {
         fs::rename(g + "/rank00000/image", g + "/image");
         fs::create_symlink("../image", g + "/rank00000/image");
       },
       "g000002: rank00000: image is a symbolic link"},
      {"a link for a folder",
       [](const std::string& g) {
         fs::rename(g + "/rank00000", g + "/moved");
         fs::create_symlink("moved", g + "/rank00000");
       },
       "g000002: rank00000 is no folder: Not a directory"},
      {"a second name",
       [](const std::string& g) { fs::create_hard_link(g + "/plan", g + "/other"); },
       "g000002: plan has 2 names, must have one"},
      {"a pipe",
       [](const std::string& g) {
         fs::remove(g + "/plan");
         ASSERT_EQ(mkfifo((g + "/plan").c_str(), 0600), 0);
       },
       "g000002: plan is no regular file"},
      {"a file that others may write",
       [](const std::string& g) { ASSERT_EQ(chmod((g + "/plan").c_str(), 0620), 0); },
       "g000002: plan may be written by others (mode 0620); chmod go-w it"},
      {"the generation of another number",
       [](const std::string& g) {
         fs::remove_all(g);
         fs::copy(g.substr(0, g.size() - 1) + "1", g, fs::copy_options::recursive);
       },
       "g000002: the manifest is that of generation 1"},
  };
  for (const auto& [what, damage, message] : cases) {
    for (const std::string& entry : Entries()) fs::remove_all(path_ + "/" + entry);
    ASSERT_TRUE(Write("state").ok());
    ASSERT_TRUE(Write("state").ok());
    damage(path_ + "/g000002");
    std::vector<std::string> damaged;
    EXPECT_EQ(Newest(&damaged), 1u) << what;
    EXPECT_EQ(damaged, (List{message})) << what;
  }
}

TEST_F(GenerationTest, WhatIsSomebodyElsesIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "skipped: only root can give a file away";
  ASSERT_TRUE(Write("state").ok());
  for (const char* what : {"/g000001", "/g000001/manifest", "/g000001/rank00001/image"}) {
    ASSERT_EQ(chown((path_ + what).c_str(), 1001, 0), 0);
    std::vector<std::string> damaged;
    EXPECT_EQ(Newest(&damaged), 0u) << what;
    ASSERT_EQ(damaged.size(), 1u) << what;
    EXPECT_NE(damaged.front().find("belongs to user 1001; only that user may use it"),
              std::string::npos)
        << damaged.front();
    ASSERT_EQ(chown((path_ + what).c_str(), 0, 0), 0);
  }
  ASSERT_EQ(chown(path_.c_str(), 1001, 0), 0);
  EXPECT_EQ(OpenStore(path_).status().code(), Code::kDenied);
}

TEST_F(GenerationTest, ADirectoryThatOthersMayWriteIsRefused) {
  fs::permissions(path_, fs::perms::all);
  const Result<Descriptor> opened = MakeStore(path_);
  EXPECT_EQ(opened.status().message(),
            path_ + " may be written by others (mode 0777); chmod go-w it");
  EXPECT_EQ(OpenStore(path_ + "/none").status().code(), Code::kNotFound);
  EXPECT_EQ(OpenStore("/etc/passwd").status().code(), Code::kInvalid);
}

// Ends a mount with its owner.
class SmallDisk {
 public:
  SmallDisk(const std::string& path, const std::string& size) : path_(path) {
    mounted_ = mount("small", path.c_str(), "tmpfs", 0, size.c_str()) == 0;
  }
  ~SmallDisk() {
    if (mounted_) umount2(path_.c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }

 private:
  const std::string path_;
  bool mounted_ = false;
};

TEST_F(GenerationTest, ADiskThatIsFullAtEveryWrite) {
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    GTEST_SKIP() << "skipped: this user cannot mount a small file system";
  // A page, or a file, more each time: so every write and every file is once the first that fails.
  for (const bool bytes : {true, false}) {
    int failures = 0;
    for (unsigned room = 2;; ++room) {
      ASSERT_LT(room, 100u);
      const SmallDisk disk(path_, Format(bytes ? "size=%uk,mode=700" : "nr_inodes=%u,mode=700",
                                         bytes ? room * 4 : room));
      ASSERT_TRUE(disk.mounted());
      Result<Descriptor> opened = OpenStore(path_);
      ASSERT_TRUE(opened.ok());
      directory_ = *std::move(opened);
      const Status status = Write(std::string(10'000, 'x'));
      std::vector<std::string> damaged;
      if (status.ok()) {
        EXPECT_EQ(Newest(&damaged), 1u);
        directory_ = Descriptor();
        break;
      }
      ++failures;
      EXPECT_EQ(status.code(), Code::kResource) << status.message();
      EXPECT_NE(status.message().find("No space left on device"), std::string_view::npos);
      EXPECT_TRUE(Entries().empty());
      directory_ = Descriptor();
    }
    EXPECT_GE(failures, 5) << bytes;
  }
}

}  // namespace
}  // namespace lamina::checkpoint
