// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/pretend/pretend.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "runtime/base/descriptor.h"
#include "runtime/base/text.h"
#include "runtime/base/version.h"

namespace lamina::checkpoint::pretend {
namespace {

constexpr const char* kNoteName = "pretended";

// An errand that is done when it begins.
class Done final : public Errand {
 public:
  explicit Done(Descriptor ready) : ready_(std::move(ready)) {}
  int ReadyFd() const override { return ready_.value(); }
  std::optional<Status> Outcome() override { return Status(); }
  std::int64_t revived() const override { return 0; }

 private:
  const Descriptor ready_;
};

Status WriteNote(const Subject& subject, int folder) {
  const std::string note =
      Format("rank %u process %lld\n", subject.rank, static_cast<long long>(subject.process));
  const Descriptor file(
      openat(folder, kNoteName, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (file.value() < 0) return SystemError(Code::kResource, errno, "cannot make %s", kNoteName);
  errno = ENOSPC;  // what a short write means
  if (write(file.value(), note.data(), note.size()) != static_cast<ssize_t>(note.size()))
    return SystemError(Code::kResource, errno, "cannot write %s", kNoteName);
  return {};
}

class Pretend final : public CheckpointEngine {
 public:
  EngineCaps caps() const override { return {.whole_process = true, .needs_bare = true}; }
  std::string version() const override { return kVersion; }

  std::vector<std::string> Examine(const Subject& subject) override {
    struct stat status;
    const std::string folder = Format("/proc/%lld", static_cast<long long>(subject.process));
    if (stat(folder.c_str(), &status) == 0) return {};
    return {Format("rank %u (process %lld) has ended", subject.rank,
                   static_cast<long long>(subject.process))};
  }

  Result<std::unique_ptr<Errand>> Save(const Subject& subject, int folder) override {
    const std::vector<std::string> causes = Examine(subject);
    if (!causes.empty()) return Error(Code::kNotFound, "%s", causes.front().c_str());
    if (Status status = WriteNote(subject, folder); !status.ok()) return status;
    Descriptor ready(eventfd(1, EFD_CLOEXEC));
    if (ready.value() < 0) return SystemError(Code::kResource, errno, "eventfd");
    return std::unique_ptr<Errand>(std::make_unique<Done>(std::move(ready)));
  }

  std::string Torn(std::span<const int>) const override { return ""; }
  std::vector<std::string> Misfits(int) const override { return {}; }
  Result<std::unique_ptr<Errand>> Revive(const Subject&, int, std::span<const int>) override {
    return Error(Code::kUnsupported, "the engine pretend has saved nothing that can be revived");
  }
};

component::Offer Query(const EngineContext&) {
  return {-1, "saves nothing; tests name it (checkpoint.engine.use=pretend)"};
}

Result<std::unique_ptr<CheckpointEngine>> Make(const EngineContext&) {
  return std::unique_ptr<CheckpointEngine>(std::make_unique<Pretend>());
}

}  // namespace

EngineComponent Describe() { return {{"pretend", kVersion, "built in"}, Query, Make, {}}; }

}  // namespace lamina::checkpoint::pretend
