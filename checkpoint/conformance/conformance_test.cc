// SPDX-License-Identifier: BSD-3-Clause
// Goal:   every engine keeps the contract of checkpoint_engine.h: it saves without harm, revives
//         what it saved, says what it cannot do, and never hangs.
// Method: one suite over all engines, with small processes that count what they are asked; programs
//         in criu's place that are too old, hang, or die; criu killed at moments of its work.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "checkpoint/checkpoint_engine.h"
#include "checkpoint/criu/criu.h"
#include "checkpoint/none/none.h"
#include "checkpoint/pretend/pretend.h"
#include "runtime/base/clock.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/dice.h"
#include "runtime/base/text.h"

namespace lamina::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr int kPatienceMs = 60'000;

std::string EnvironmentText(const char* name) {
  return Environment::OfThisProcess().Get(name).value_or("");
}

// A process that counts, and the two pipes to it.
class Counter {
 public:
  explicit Counter(const char* word = "plain") {
    MakePipes();
    signal(SIGPIPE, SIG_IGN);  // it is written to when it may have ended
    process_ = fork();
    if (process_ == 0) {
      signal(SIGPIPE, SIG_DFL);
      setsid();
      dup2(inner_[0].value(), STDIN_FILENO);
      dup2(inner_[1].value(), STDOUT_FILENO);
      const int nothing = open("/dev/null", O_WRONLY);
      dup2(nothing, STDERR_FILENO);
      close_range(3, ~0u, 0);
      const std::string program = EnvironmentText("SUBJECT");
      execl(program.c_str(), program.c_str(), word, nullptr);
      _exit(127);
    }
    Ask();  // it has started when it answers
    subject_ = {3, process_, Links()};
    inner_ = std::array<Descriptor, 2>();
  }
  ~Counter() { End(); }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

  const Subject& subject() const { return subject_; }

  bool StandsStill() const {
    std::ifstream file(Format("/proc/%d/stat", process_));
    std::string text;
    std::getline(file, text);
    return text.find(") T ") != text.npos;
  }

  // Returns what it answers, or -1 if it does not.
  int Ask() {
    if (process_ > 0) kill(process_, SIGCONT);  // what was saved may stand still
    if (write(to_.value(), "\n", 1) != 1) return -1;
    std::string answer;
    for (char letter = 0; letter != '\n';) {
      pollfd ready{from_.value(), POLLIN, 0};
      if (poll(&ready, 1, kPatienceMs) != 1 || read(from_.value(), &letter, 1) != 1) return -1;
      answer += letter;
    }
    return std::atoi(answer.c_str());
  }

  // True if it has ended, or does so soon.
  bool HasEnded() const {
    const Descriptor handle(static_cast<int>(syscall(SYS_pidfd_open, process_, 0)));
    pollfd ready{handle.value(), POLLIN, 0};
    return handle.value() >= 0 && poll(&ready, 1, kPatienceMs) == 1;
  }

  // Ends and reaps it; false if it was no child of ours.
  bool End() {
    if (process_ <= 0) return false;
    kill(process_, SIGKILL);
    const bool reaped = waitpid(process_, nullptr, 0) == process_;
    process_ = -1;
    return reaped;
  }

  // Gives a process that was revived new pipes; the result is for Revive().
  std::array<int, 3> NewPipes() {
    MakePipes();
    return {inner_[0].value(), inner_[1].value(), -1};
  }
  void IsRevived() {
    process_ = static_cast<pid_t>(subject_.process);
    subject_.links = Links();
    inner_ = std::array<Descriptor, 2>();
  }

 private:
  void MakePipes() {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    inner_[0] = Descriptor(ends[0]);
    to_ = Descriptor(ends[1]);
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    from_ = Descriptor(ends[0]);
    inner_[1] = Descriptor(ends[1]);
  }
  static std::string LinkOf(const std::string& path) {
    std::error_code error;
    return fs::read_symlink(path, error).string();
  }
  std::vector<std::string> Links() const {
    std::vector<std::string> links;
    for (int descriptor = 0; descriptor < 3; ++descriptor)
      links.push_back(LinkOf(Format("/proc/%d/fd/%d", process_, descriptor)));
    return links;
  }

  Subject subject_;
  pid_t process_ = -1;
  Descriptor to_;
  Descriptor from_;
  std::array<Descriptor, 2> inner_;
};

// A folder that is removed with its owner.
class Folder {
 public:
  Folder() {
    std::string name = testing::TempDir() + "/engine.XXXXXX";
    path_ = mkdtemp(name.data());
    Open();
  }
  ~Folder() { fs::remove_all(path_); }
  void Open() { descriptor_ = Descriptor(open(path_.c_str(), O_RDONLY | O_CLOEXEC)); }
  void Close() { descriptor_ = Descriptor(); }
  int value() const { return descriptor_.value(); }
  const std::string& path() const { return path_; }
  bool empty() const { return fs::is_empty(path_); }

 private:
  std::string path_;
  Descriptor descriptor_;
};

std::uint64_t Inode(const std::string& path) {
  struct stat file {};
  return stat(path.c_str(), &file) == 0 ? file.st_ino : 0;
}

// Waits for an errand's end.
Status Await(Result<std::unique_ptr<Errand>> errand) {
  if (!errand.ok()) return std::move(errand).status();
  const std::uint64_t until_ms = MonotonicMs() + kPatienceMs;
  for (;;) {
    if (std::optional<Status> outcome = (*errand)->Outcome()) return *std::move(outcome);
    pollfd ready{(*errand)->ReadyFd(), POLLIN, 0};
    if (MonotonicMs() > until_ms || poll(&ready, 1, kPatienceMs) != 1)
      return Error(Code::kTimeout, "the errand does not end");
  }
}

Result<std::unique_ptr<CheckpointEngine>> MakeEngine(const EngineComponent& component,
                                                     const std::string& criu) {
  const Environment environment = Environment::OfThisProcess();
  param::Settings settings;
  if (!criu.empty()) {
    const Status set = settings.AddCommandLine("checkpoint.criu.program=" + criu);
    if (!set.ok()) return Error(Code::kInvalid, "cannot set the program");
  }
  if (!settings.AddCommandLine("checkpoint.criu.limit_ms=20000").ok())
    return Error(Code::kInvalid, "cannot set the limit");
  return component.make({environment, settings});
}

// Saves and revives one small process, as a shepherd does to know whether that works here.
Status Try(CheckpointEngine& engine) {
  Counter counter;
  const Folder folder;
  if (Status status = Await(engine.Save(counter.subject(), folder.value())); !status.ok())
    return status;
  counter.End();
  const std::array<int, 3> pipes = counter.NewPipes();
  Status status = Await(engine.Revive(counter.subject(), folder.value(), pipes));
  if (status.ok()) counter.IsRevived();
  return status;
}

// Returns why criu cannot be tested here, or "".
const std::string& WhyNoCriu() {
  static const std::string why = [] {
    Result<std::unique_ptr<CheckpointEngine>> made =
        MakeEngine(criu::Describe(), EnvironmentText("TEST_CRIU"));
    const Status status = made.ok() ? Try(**made) : std::move(made).status();
    return std::string(status.message());
  }();
  return why;
}

struct Row {
  const char* name;
  EngineComponent (*describe)();
  bool saves;
  bool revives;
};

class EngineTest : public testing::TestWithParam<Row> {
 protected:
  void SetUp() override {
    if (GetParam().revives && !WhyNoCriu().empty()) GTEST_SKIP() << "skipped: " << WhyNoCriu();
    Result<std::unique_ptr<CheckpointEngine>> made =
        MakeEngine(GetParam().describe(), EnvironmentText("TEST_CRIU"));
    ASSERT_TRUE(made.ok()) << made.status().message();
    engine_ = *std::move(made);
  }
  Status Save(const Subject& subject, const Folder& folder) {
    return Await(engine_->Save(subject, folder.value()));
  }
  std::unique_ptr<CheckpointEngine> engine_;
};

TEST_P(EngineTest, HasAVersionAndAnOffer) {
  EXPECT_FALSE(engine_->version().empty());
  const Environment environment;
  const param::Settings settings;
  EXPECT_FALSE(GetParam().describe().query({environment, settings}).why.empty());
  EXPECT_EQ(engine_->caps().whole_process, GetParam().saves);
}

TEST_P(EngineTest, WhatItSavesStandsStillOrRunsOn) {
  Counter counter;
  const Folder folder;
  const Status status = Save(counter.subject(), folder);
  EXPECT_EQ(status.code(), GetParam().saves ? Code::kOk : Code::kUnsupported) << status.message();
  EXPECT_EQ(folder.empty(), !GetParam().saves);
  // A process that was told to stop does so when it is next given a CPU.
  if (engine_->caps().leaves_stopped)
    for (int left_ms = kPatienceMs; left_ms > 0 && !counter.StandsStill(); --left_ms)
      poll(nullptr, 0, 1);
  EXPECT_EQ(counter.StandsStill(), engine_->caps().leaves_stopped);
  EXPECT_EQ(counter.Ask(), 2);
  const Folder again;
  EXPECT_EQ(Save(counter.subject(), again).ok(), GetParam().saves);
  EXPECT_EQ(counter.Ask(), 3);
  EXPECT_EQ(engine_->Examine(counter.subject()).empty(), GetParam().saves);
}

TEST_P(EngineTest, WhatItRevivesIsWhatWasSaved) {
  Counter counter;
  const Folder folder;
  EXPECT_EQ(counter.Ask(), 2);
  const Status saved = Save(counter.subject(), folder);
  EXPECT_EQ(counter.Ask(), 3);  // forgotten by every revival
  // The same image several times, then an image of what was revived, and so on.
  struct Image {
    Subject subject;  // as it was saved
    const Folder* folder;
  };
  Folder chain[3];
  std::vector<Image> images = {{counter.subject(), &folder}};
  counter.End();
  for (int revival = 0; revival < 5; ++revival) {
    const Image& image = images.back();
    const std::array<int, 3> pipes = counter.NewPipes();
    const Status status = Await(engine_->Revive(image.subject, image.folder->value(), pipes));
    if (!GetParam().revives) {
      EXPECT_EQ(status.code(), Code::kUnsupported);
      return;
    }
    ASSERT_TRUE(status.ok()) << status.message();
    counter.IsRevived();
    EXPECT_FALSE(counter.StandsStill());
    EXPECT_EQ(counter.Ask(), 2 + static_cast<int>(images.size())) << "revival " << revival;
    if (revival >= 2) {
      const Folder& next = chain[revival - 2];
      ASSERT_TRUE(Save(counter.subject(), next).ok());
      images.push_back({counter.subject(), &next});
    }
    EXPECT_TRUE(counter.End()) << "it is no child of ours";
  }
  ASSERT_TRUE(saved.ok());
}

TEST_P(EngineTest, AProcessThatHasEndedIsNamed) {
  Counter counter;
  const Subject subject = counter.subject();
  counter.End();
  const Folder folder;
  const Status status = Save(subject, folder);
  EXPECT_FALSE(status.ok());
  const std::vector<std::string> causes = engine_->Examine(subject);
  ASSERT_EQ(causes.size(), 1u);
  if (!GetParam().saves) return;
  const std::string process = std::to_string(subject.process);
  EXPECT_EQ(causes.front(), "rank 3 (process " + process + ") has ended");
  EXPECT_NE(status.message().find(process), std::string_view::npos) << status.message();
}

TEST_P(EngineTest, WhatDoesNotFitThisMachineIsNamed) {
  Counter counter;
  const Folder folder;
  if (!Save(counter.subject(), folder).ok()) return;
  EXPECT_TRUE(engine_->Misfits(folder.value()).empty());
  if (!GetParam().revives) return;
  std::ofstream(folder.path() + "/processor", std::ios::app) << "avx1024 ";
  std::ofstream(folder.path() + "/open-files", std::ios::app)
      << "7 1 writes /nowhere/a file\n7 1 reads " << folder.path() << "/processor\nnonsense\n";
  const std::vector<std::string> causes = engine_->Misfits(folder.value());
  ASSERT_EQ(causes.size(), 3u);
  EXPECT_EQ(causes[0], "/nowhere/a file, which it writes, is not there any more");
  EXPECT_EQ(causes[1].find(folder.path() + "/processor, which it reads, has "), 0u) << causes[1];
  EXPECT_EQ(causes[2], "the processor here lacks avx1024, which it may use");
}

TEST_P(EngineTest, WhatTwoRanksWriteIsTheSameForBoth) {
  if (!GetParam().revives) return;
  Folder first, second;
  const std::string path = EnvironmentText("SUBJECT");
  const std::uint64_t inode = Inode(path);
  for (const int bytes : {5, 6}) {
    std::ofstream(first.path() + "/open-files") << "5 " << inode << " writes " << path << "\n";
    std::ofstream(second.path() + "/open-files")
        << bytes << " " << inode << " writes " << path << "\n";
    const std::array<int, 2> folders = {first.value(), second.value()};
    const std::string torn = engine_->Torn(folders);
    EXPECT_EQ(torn.empty(), bytes == 5) << torn;
    EXPECT_EQ(torn.starts_with(path), bytes == 6) << torn;
  }
}

TEST_P(EngineTest, AnErrandThatIsGivenUpDoesNoHarm) {
  Counter counter;
  for (int round = 0; round < 3; ++round) {
    const Folder folder;
    {
      const Result<std::unique_ptr<Errand>> given_up =
          engine_->Save(counter.subject(), folder.value());
    }
    EXPECT_EQ(counter.Ask(), 2 + round);
  }
  const Folder folder;
  EXPECT_EQ(Save(counter.subject(), folder).ok(), GetParam().saves);
}

TEST_P(EngineTest, AFullDiskDoesNoHarm) {
  if (!GetParam().saves) return;
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    GTEST_SKIP() << "skipped: this user cannot mount a small file system";
  Counter counter;
  Folder folder;
  ASSERT_EQ(mount("small", folder.path().c_str(), "tmpfs", 0, "size=4k,nr_inodes=1"), 0);
  folder.Open();
  const Status status = Save(counter.subject(), folder);
  EXPECT_NE(status.message().find("No space left on device"), std::string_view::npos)
      << status.message();
  EXPECT_EQ(counter.Ask(), 2);
  folder.Close();
  umount2(folder.path().c_str(), MNT_DETACH);
}

INSTANTIATE_TEST_SUITE_P(Engines, EngineTest,
                         testing::Values(Row{"none", none::Describe, false, false},
                                         Row{"pretend", pretend::Describe, true, false},
                                         Row{"criu", criu::Describe, true, true}),
                         [](const testing::TestParamInfo<Row>& row) {
                           return std::string(row.param.name);
                         });

// --- criu alone ---------------------------------------------------------------------------------

// A program in criu's place, as a shell script. It tells its version unless the script does.
class FakeCriu {
 public:
  explicit FakeCriu(const std::string& script, const std::string& version = "4.2.1") {
    path_ = folder_.path() + "/criu";
    std::ofstream(path_) << "#!/bin/sh\n[ \"$1\" = --version ] && echo Version: " << version
                         << " && exit\n"
                         << script << "\n";
    chmod(path_.c_str(), 0700);
  }
  const std::string& path() const { return path_; }

 private:
  const Folder folder_;
  std::string path_;
};

Status SaveWith(const FakeCriu& criu, const char* limit = nullptr) {
  const Environment environment = Environment::OfThisProcess();
  param::Settings settings;
  EXPECT_TRUE(settings.AddCommandLine("checkpoint.criu.program=" + criu.path()).ok());
  if (limit != nullptr) {
    EXPECT_TRUE(settings.AddCommandLine("checkpoint.criu.limit_ms=" + std::string(limit)).ok());
  }
  Result<std::unique_ptr<CheckpointEngine>> engine = criu::Describe().make({environment, settings});
  if (!engine.ok()) return std::move(engine).status();
  const Folder folder;
  return Await((*engine)->Save({0, getpid(), {}}, folder.value()));
}

TEST(CriuTest, OneThatIsTooOldSaysItsVersion) {
  const FakeCriu old(
      "echo '(00.01) Error (criu/vdso.c:221): vdso: Unexpected rt vDSO area bounds' "
      ">&2; exit 1",
      "3.17.1");
  const std::string message(SaveWith(old).message());
  // Of a kernel that is known to be too new, it is said before criu is run.
  EXPECT_NE(message.find("criu 3.17.1 "), message.npos) << message;
  EXPECT_NE(message.find(" kernel "), message.npos) << message;
  EXPECT_TRUE(message.ends_with("; 4.2 or later is needed")) << message;
}

TEST(CriuTest, OneThatHangsIsEnded) {
  // tidy: sleep: this is the program that hangs
  const FakeCriu hanging("sleep 1000 & sleep 1000");
  const Status status = SaveWith(hanging, "100");
  EXPECT_EQ(status.code(), Code::kTimeout);
  EXPECT_EQ(status.message(),
            Format("criu 4.2.1 did not save process %d within 0.1 s and was ended", getpid()));
}

TEST(CriuTest, OneThatStopsAtItsOwnBugIsEnded) {
  // tidy: sleep: this is the program that hangs
  const FakeCriu stopped(
      "echo 'Error (criu/a.c:1): It went wrong'; echo 'Error (criu/a.c:2): BUG at criu/a.c:2'; "
      "sleep 1000");
  const std::string message(SaveWith(stopped).message());
  EXPECT_NE(message.find("(It went wrong)"), message.npos) << message;
}

TEST(CriuTest, OneThatDiesIsNamed) {
  EXPECT_EQ(SaveWith(FakeCriu("kill -9 $$")).message(),
            Format("criu 4.2.1 was killed by signal 9 before it could save process %d", getpid()));
  const std::string silent(SaveWith(FakeCriu("exit 1")).message());
  EXPECT_NE(silent.find("(it printed nothing)"), std::string::npos) << silent;
}

TEST(CriuTest, SomethingElseIsNoCriu) {
  const FakeCriu other("", "");
  EXPECT_EQ(SaveWith(other).code(), Code::kUnsupported);
  const Environment environment;
  param::Settings settings;
  ASSERT_TRUE(settings.AddCommandLine("checkpoint.criu.program=/nowhere/criu").ok());
  const component::Offer offer = criu::Describe().query({environment, settings});
  EXPECT_EQ(offer.priority, -1);
  EXPECT_EQ(offer.why,
            "there is no program /nowhere/criu; install CRIU 4.2 or newer in a folder of PATH, or "
            "name one by --param checkpoint.criu.program=PATH; third_party/criu in Lamina's source "
            "tree fetches one");
  EXPECT_EQ(criu::Describe().make({environment, settings}).status().code(), Code::kNotFound);
}

class RealCriuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!WhyNoCriu().empty()) GTEST_SKIP() << "skipped: " << WhyNoCriu();
    Result<std::unique_ptr<CheckpointEngine>> made =
        MakeEngine(criu::Describe(), EnvironmentText("TEST_CRIU"));
    ASSERT_TRUE(made.ok()) << made.status().message();
    engine_ = *std::move(made);
  }
  std::unique_ptr<CheckpointEngine> engine_;
};

// The tests below kill a counter in different ways and then ask it.
TEST(CounterTest, WhoHasEndedDoesNotAnswer) {
  Counter counter;
  EXPECT_TRUE(counter.End());
  EXPECT_EQ(counter.Ask(), -1);
}

// Root can give the process all of them again.
TEST_F(RealCriuTest, AUserWithOtherGroupsIsNamed) {
  Counter counter;
  const Folder folder;
  ASSERT_TRUE(Await(engine_->Save(counter.subject(), folder.value())).ok());
  std::ofstream(folder.path() + "/groups") << "1 2 3 4 5 6 7 ";
  const std::vector<std::string> causes = engine_->Misfits(folder.value());
  std::ifstream file("/proc/self/uid_map");
  std::uint64_t first = 0, outside = 0, users = 0;
  file >> first >> outside >> users;
  if (geteuid() == 0 && users == UINT32_MAX) {
    EXPECT_TRUE(causes.empty());
    return;
  }
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_TRUE(causes[0].starts_with("it had other supplementary groups (7, and ")) << causes[0];
}

TEST_F(RealCriuTest, WhatItCannotSaveGoesOn) {
  Counter counter("unpaired");
  const Folder folder;
  const Status status = Await(engine_->Save(counter.subject(), folder.value()));
  EXPECT_EQ(status.code(), Code::kUnsupported);
  EXPECT_NE(status.message().find("unix"), std::string_view::npos) << status.message();
  EXPECT_EQ(counter.Ask(), 2);
}

// While criu has code of its own in a process, that process ends with it. Otherwise it goes on as
// if nothing had happened.
TEST_F(RealCriuTest, KilledAtAnyMomentItLeavesNoWrongState) {
  auto counter = std::make_unique<Counter>();
  std::mt19937 dice = Dice();
  int wanted = 2, survived = 0;
  for (int round = 0; round < 20; ++round) {
    const Folder folder;
    Result<std::unique_ptr<Errand>> errand = engine_->Save(counter->subject(), folder.value());
    ASSERT_TRUE(errand.ok());
    pollfd ready{(*errand)->ReadyFd(), POLLIN, 0};
    poll(&ready, 1, static_cast<int>(dice() % 80));
    errand->reset();
    if (const int answer = counter->Ask(); answer != -1) {
      EXPECT_EQ(answer, wanted++);
      ++survived;
      continue;
    }
    EXPECT_TRUE(counter->HasEnded());
    counter = std::make_unique<Counter>();
    wanted = 2;
  }
  EXPECT_GT(survived, 0);
}

TEST_F(RealCriuTest, AnImageThatIsDamagedLeavesNothingBehind) {
  Counter counter;
  const Folder folder;
  ASSERT_TRUE(Await(engine_->Save(counter.subject(), folder.value())).ok());
  counter.End();
  fs::resize_file(
      folder.path() + Format("/core-%lld.img", static_cast<long long>(counter.subject().process)),
      10);
  const std::array<int, 3> pipes = counter.NewPipes();
  EXPECT_EQ(Await(engine_->Revive(counter.subject(), folder.value(), pipes)).code(),
            Code::kUnsupported);
  EXPECT_NE(kill(static_cast<pid_t>(counter.subject().process), 0), 0);
  // Process 1 of a namespace gets what criu has left dead, too. Nothing may be alive.
  pid_t child;
  do {
    child = waitpid(-1, nullptr, WNOHANG);
  } while (child > 0);
  EXPECT_EQ(child, -1);
}

}  // namespace
}  // namespace lamina::checkpoint
