// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/store/listing.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "checkpoint/store/checksum.h"
#include "checkpoint/store/folder.h"
#include "checkpoint/store/generation.h"
#include "checkpoint/store/tuning.h"
#include "runtime/base/checkpoint_word.h"
#include "runtime/base/text.h"

namespace lamina::checkpoint {
namespace {

// Returns the epoch that `name` is the folder of; a name that we would not give is none of ours.
std::optional<Epoch> EpochOf(std::string_view name) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(name.data() + std::min<std::size_t>(1, name.size()),
                                            name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return FolderName(Epoch{number}) == name ? std::optional(Epoch{number}) : std::nullopt;
}

using Look = std::function<Status(const Descriptor& file, const std::string& path, Sum wanted)>;
Status AtPlan(const Opened& opened, const Look& look) {
  const Manifest& manifest = opened.manifest;
  Result<Descriptor> plan = OpenFile(opened.folder.value(), kPlanName);
  if (!plan.ok()) return std::move(plan).status();
  return look(*plan, kPlanName, {manifest.plan_bytes, manifest.plan_checksum});
}

// Asks `look` about every file of the images of these ranks that are here.
using Chooses = std::function<bool(std::uint32_t rank)>;
Status EachPart(const Opened& opened, const Chooses& chosen, const Look& look) {
  const Manifest& manifest = opened.manifest;
  std::map<std::uint32_t, Descriptor> folders;
  for (const Manifest::Part& part : manifest.parts) {
    if (!chosen(part.rank)) continue;
    auto folder = folders.find(part.rank);
    if (folder == folders.end()) {
      Result<Descriptor> made = OpenFolder(opened.folder.value(), RankFolderName(part.rank));
      if (!made.ok() && (!manifest.apart || made.status().code() != Code::kNotFound))
        return std::move(made).status();
      if (!made.ok()) continue;
      folder = folders.emplace(part.rank, *std::move(made)).first;
    }
    Result<Descriptor> file = OpenFile(folder->second.value(), part.name);
    if (!file.ok()) return std::move(file).status().Within(RankFolderName(part.rank));
    const std::string path = RankFolderName(part.rank) + "/" + part.name;
    if (Status status = look(*file, path, {part.bytes, part.checksum}); !status.ok()) return status;
  }
  return {};
}

bool Every(std::uint32_t) { return true; }

Status CheckLength(const Descriptor& file, const std::string& path, Sum wanted) {
  Result<std::uint64_t> bytes = BytesOf(file);
  if (!bytes.ok()) return std::move(bytes).status().Within(path);
  if (*bytes != wanted.bytes)
    return Error(Code::kInvalid, "%s has %llu bytes, must have %llu", path.c_str(),
                 static_cast<unsigned long long>(*bytes),
                 static_cast<unsigned long long>(wanted.bytes));
  return {};
}

Status CheckSum(const Descriptor& file, const std::string& path, Sum wanted) {
  Result<Sum> sum = SumOf(file, path);
  if (!sum.ok()) return std::move(sum).status();
  if (sum->checksum != wanted.checksum || sum->bytes != wanted.bytes)
    return Error(Code::kInvalid, "%s is damaged: its checksum is %08x, must be %08x", path.c_str(),
                 sum->checksum, wanted.checksum);
  return {};
}

Result<Opened> Open(int directory, const std::string& name, Epoch epoch) {
  Result<Descriptor> folder = OpenFolder(directory, name);
  if (!folder.ok()) return std::move(folder).status();
  Result<std::string> text = ReadFile(folder->value(), kManifestName, kManifestBytesMax);
  if (!text.ok()) return std::move(text).status().Within(name);
  Result<Manifest> manifest = ParseManifest(*text);
  if (!manifest.ok()) return std::move(manifest).status().Within(name);
  if (manifest->epoch != epoch)
    return Error(Code::kInvalid, "%s: the manifest is that of generation %u", name.c_str(),
                 Index(manifest->epoch));
  return Opened{*std::move(folder), *std::move(manifest), 0};
}

// Takes the name away first, so that a crash in the middle leaves no damaged generation.
Status Delete(int directory, Epoch epoch) {
  const std::string part = PartName(epoch);
  if (renameat(directory, FolderName(epoch).c_str(), directory, part.c_str()) != 0)
    return SystemError(CodeOfDisk(errno), errno, "cannot rename %s", FolderName(epoch).c_str());
  return RemoveFolder(directory, part);
}

}  // namespace

Result<Names> NamesOfGenerations(int directory) {
  Result<std::vector<std::string>> names = NamesIn(directory);
  if (!names.ok()) return std::move(names).status();
  Names found;
  for (const std::string& name : *names) {
    const std::string_view text = name;
    if (const auto epoch = EpochOf(text))
      found.complete.push_back(*epoch);
    else if (text.ends_with(kPartEnding) &&
             EpochOf(text.substr(0, text.size() - kPartEnding.size())))
      found.unfinished.push_back(name);
  }
  std::sort(found.complete.begin(), found.complete.end(), std::greater<>());
  return found;
}

Result<Opened> OpenGeneration(int directory, Epoch epoch) {
  const std::string name = FolderName(epoch);
  Result<Opened> opened = Open(directory, name, epoch);
  if (!opened.ok()) return opened;
  Status status = AtPlan(*opened, CheckLength);
  if (status.ok() && !opened->manifest.apart) status = EachPart(*opened, Every, CheckLength);
  if (!status.ok()) return std::move(status).Within(name);
  return opened;
}

Status VerifyPlan(const Opened& opened) {
  Status status = AtPlan(opened, CheckSum);
  return status.ok() ? std::move(status)
                     : std::move(status).Within(FolderName(opened.manifest.epoch));
}

Status VerifyImage(const Opened& opened, std::uint32_t rank) {
  const Result<Descriptor> folder = OpenFolder(opened.folder.value(), RankFolderName(rank));
  Status status = folder.ok()
                      ? EachPart(
                            opened, [rank](std::uint32_t each) { return each == rank; }, CheckSum)
                      : Status(folder.status().code(), std::string(folder.status().message()));
  return status.ok() ? std::move(status)
                     : std::move(status).Within(FolderName(opened.manifest.epoch));
}

Status Verify(const Opened& opened) {
  Status status = AtPlan(opened, CheckSum);
  if (status.ok()) status = EachPart(opened, Every, CheckSum);
  return status.ok() ? std::move(status)
                     : std::move(status).Within(FolderName(opened.manifest.epoch));
}

Result<Opened> OpenWhole(int directory, Epoch epoch) {
  Result<Opened> opened = OpenGeneration(directory, epoch);
  if (!opened.ok()) return opened;
  Status status = opened->manifest.apart ? VerifyPlan(*opened) : Verify(*opened);
  if (!status.ok()) return status;
  return opened;
}

Result<Opened> OpenNewest(const std::vector<int>& directories, std::vector<std::string>* damaged) {
  std::vector<std::pair<Epoch, std::size_t>> found;
  for (std::size_t i = 0; i < directories.size(); ++i) {
    Result<Names> names = NamesOfGenerations(directories[i]);
    if (!names.ok()) return std::move(names).status();
    for (const Epoch epoch : names->complete) found.emplace_back(epoch, i);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [epoch, directory] : found) {
    Result<Opened> opened = OpenWhole(directories[directory], epoch);
    if (!opened.ok()) {
      damaged->emplace_back(opened.status().message());
      continue;
    }
    opened->directory = directory;
    return opened;
  }
  return Error(Code::kNotFound, "there is no complete generation");
}

Status KeepNewest(int directory, std::size_t count, Epoch since) {
  Result<Names> names = NamesOfGenerations(directory);
  if (!names.ok()) return std::move(names).status();
  std::size_t whole = 0;
  for (const Epoch epoch : names->complete) {
    if (Index(epoch) < Index(since)) break;
    if (whole >= count) {
      if (Status status = Delete(directory, epoch); !status.ok()) return status;
    } else if (OpenGeneration(directory, epoch).ok()) {
      ++whole;
    }
  }
  return {};
}

}  // namespace lamina::checkpoint
