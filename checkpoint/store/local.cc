// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/store/local.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <string_view>

#include "checkpoint/store/folder.h"
#include "runtime/base/text.h"

namespace lamina::checkpoint {
namespace {

constexpr const char* kLinkName = "local";
constexpr const char* kNewLinkName = "local.new";

}  // namespace

std::string LocalOf(int directory) {
  char path[PATH_MAX];
  const ssize_t bytes = readlinkat(directory, kLinkName, path, sizeof path);
  return bytes > 0 && path[0] == '/' ? std::string(path, static_cast<std::size_t>(bytes)) : "";
}

Result<std::string> ChooseLocal(int directory, const std::string& where) {
  if (std::string had = LocalOf(directory); had.substr(0, had.rfind('/')) == where) return had;
  char dice[8];
  if (getrandom(dice, sizeof dice, 0) != sizeof dice)
    return SystemError(Code::kResource, errno, "getrandom");
  std::string chosen = where + "/lamina-checkpoint-" + HexOf(std::string_view(dice, sizeof dice));
  static_cast<void>(unlinkat(directory, kNewLinkName, 0));
  if (symlinkat(chosen.c_str(), directory, kNewLinkName) != 0 ||
      renameat(directory, kNewLinkName, directory, kLinkName) != 0)
    return SystemError(CodeOfDisk(errno), errno, "cannot make the link %s", kLinkName);
  return chosen;
}

}  // namespace lamina::checkpoint
