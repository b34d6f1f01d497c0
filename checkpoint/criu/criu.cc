// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/criu/criu.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "checkpoint/criu/examine.h"
#include "checkpoint/criu/files.h"
#include "checkpoint/criu/groups.h"
#include "checkpoint/criu/processor.h"
#include "checkpoint/criu/run.h"
#include "checkpoint/criu/tuning.h"
#include "checkpoint/criu/words.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/text.h"
#include "runtime/base/version.h"

namespace lamina::checkpoint::criu {
namespace {

struct Params {
  std::string program = "criu";
  std::uint64_t limit_ms = 600'000;
};
constexpr std::tuple kFields{
    param::Describe("checkpoint.criu.program", &Params::program, "",
                    "The program criu: a path, or a name that is looked for in libexec/lamina/criu "
                    "of the installation, in PATH, and in the folders of the system's own "
                    "programs."),
    param::Describe("checkpoint.criu.limit_ms", &Params::limit_ms, Unit::kMilliseconds, 1u,
                    86'400'000u,
                    "How long criu may take for one rank before it is ended. Raise it where images "
                    "are large and disks slow."),
};

// PATH of an ordinary user often lacks these.
constexpr std::string_view kSystemPath = "/usr/local/sbin:/usr/sbin:/sbin";

// Where third_party/criu lays the program, seen from the folder of mpiexec.
constexpr const char* kInstalled = "/../libexec/lamina/criu/";

struct Program {
  std::string path;   // "": there is none
  std::string where;  // in words
};

bool IsProgram(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

// Returns the path of an executable file. The one that was installed with mpiexec precedes those of
// the system, because these are often too old for the kernel.
Program FindProgram(const std::string& program, const Environment& environment) {
  if (program.find('/') != program.npos)
    return {IsProgram(program) ? program : "", "named by checkpoint.criu.program"};
  std::error_code error;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", error);
  if (const std::filesystem::path installed = own.parent_path().string() + kInstalled + program;
      IsProgram(installed))
    return {installed.lexically_normal(), "of this installation"};
  const std::string path = environment.Get("PATH").value_or(std::string(kDefaultPath));
  for (const std::string_view list : {std::string_view(path), kSystemPath})
    for (const std::string_view folder : Split(list, ':'))
      if (std::string file = std::string(folder) + "/" + program;
          !folder.empty() && IsProgram(file))
        return {std::move(file), list == kSystemPath ? "of the system" : "found in PATH"};
  return {};
}

// True where this process has the rights of root over the whole machine.
bool IsPrivileged() {
  std::ifstream file("/proc/self/uid_map");
  std::uint64_t first = 1, outside = 1, count = 0;
  file >> first >> outside >> count;
  return geteuid() == 0 && first == 0 && outside == 0 && count == UINT32_MAX;
}

// Tries it, in a child, because several settings of a system may forbid it.
bool MayMakeNamespaces() {
  const pid_t child = fork();
  if (child == 0) _exit(unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS) == 0 ? 0 : 1);
  int status = 1;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return child > 0 && status == 0;
}

std::string KernelRelease() {
  utsname name;
  return uname(&name) == 0 ? name.release : "unknown";
}

// Returns the number that this process knows a child by, whose number in the innermost pid
// namespace is `process`; 0 if there is no such child. That may be a namespace of their own.
std::int64_t ChildNamed(std::int64_t process) {
  std::ifstream children(Format("/proc/self/task/%d/children", static_cast<int>(gettid())));
  for (std::int64_t child = 0; children >> child;) {
    std::ifstream status(Format("/proc/%lld/status", static_cast<long long>(child)));
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("NSpid:") && ParseInteger(Split(line, '\t').back()) == process)
        return child;
  }
  return 0;
}

enum class Task : std::uint8_t { kSave, kRevive };

class CriuErrand final : public Errand {
 public:
  CriuErrand(Task task, std::int64_t process, Descriptor folder, std::string version,
             std::uint64_t limit_ms, std::unique_ptr<Run> run)
      : task_(task),
        process_(process),
        folder_(std::move(folder)),
        version_(std::move(version)),
        limit_ms_(limit_ms),
        run_(std::move(run)) {}
  ~CriuErrand() override {
    if (!told_) CleanUp();
  }

  int ReadyFd() const override { return run_->ReadyFd(); }

  std::optional<Status> Outcome() override {
    const std::optional<Run::End> end = run_->Ended();
    if (!end) return std::nullopt;
    if (*end != Run::End::kGood) CleanUp();
    const bool good = *end == Run::End::kGood;
    if (task_ == Task::kRevive && good) revived_ = ChildNamed(process_);
    told_ = true;
    if (task_ == Task::kSave && good) {
      if (Status status = NoteProcessor(folder_.value()); !status.ok()) return status;
      if (Status status = NoteGroups(folder_.value()); !status.ok()) return status;
      if (Status status = NoteFiles(ChildNamed(process_), folder_.value()); !status.ok())
        return status;
    }
    return What(*end);
  }

  std::int64_t revived() const override { return revived_; }

 private:
  Status What(Run::End end) const {
    const auto process = static_cast<long long>(process_);
    const char* verb = task_ == Task::kSave ? "save" : "revive";
    switch (end) {
      case Run::End::kGood:
        return {};
      case Run::End::kTimedOut:
        return Error(Code::kTimeout, "criu %s did not %s process %lld within %g s and was ended",
                     version_.c_str(), verb, process, static_cast<double>(limit_ms_) / 1000);
      case Run::End::kKilled:
        return Error(Code::kPeerLost,
                     "criu %s was killed by signal %d before it could %s process %lld%s",
                     version_.c_str(), run_->signal(), verb, process,
                     run_->signal() == SIGXFSZ
                         ? ", because a file may not be as large as that here (ulimit -f)"
                         : "");
      default:
        return Failure(verb);
    }
  }

  // What the program uses is said in front of criu's own words.
  Status Failure(const char* verb) const {
    const std::string error = FirstError(run_->Printed());
    Status failure =
        Error(Code::kUnsupported, "criu %s cannot %s process %lld on kernel %s (%s)%s",
              version_.c_str(), verb, static_cast<long long>(process_), KernelRelease().c_str(),
              error.c_str(), IsOld(version_) ? "; 4.2 or later is needed" : "");
    const std::string_view meaning = Meaning(error);
    return meaning.empty() ? std::move(failure) : std::move(failure).Within(meaning);
  }

  void CleanUp() {
    run_->Kill();
    const auto left = task_ == Task::kRevive ? static_cast<pid_t>(ChildNamed(process_)) : 0;
    if (left == 0) return;
    kill(left, SIGKILL);
    while (waitpid(left, nullptr, 0) < 0 && errno == EINTR) continue;
  }

  const Task task_;
  const std::int64_t process_;
  const Descriptor folder_;
  const std::string version_;
  const std::uint64_t limit_ms_;
  const std::unique_ptr<Run> run_;
  bool told_ = false;
  std::int64_t revived_ = 0;
};

class Criu final : public CheckpointEngine {
 public:
  Criu(std::string program, std::string version, std::uint64_t limit_ms)
      : program_(std::move(program)),
        version_(std::move(version)),
        limit_ms_(limit_ms),
        privileged_(IsPrivileged()) {}

  EngineCaps caps() const override {
    return {.whole_process = true,
            .needs_bare = true,
            .keeps_process_ids = true,
            .leaves_stopped = true};
  }
  std::string version() const override { return version_; }

  std::vector<std::string> Examine(const Subject& subject) override {
    return ExamineProcesses(subject);
  }

  Result<std::unique_ptr<Errand>> Save(const Subject& subject, int folder) override {
    return Begin(Task::kSave, subject, folder,
                 {"dump", "--leave-stopped", "--tree", std::to_string(subject.process)}, {});
  }

  std::string Torn(std::span<const int> folders) const override { return TornFile(folders); }

  std::vector<std::string> Misfits(int folder) const override {
    std::vector<std::string> causes = LostFiles(folder);
    causes.push_back(LackedBy(folder));
    if (!privileged_) causes.push_back(OtherGroups(folder));
    std::erase(causes, "");
    return causes;
  }

  Result<std::unique_ptr<Errand>> Revive(const Subject& subject, int folder,
                                         std::span<const int> descriptors) override {
    std::vector<std::string> words = {"restore", "--restore-detached", "--restore-sibling"};
    std::vector<int> given;
    for (std::size_t at = 0; at < subject.links.size() && at < descriptors.size(); ++at) {
      if (descriptors[at] < 0 || subject.links[at].empty()) continue;
      words.emplace_back("--inherit-fd");
      words.push_back(Format("fd[%zu]:", 3 + given.size()) + subject.links[at]);
      given.push_back(descriptors[at]);
    }
    CutFiles(folder);
    return Begin(Task::kRevive, subject, folder, std::move(words), given);
  }

 private:
  Result<std::unique_ptr<Errand>> Begin(Task task, const Subject& subject, int folder,
                                        std::vector<std::string> words,
                                        std::span<const int> descriptors) {
    words.insert(words.begin(), program_);
    for (const char* word : {"--images-dir", ".", "--tcp-close", "--file-locks"})
      words.emplace_back(word);
    if (!privileged_) words.emplace_back("--unprivileged");
    Descriptor own(fcntl(folder, F_DUPFD_CLOEXEC, 3));
    if (own.value() < 0) return SystemError(Code::kResource, errno, "cannot copy a descriptor");
    Result<std::unique_ptr<Run>> run =
        Run::Start({std::move(words), folder, descriptors, limit_ms_});
    if (!run.ok()) return std::move(run).status();
    return std::unique_ptr<Errand>(std::make_unique<CriuErrand>(
        task, subject.process, std::move(own), version_, limit_ms_, *std::move(run)));
  }

  const std::string program_;
  const std::string version_;
  const std::uint64_t limit_ms_;
  const bool privileged_;
};

// Asks the program for its version, and whether that can be used here.
Result<std::string> UsableVersion(const std::string& program) {
  Result<std::unique_ptr<Run>> run = Run::Start({{program, "--version"}, -1, {}, kVersionMs});
  if (!run.ok()) return std::move(run).status();
  while (!(*run)->Ended()) {
    pollfd ready{(*run)->ReadyFd(), POLLIN, 0};
    poll(&ready, 1, -1);  // bounded by the run's own limit
  }
  const std::string printed = (*run)->Printed();
  std::optional<std::string> version = VersionIn(printed);
  if (!version)
    return Error(Code::kUnsupported, "%s does not say its version: %s", program.c_str(),
                 FirstError(printed).c_str());
  if (const std::string why = TooOldFor(*version, KernelRelease()); !why.empty())
    return Error(Code::kUnsupported, "%s: %s", program.c_str(), why.c_str());
  return *std::move(version);
}

component::Offer Query(const EngineContext& context) {
  Params params;
  if (Status status = param::Load(context.settings, kFields, &params); !status.ok())
    return {-1, std::string(status.message())};
  const auto [program, where] = FindProgram(params.program, context.environment);
  if (program.empty())
    return {-1, "there is no program " + params.program +
                    "; install CRIU 4.2 or newer in a folder of PATH, or name one by --param "
                    "checkpoint.criu.program=PATH; third_party/criu in Lamina's source tree "
                    "fetches one"};
  if (!IsPrivileged() && geteuid() != 0 && !MayMakeNamespaces())
    return {-1, program +
                    " needs rights that this user can only have in namespaces of its own, which it "
                    "may not make (user.max_user_namespaces, kernel.unprivileged_userns_clone)"};
  const Result<std::string> version = UsableVersion(program);
  if (!version.ok()) return {-1, std::string(version.status().message())};
  return {50, Format("%s (%s, %s) saves whole processes", program.c_str(), version->c_str(),
                     where.c_str())};
}

Result<std::unique_ptr<CheckpointEngine>> Make(const EngineContext& context) {
  Params params;
  if (Status status = param::Load(context.settings, kFields, &params); !status.ok()) return status;
  std::string program = FindProgram(params.program, context.environment).path;
  if (program.empty())
    return Error(Code::kNotFound, "there is no program %s", params.program.c_str());
  Result<std::string> version = UsableVersion(program);
  if (!version.ok()) return std::move(version).status();
  return std::unique_ptr<CheckpointEngine>(
      std::make_unique<Criu>(std::move(program), *std::move(version), params.limit_ms));
}

std::vector<param::Row> Rows(const param::Settings& settings) {
  return param::Rows<Params>(settings, kFields);
}

}  // namespace

EngineComponent Describe() { return {{"criu", kVersion, "built in"}, Query, Make, Rows}; }

}  // namespace lamina::checkpoint::criu
