// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/io/file_name.h"

#include <unistd.h>

#include <cerrno>
#include <climits>
#include <string_view>

namespace lamina::io {
namespace {

constexpr std::string_view kOurs[] = {"ufs:", "nfs:", "lustre:", "xfs:"};
constexpr std::string_view kOthers[] = {
    "gpfs:", "panfs:", "pvfs2:", "daos:", "ime:", "quobyte:", "testfs:"};

}  // namespace

Failure AbsolutePath(const char* name, std::string* path) {
  if (name == nullptr || *name == '\0') return Fail(MPI_ERR_BAD_FILE, "the file has no name");
  std::string_view rest = name;
  for (const std::string_view prefix : kOthers)
    if (rest.starts_with(prefix))
      return Fail(MPI_ERR_IO, "%s: there is no support for this file system", name);
  for (const std::string_view prefix : kOurs)
    if (rest.starts_with(prefix)) {
      rest.remove_prefix(prefix.size());
      break;
    }
  if (rest.empty()) return Fail(MPI_ERR_BAD_FILE, "%s has a prefix and no name", name);
  if (rest.front() == '/') {
    *path = rest;
    return {};
  }
  char folder[PATH_MAX];
  if (getcwd(folder, sizeof folder) == nullptr) return SystemFailure("getcwd", name, errno);
  *path = std::string(folder) + "/" + std::string(rest);
  return {};
}

}  // namespace lamina::io
