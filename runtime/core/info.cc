// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/core/info.h"

#include <sys/utsname.h>

#include <algorithm>

#include "runtime/base/environment.h"
#include "runtime/base/read_file.h"
#include "runtime/base/text.h"
#include "runtime/core/process.h"

namespace lamina::core {
namespace {

// Returns this process's command line: the program, then the arguments joined by blanks.
std::pair<std::string, std::string> CommandLine() {
  const std::string text = ReadFile("/proc/self/cmdline").value_or("");
  const std::size_t end = text.find('\0');
  if (end == std::string::npos) return {};
  std::string arguments = text.substr(end + 1);
  if (!arguments.empty()) arguments.pop_back();
  std::replace(arguments.begin(), arguments.end(), '\0', ' ');
  return {text.substr(0, end), arguments};
}

void SetIfThere(Info* info, const char* key, std::string value) {
  if (value.empty()) return;
  if (value.size() >= MPI_MAX_INFO_VAL) value.resize(MPI_MAX_INFO_VAL - 1);
  info->Set(key, std::move(value));
}

// Before initialisation only the launcher's variables tell about the job. Nobody has asked for a
// thread level yet, so it is the one that MPI_Init gives.
void SetFromEnvironment(Info* info) {
  const Environment environment = Environment::OfThisProcess();
  SetIfThere(info, "host", environment.Get("PMIX_HOSTNAME").value_or(""));
  const bool alone = !environment.Get("PMIX_NAMESPACE") && !environment.Get("PMI_FD");
  std::string ranks = alone ? "1" : "";
  for (const char* name : {"LAMINA_SIZE", "SLURM_STEP_NUM_TASKS", "PMI_SIZE"})
    if (ranks.empty()) ranks = environment.Get(name).value_or("");
  SetIfThere(info, "maxprocs", ranks);
  SetIfThere(info, "thread_level", ThreadLevelName(MPI_THREAD_SINGLE));
}

// Makes the entries that section 11.2.1 lists for MPI_INFO_ENV, as far as they are known here.
Info* MakeInfoEnv() {
  Info* info = new Info;
  auto [command, arguments] = CommandLine();
  SetIfThere(info, "command", std::move(command));
  SetIfThere(info, "argv", std::move(arguments));
  utsname machine;
  if (uname(&machine) == 0) SetIfThere(info, "arch", machine.machine);
  char directory[4096];
  if (getcwd(directory, sizeof directory) != nullptr) SetIfThere(info, "wdir", directory);
  if (known_process != nullptr) {
    SetIfThere(info, "host", known_process->identity.node);
    SetIfThere(info, "maxprocs", std::to_string(known_process->identity.job_ranks));
    SetIfThere(info, "thread_level", ThreadLevelName(known_process->thread_level));
  } else {
    SetFromEnvironment(info);
  }
  SetIfThere(info, "mpi_memory_alloc_kinds", GrantedMemoryKinds());
  return info;
}

// Returns a kind and its restrictors, as far as they are known here.
std::string SupportedKind(std::string_view asked) {
  const std::vector<std::string_view> words = Split(asked, ':');
  if (words[0] != "mpi" && words[0] != "system") return {};
  std::string kind(words[0]);
  for (std::size_t i = 1; i < words.size(); ++i) {
    const bool known =
        kind.starts_with("mpi") && (words[i] == "alloc_mem" || words[i] == "win_allocate" ||
                                    words[i] == "win_allocate_shared");
    if (!known) return {};
    kind.append(":").append(words[i]);
  }
  return kind;
}

}  // namespace

const char* ThreadLevelName(int level) {
  switch (level) {
    case MPI_THREAD_FUNNELED:
      return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED:
      return "MPI_THREAD_SERIALIZED";
    case MPI_THREAD_MULTIPLE:
      return "MPI_THREAD_MULTIPLE";
    default:
      return "MPI_THREAD_SINGLE";
  }
}

int ThreadLevelNamed(const std::string& name) {
  for (const int level :
       {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE})
    if (name == ThreadLevelName(level)) return level;
  return -1;
}

std::string SupportedMemoryKinds(const std::string& asked) {
  std::string supported = "mpi,system";
  for (const std::string_view piece : Split(asked, ',')) {
    const std::string kind = SupportedKind(Trim(piece));
    if (kind.find(':') != std::string::npos) supported += "," + kind;
  }
  return supported;
}

std::string GrantedMemoryKinds() {
  static const InfoParams* const params = [] {
    auto* read = new InfoParams;
    const Environment environment = Environment::OfThisProcess();
    // The text may be anything, so this cannot fail.
    static_cast<void>(
        param::Load(param::Settings::FromEnvironment(environment), kInfoFields, read));
    return read;
  }();
  return SupportedMemoryKinds(params->memory_alloc_kinds);
}

constinit Info* fortran_info = nullptr;

const std::string* Info::Find(const std::string& key) const {
  for (const auto& [name, value] : entries)
    if (name == key) return &value;
  return nullptr;
}

void Info::Set(const std::string& key, std::string value) {
  for (auto& entry : entries)
    if (entry.first == key) {
      entry.second = std::move(value);
      return;
    }
  entries.emplace_back(key, std::move(value));
}

bool Info::Delete(const std::string& key) {
  for (auto entry = entries.begin(); entry != entries.end(); ++entry)
    if (entry->first == key) {
      entries.erase(entry);
      return true;
    }
  return false;
}

Info* FindInfo(MPI_Info handle) {
  if (handle != MPI_INFO_ENV) return FromHandle<Info>(handle);
  // Less is known before initialisation.
  if (known_process == nullptr) {
    static Info* const early = MakeInfoEnv();
    return early;
  }
  static Info* const whole = MakeInfoEnv();
  return whole;
}

}  // namespace lamina::core
